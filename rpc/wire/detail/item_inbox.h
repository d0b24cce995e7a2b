// SPDX-License-Identifier: MIT
// The items of a stream that have arrived and are not read yet: at most a window and one item.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "rpc/wire/frame.h"

namespace corolane::rpc::detail {

class ItemInbox {
 public:
  bool empty() const { return begin_ == bytes_.size(); }
  // The sender has sent more than the window allows.
  bool is_overfull() const {
    return bytes_.size() - begin_ > static_cast<std::size_t>(stream_window_bytes);
  }

  void put(std::span<const std::byte> item) {
    if (begin_ > bytes_.size() / 2) {
      bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(begin_));
      begin_ = 0;
    }
    const auto size = static_cast<Size>(item.size());
    const auto* const size_bytes = reinterpret_cast<const std::byte*>(&size);
    bytes_.insert(bytes_.end(), size_bytes, size_bytes + sizeof(size));
    bytes_.insert(bytes_.end(), item.begin(), item.end());
  }

  // Passes the first item to `use`, and drops it. There must be one.
  template <typename Use>
  auto take(Use use) {
    Size size = 0;
    std::memcpy(&size, bytes_.data() + begin_, sizeof(size));
    auto result = use(std::span<const std::byte>(bytes_).subspan(begin_ + sizeof(size), size));
    begin_ += sizeof(size) + size;
    taken_bytes_ += frame_header_size + size;
    if (empty()) {
      bytes_.clear();
      begin_ = 0;
      if (bytes_.capacity() > kept_buffer_bytes * 2) std::vector<std::byte>().swap(bytes_);
    }
    return result;
  }

  // The room to grant to the sender, once it is worth a frame; nothing before.
  std::optional<std::uint32_t> take_grant() {
    if (taken_bytes_ < static_cast<std::size_t>(stream_window_bytes) / 2) return std::nullopt;
    return static_cast<std::uint32_t>(std::exchange(taken_bytes_, 0));
  }

  // Frees its memory, too.
  void clear() {
    if (bytes_.capacity() > 0) std::vector<std::byte>().swap(bytes_);
    begin_ = 0;
    taken_bytes_ = 0;
  }

 private:
  using Size = std::uint32_t;

  std::vector<std::byte> bytes_;  // Items from `begin_` on, each after its size.
  std::size_t begin_ = 0;
  std::size_t taken_bytes_ = 0;  // Since the last grant; each item counts with its header.
};

}  // namespace corolane::rpc::detail
