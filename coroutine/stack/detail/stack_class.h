// SPDX-License-Identifier: MIT
// The stacks of one size: which of them are idle, and how many the recent demand needs.
//
// The idle ones lie in one dense array of their tops, the best last:
//
//   | bare | cold | primed | warm |
//
//   bare     address space, possibly without a guard
//   cold     guarded, without memory
//   primed   guarded, the top page fetched in a batch before its first use
//   warm     used, with its memory kept; hottest last
//
// So taking the hottest, discarding the coldest and cutting new ones all just move a border.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "coroutine/stack/detail/stack_memory.h"

namespace corolane::coroutine::detail {

class StackClass {
 public:
  StackClass() = default;
  explicit StackClass(std::size_t stack_size_bytes) : slot_{.stack_size_bytes = stack_size_bytes} {}

  const StackSlot& slot() const { return slot_; }
  std::size_t slot_count() const { return slot_count_; }
  std::size_t in_use_count() const { return slot_count_ - distance(begin_, idle_end_); }
  std::size_t warm_count() const { return distance(primed_end_, idle_end_); }
  // Those, the one that was used last at the end.
  std::span<std::byte* const> warm() const { return {primed_end_, idle_end_}; }
  std::size_t primed_count() const { return distance(cold_end_, primed_end_); }
  // Cold and primed: the supply for a miss.
  std::size_t cold_count() const { return distance(bare_end_, primed_end_); }
  std::size_t bare_count() const { return distance(begin_, bare_end_); }
  // All idle ones with a guard.
  std::size_t guarded_count() const { return distance(bare_end_, idle_end_); }

  // Whether taking the next warm stack leaves the present peak of demand unchanged.
  bool pops_quickly() const { return idle_end_ > quick_end_; }
  // Takes the hottest stack; there must be a warm one.
  std::byte* pop() {
    __builtin_prefetch(idle_end_[-1 - prefetch_lead] - line_size_bytes, /*rw=*/1);
    return *--idle_end_;
  }
  // Takes a cold stack; there must be one, and no warm one.
  std::byte* pop_cold();
  void push(std::byte* top) { *idle_end_++ = top; }

  // The array for the tops, set before the first slots are added: it has room for all of them,
  // after a line without tops that pop() may prefetch.
  static constexpr std::ptrdiff_t line_size_bytes = 64;
  static constexpr std::size_t before_count = line_size_bytes / sizeof(std::byte*);
  void use_room(std::byte** room);
  // Adds bare slots; no stack may be idle.
  void add_slots(std::byte* begin, std::size_t count);
  // Makes at most `count` bare slots cold, and returns how many: zero when the kernel refuses.
  std::size_t cut(const StackMemory& memory, std::size_t count);
  // Primes at most `count` cold ones, unless some are primed already or it does not pay.
  void prime(const StackMemory& memory, std::size_t count);
  // Makes the `count` coldest warm ones cold, and all primed ones too.
  void trim(const StackMemory& memory, std::size_t count);
  // Makes the worst guarded one bare; there must be one.
  void strip(const StackMemory& memory);

  // The window of demand: buckets of time, each with the peak of stacks in use during it. Demand is
  // the highest of these peaks: the present one and half of the window count in full, each older
  // bucket half as much as the one before.
  static constexpr std::size_t bucket_count = 8;
  void note_demand();
  // Closes the present bucket, and those that passed unnoticed after it when `closed_count` exceeds
  // one.
  void begin_bucket(std::size_t closed_count);
  std::size_t demand() const;

 private:
  // A caller that takes one stack often takes many, and with thousands neither the tops nor their
  // translations are in the nearest caches: the last line of each is fetched this many turns ahead.
  static constexpr std::ptrdiff_t prefetch_lead = 4;
  static_assert(prefetch_lead < before_count);
  static constexpr std::size_t full_age_max = bucket_count / 2;

  static std::size_t distance(std::byte* const* begin, std::byte* const* end) {
    return static_cast<std::size_t>(end - begin);
  }
  void update_quick_end();

  // The ends of the regions; quick_end_ is where pops_quickly() starts to accept.
  std::byte** idle_end_ = nullptr;
  std::byte** quick_end_ = nullptr;
  StackSlot slot_{};
  std::byte** begin_ = nullptr;
  std::byte** bare_end_ = nullptr;
  std::byte** cold_end_ = nullptr;
  std::byte** primed_end_ = nullptr;
  std::size_t slot_count_ = 0;
  std::array<std::uint32_t, bucket_count> peaks_{};  // The present bucket first.
};

}  // namespace corolane::coroutine::detail
