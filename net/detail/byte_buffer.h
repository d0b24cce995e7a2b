// SPDX-License-Identifier: MIT
// A queue of bytes: appended at the end, taken from the front, in one block of memory that grows as
// needed and is never zeroed. A buffer that was moved from is empty.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <utility>

namespace corolane::net::detail {

class ByteBuffer {
 public:
  ByteBuffer() = default;
  explicit ByteBuffer(std::size_t capacity)
      : memory_(std::make_unique_for_overwrite<std::byte[]>(capacity)), capacity_(capacity) {}
  ByteBuffer(ByteBuffer&& other) noexcept { swap(other); }
  ByteBuffer& operator=(ByteBuffer&& other) noexcept {
    ByteBuffer(std::move(other)).swap(*this);
    return *this;
  }

  bool empty() const { return begin_ == end_; }
  std::size_t size() const { return end_ - begin_; }
  std::size_t capacity() const { return capacity_; }
  std::span<const std::byte> bytes() const { return {memory_.get() + begin_, size()}; }

  // Room for `count` bytes behind the last one; commit() says how many of them were filled.
  std::span<std::byte> room(std::size_t count) {
    if (capacity_ - end_ < count) make_room(count);
    return {memory_.get() + end_, count};
  }
  void commit(std::size_t count) { end_ += count; }
  // Whether `bytes` lie in the span that room() returned, and only need to be committed.
  bool has_room_at(std::span<const std::byte> bytes) const {
    return bytes.data() == memory_.get() + end_ && bytes.size() <= capacity_ - end_;
  }

  void append(std::span<const std::byte> bytes) {
    if (bytes.empty()) return;
    std::memcpy(room(bytes.size()).data(), bytes.data(), bytes.size());
    commit(bytes.size());
  }

  // Drops `count` bytes at the front.
  void consume(std::size_t count) {
    begin_ += count;
    if (begin_ == end_) clear();
  }
  void clear() { begin_ = end_ = 0; }

 private:
  void swap(ByteBuffer& other) noexcept {
    memory_.swap(other.memory_);
    std::swap(capacity_, other.capacity_);
    std::swap(begin_, other.begin_);
    std::swap(end_, other.end_);
  }

  void make_room(std::size_t count) {
    if (capacity_ - size() >= count) {
      std::memmove(memory_.get(), memory_.get() + begin_, size());
    } else {
      ByteBuffer larger(std::max(capacity_ * 2, size() + count));
      if (!empty()) std::memcpy(larger.memory_.get(), memory_.get() + begin_, size());
      memory_.swap(larger.memory_);
      capacity_ = larger.capacity_;
    }
    end_ -= begin_;
    begin_ = 0;
  }

  std::unique_ptr<std::byte[]> memory_;
  std::size_t capacity_ = 0;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

}  // namespace corolane::net::detail
