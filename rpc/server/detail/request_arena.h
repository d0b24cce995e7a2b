// SPDX-License-Identifier: MIT
// The memory of one request: a block of its own, and the heap for what spills over.
#pragma once

#include <google/protobuf/arena.h>

#include <array>
#include <cstddef>

namespace corolane::rpc::detail {

class RequestArena {
 public:
  RequestArena() : arena_(options(block_)) {}
  RequestArena(const RequestArena&) = delete;
  RequestArena& operator=(const RequestArena&) = delete;

  google::protobuf::Arena& arena() { return arena_; }
  // Destroys all messages in it.
  void reset() { arena_.Reset(); }

  // Nothing has spilled over.
  bool is_in_block() const { return spilled_bytes() == 0; }
  // The memory that a decoded request with this size on the wire takes from a budget. Empty
  // sub-messages grow to forty times their wire size. The content of strings is not in the arena,
  // but it is at most what was on the wire.
  std::size_t counted_bytes(std::size_t wire_bytes) const {
    return wire_bytes <= small_request_bytes ? 0 : spilled_bytes() + wire_bytes;
  }

 private:
  // Small requests live in this block.
  static constexpr std::size_t block_bytes = 2048;
  // Requests up to this size stay small when decoded, and are not counted.
  static constexpr std::size_t small_request_bytes = 64;

  static google::protobuf::ArenaOptions options(std::array<char, block_bytes>& block) {
    google::protobuf::ArenaOptions options;
    options.initial_block = block.data();
    options.initial_block_size = block.size();
    return options;
  }

  std::size_t spilled_bytes() const { return arena_.SpaceAllocated() - block_bytes; }

  alignas(16) std::array<char, block_bytes> block_;
  google::protobuf::Arena arena_;
};

}  // namespace corolane::rpc::detail
