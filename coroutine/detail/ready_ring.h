// SPDX-License-Identifier: MIT
// The queue of ready tasks and stackless coroutines: first in, first out, in a dense ring.
//
// The ring is dense and stores the saved frame next to its task, so the way from one task to the
// next leads through the ring alone: upcoming tasks are known without touching them, and their
// saved registers are fetched into the cache while others run. A linked list could fetch only the
// next one, too late to help.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <utility>

#include "coroutine/base/check.h"
#include "coroutine/stack/detail/jump.h"

namespace corolane::coroutine::detail {

class ReadyRing {
 public:
  // A task, or a stackless coroutine. Each is in the ring at most once.
  struct Entry {
    void* owner;  // A task's control block; for a stackless coroutine, any pointer of its choice.
    // The place to resume: the saved registers of a task on its stack; with the lowest bit set the
    // frame of a stackless coroutine; with the next bit set the control block of a task without a
    // frame.
    void* frame;

    bool is_stackless() const { return (reinterpret_cast<std::uintptr_t>(frame) & 1) != 0; }
    bool is_fresh() const { return (reinterpret_cast<std::uintptr_t>(frame) & fresh_bit) != 0; }
  };

  ReadyRing() { reserve(count_min); }

  bool empty() const { return head_ == tail_; }
  std::size_t size() const { return (tail_ - head_) / sizeof(Entry); }

  // Makes room for `count` entries: called when a task or a coroutine is created, so that making it
  // ready needs no check.
  void reserve(std::size_t count) {
    if (count * sizeof(Entry) > mask_ + sizeof(Entry)) [[unlikely]] {
      grow(count);
    }
  }

  // Shrinks to room for `count` entries, if that frees most of it: called after a burst. There is
  // room for all that it holds.
  void fit(std::size_t count) {
    check(count >= size(), "a ready ring keeps what it holds");
    if (count < count_min) count = count_min;
    if (2 * count * sizeof(Entry) > mask_) return;
    move_to(sizeof(Entry), count);
  }

  // The reference is valid until the next reserve().
  Entry& push(void* owner, void* frame) {
    Entry& entry = at(tail_);
    tail_ += sizeof(Entry);
    entry.owner = owner;
    entry.frame = frame;
    return entry;
  }

  // Pushes a task that has not begun yet.
  void push_fresh(void* owner) { push(owner, static_cast<std::byte*>(owner) + fresh_bit); }

  // Calls visit(entry) for each, the one whose turn it is first.
  template <typename Visit>
  void for_each(Visit visit) const {
    for (std::size_t offset = head_; offset != tail_; offset += sizeof(Entry)) visit(at(offset));
  }

  // Swaps the entry at `index` with the first.
  void bring_to_front(std::size_t index) {
    std::swap(at(head_), at(head_ + index * sizeof(Entry)));
  }

  // The entry whose turn it is; there must be one.
  const Entry& front() const { return at(head_); }

  Entry pop() {
    const Entry entry = front();
    head_ += sizeof(Entry);
    // Beyond the end lie consumed entries, or nulls: harmless to prefetch, but not to add to, which
    // is why it is done with numbers.
    const Entry& ahead = at(head_ + lead * sizeof(Entry));
    const std::uintptr_t saved = reinterpret_cast<std::uintptr_t>(ahead.frame) + saved_begin;
    __builtin_prefetch(reinterpret_cast<const void*>(saved));
    if (saved % line_bytes > line_bytes - hot_bytes) {
      __builtin_prefetch(reinterpret_cast<const void*>(saved + hot_bytes - 1));
      // The stack of a task that has not begun lies below its control block.
      if (ahead.is_fresh()) {
        __builtin_prefetch(reinterpret_cast<const void*>(saved - saved_begin - 8));
      }
    }
    return entry;
  }

 private:
  static constexpr std::uintptr_t fresh_bit = 2;
  static constexpr std::size_t count_min = 1024;
  // How many turns ahead an entry is fetched: with a slow next level of the cache, a fetch takes as
  // long as a dozen switches.
  static constexpr std::size_t lead = 16;
  // How much of a stack is fetched, from the saved registers on, in one line or two: a switch and
  // the function that waits load these bytes first.
  static constexpr std::size_t hot_bytes = 48;
  static constexpr std::size_t line_bytes = 64;

  Entry& at(std::size_t offset) const {
    return *reinterpret_cast<Entry*>(entries_.get() + (offset & mask_));
  }
  void grow(std::size_t count) { move_to(mask_ + sizeof(Entry), count); }
  // Moves to memory of the first size, doubled until it has room for `count` entries.
  void move_to(std::size_t size_bytes, std::size_t count);

  // In bytes, to avoid a multiplication; they wrap around.
  std::size_t head_ = 0;
  std::size_t tail_ = 0;
  std::size_t mask_ = 0;  // Selects an entry: the size, a power of two, less one entry.
  std::unique_ptr<std::byte[]> entries_;
};

inline void ReadyRing::move_to(std::size_t size_bytes, std::size_t count) {
  while (size_bytes < count * sizeof(Entry)) size_bytes *= 2;
  auto larger = std::make_unique<std::byte[]>(size_bytes);
  const std::size_t larger_mask = size_bytes - sizeof(Entry);
  for (std::size_t offset = head_; offset != tail_; offset += sizeof(Entry)) {
    new (larger.get() + (offset & larger_mask)) Entry(at(offset));
  }
  entries_ = std::move(larger);
  mask_ = larger_mask;
}

}  // namespace corolane::coroutine::detail
