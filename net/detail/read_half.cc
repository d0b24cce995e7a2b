// SPDX-License-Identifier: MIT
#include "net/detail/read_half.h"

#include <algorithm>
#include <cstring>

namespace corolane::net::detail {

void ReadHalf::keep(std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  if (has_task()) {
    const std::size_t count = std::min(bytes.size(), place().buffer.size());
    std::memcpy(place().buffer.data(), bytes.data(), count);
    fill(count);
    bytes = bytes.subspan(count);
  }
  if (bytes.empty()) return;
  if (early_.capacity() == 0) early_ = buffers_.lend();
  early_.append(bytes);
}

void ReadHalf::release_sink(std::span<const std::byte> unread) {
  if (!has_sink()) return;
  drop_sink();
  resume();
  ByteBuffer behind = std::move(early_);
  keep(unread);
  keep(behind.bytes());
  buffers_.give_back(std::move(behind));
}

void ReadHalf::deliver_early() {
  BufferPool& buffers = buffers_;
  ByteBuffer early = std::move(early_);
  sink().on_bytes(early.bytes());
  buffers.give_back(std::move(early));
}

}  // namespace corolane::net::detail
