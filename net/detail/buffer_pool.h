// SPDX-License-Identifier: MIT
// Lends buffers to streams that have bytes waiting, so that an idle connection holds none and a
// busy one allocates none.
//
// Most output lives from a write to the end of the same turn: a few buffers, always warm in the
// cache, serve any number of connections.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "net/detail/byte_buffer.h"

namespace corolane::net::detail {

class BufferPool {
 public:
  // The smallest capacity of a lent buffer.
  static constexpr std::size_t buffer_bytes_min = 16 * 1024;

  // The memory that the pool keeps: a buffer for each of a thousand connections that are all
  // answered in one turn.
  static constexpr std::size_t idle_bytes_max = 16 * 1024 * 1024;

  BufferPool() { idle_.reserve(idle_bytes_max / buffer_bytes_min); }

  ByteBuffer lend() {
    if (idle_.empty()) return ByteBuffer(buffer_bytes_min);
    ByteBuffer buffer = std::move(idle_.back());
    idle_.pop_back();
    idle_bytes_ -= buffer.capacity();
    return buffer;
  }

  // Takes any buffer, whatever it holds; frees it when it is too large, or when enough are idle.
  void give_back(ByteBuffer buffer) {
    if (buffer.capacity() < buffer_bytes_min || buffer.capacity() > kept_bytes_max) return;
    if (idle_bytes_ + buffer.capacity() > idle_bytes_max) return;
    idle_bytes_ += buffer.capacity();
    buffer.clear();
    idle_.push_back(std::move(buffer));
  }

 private:
  static constexpr std::size_t kept_bytes_max = 256 * 1024;

  std::vector<ByteBuffer> idle_;
  std::size_t idle_bytes_ = 0;
};

}  // namespace corolane::net::detail
