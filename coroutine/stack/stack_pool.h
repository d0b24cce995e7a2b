// SPDX-License-Identifier: MIT
// Hands out coroutine stacks and keeps returned ones warm for reuse.
//
//   StackPool pool({.stack_count_max = 10'000});
//   auto stack = pool.acquire(32 * 1024);
//   if (!stack) return stack.error();
//   run_on(*stack);
//   pool.release(*stack);
//
// A stack reserves its size as address space but costs memory only for the pages it has touched,
// and touching a new page costs about fifty times a reuse. So the pool keeps as many idle stacks
// warm as the recent peak of demand would need. It gives the memory of the rest back slowly,
// coldest first, while the loop is idle; never at a release, where an oscillating load would pay
// for it in each period.
//
// The stack returned last is handed out first: its top is still in the cache. The tops are
// coloured: shifted by some cache lines from slot to slot. Otherwise all would be page-aligned, and
// the hot lines of all coroutines would compete for the same few sets of the first-level cache.
//
// Below each stack lies a guard of 80 KiB: running over the end is a fault, never silent damage.
// Guards are installed with MADV_GUARD_INSTALL where the kernel has it (Linux 6.13), which splits
// no mapping, and with mprotect elsewhere, which costs two mappings per stack: there the pools of
// the process refuse to grow beyond what vm.max_map_count can carry, and share it fairly. A pool
// that holds more than its share, because another one was made later, gives back what is idle.
//
// Not thread-safe: every Scheduler owns one pool. Outlives all of its stacks. Nothing suspends.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "coroutine/base/deadline.h"
#include "coroutine/base/result.h"
#include "coroutine/stack/detail/guard_budget.h"
#include "coroutine/stack/detail/stack_class.h"
#include "coroutine/stack/detail/stack_memory.h"

namespace corolane::coroutine {

// A stack in use: [base, top), growing down from `top`, with the guard below `base`.
struct Stack {
  std::byte* base = nullptr;
  std::byte* top = nullptr;  // Aligned to 64 bytes.
  // A whole word: a struct assembled from stores of different sizes cannot be loaded as a whole
  // before these have reached the cache.
  std::size_t size_class = 0;
};

class StackPool {
 public:
  using Guard = detail::StackGuard;

  // The use of a stack. Control work is what an operator or the node itself needs when the load has
  // exhausted all other stacks: admin pages, drain.
  enum class Purpose : std::uint8_t { ordinary, control };

  struct Options {
    // The cap on stacks in use and idle together, over all sizes. At a page each this many hold 1
    // GiB; at 64 KiB each they reserve 37 GiB of address space.
    std::size_t stack_count_max = 262'144;
    // The number of these reserved for control work, capped at an eighth of the pool.
    std::size_t control_count = 64;
    // Tests choose one; automatic takes the best one that the kernel has.
    Guard guard = Guard::automatic;
    // Idle stacks stay warm up to this much memory for each size in use, however long nothing
    // happens: 64 stacks of 64 KiB. In bytes, since idle stacks may have been used to their end.
    std::size_t idle_bytes_min = 4 * 1024 * 1024;
    // How long a peak of demand is remembered: in full for the first half, then halved with each
    // further eighth. Loads swing in seconds; memory should be returned soon after.
    Duration demand_window = std::chrono::seconds(10);
    // The margin kept warm beyond the peak, in percent: no two peaks are equal.
    std::size_t reserve_percent = 10;
    // The number of stacks trimmed in one step, about 20 us, with a pause between two steps: idle
    // time must not become a stall, and 32,000 stacks per second are fast enough.
    std::size_t trim_count_max = 64;
    Duration trim_interval = std::chrono::milliseconds(2);
  };

  struct Statistics {
    std::size_t in_use_count = 0;
    std::size_t idle_count = 0;  // Warm: their memory is kept.
    std::size_t cold_count = 0;  // Guarded, but without memory: trimmed, or never used.
    std::size_t in_use_count_peak = 0;
    std::size_t demand_count = 0;     // The sum of the remembered peaks of all sizes.
    std::size_t count_max = 0;        // The cap in force now, see Options and guard.
    std::uint64_t hit_count = 0;      // Acquired warm.
    std::uint64_t miss_count = 0;     // Acquired cold: with a page fault.
    std::uint64_t trimmed_count = 0;  // Warm ones that became cold.
    std::uint64_t refused_count = 0;
    std::size_t mapped_bytes = 0;     // Address space, guards included.
    std::size_t committed_bytes = 0;  // At most, by stacks in use and warm ones; most use a page.
    Guard guard = Guard::automatic;   // The guard in force: madvise or mprotect.
    // The guards that all pools of the process share; zeros where they are not limited.
    detail::GuardBudget::Statistics shared_guards = {};
  };

  // Below each stack, see detail/stack_memory.h.
  static std::size_t guard_size_bytes() { return detail::StackSlot{}.guard_size_bytes(); }

  static constexpr std::size_t stack_size_bytes_min = 16 * 1024;
  static constexpr std::size_t stack_size_bytes_max = 2 * 1024 * 1024;
  static constexpr std::size_t stack_size_bytes_default = 64 * 1024;

  StackPool() : StackPool(Options{}) {}
  explicit StackPool(const Options& options);
  ~StackPool();
  StackPool(const StackPool&) = delete;
  StackPool& operator=(const StackPool&) = delete;

  // Returns a stack of at least `size_bytes`, rounded up to a power of two between the least and
  // the largest size, with indeterminate contents. O(1), and a few nanoseconds when it is warm.
  // Fails with resource_exhausted at the cap or when the kernel refuses the memory, and with
  // invalid_argument above the largest size.
  Result<Stack> acquire(std::size_t size_bytes = stack_size_bytes_default,
                        Purpose purpose = Purpose::ordinary) {
    const std::size_t size_class = class_of(size_bytes);
    if (size_class < class_count) [[likely]] {
      detail::StackClass& stacks = classes_[size_class];
      if (stacks.pops_quickly() && in_use_count() < quick_in_use_count_max_) [[likely]] {
        ++acquired_count_;
        return stack_at(stacks.pop(), size_class);
      }
    }
    return acquire_slowly(size_bytes, purpose);
  }

  // Takes back a stack of this pool. Its contents stay until the next call of the pool, so the
  // running task may return its own stack just before it leaves it for good.
  void release(const Stack& stack) {
    ++released_count_;
    classes_[stack.size_class].push(stack.top);
  }

  // The stack with this top: the top determines the rest.
  static Stack stack_at(std::byte* top, std::size_t size_class) {
    const detail::StackSlot slot{.stack_size_bytes = stack_size_bytes_min << size_class};
    return {.base = slot.base(top), .top = top, .size_class = size_class};
  }

  // A small step of upkeep for idle time: remembers demand, gives back the memory of at most
  // trim_count_max stacks. Returns when to call it next; never once there is nothing left to do
  // until stacks are handed out or returned again. Call it before each sleep of the loop: without
  // work it costs a comparison. `now` must not decrease.
  Deadline tend(TimePoint now) {
    if (now < tend_time_ && (!is_at_rest() || event_count() == rest_event_count_)) [[likely]] {
      return Deadline::at(tend_time_);
    }
    return tend_now(now);
  }

  // Whether tend() last returned never: demand has been stable for a while.
  bool is_at_rest() const { return tend_time_ == TimePoint::max(); }

  // How many stacks for ordinary work may be in use at once. Where pools share their guards it
  // changes when one is made or ends.
  std::size_t ordinary_count_max() const { return ordinary_count_max_; }
  // Less than a tenth of them is left: time to refuse the largest consumers first.
  bool is_scarce() const { return in_use_count() >= scarce_count_; }

  Statistics statistics() const;

  // Calls see(stack) for at most `count_max` warm idle stacks of each size, those used last first.
  template <typename F>
  void for_each_warm(std::size_t count_max, F see) const {
    for (std::size_t size_class = 0; size_class < class_count; ++size_class) {
      const auto tops = classes_[size_class].warm();
      for (std::byte* const top : tops.last(std::min(tops.size(), count_max))) {
        see(stack_at(top, size_class));
      }
    }
  }

 private:
  static constexpr std::size_t class_count = 8;  // 16 KiB to 2 MiB.

  static std::size_t class_of(std::size_t size_bytes) {
    return static_cast<std::size_t>(
        std::bit_width((size_bytes - (size_bytes == 0 ? 0 : 1)) / stack_size_bytes_min));
  }
  std::size_t in_use_count() const { return acquired_count_ - released_count_; }
  std::uint64_t event_count() const { return acquired_count_ + released_count_; }

  Result<Stack> acquire_slowly(std::size_t size_bytes, Purpose purpose);
  Result<void> provide(detail::StackClass& stacks);
  Result<void> cut(detail::StackClass& stacks, std::size_t count);
  Result<void> map_slab(detail::StackClass& stacks);
  void update_caps();
  std::string limit() const;
  std::size_t take_guards(std::size_t count);
  void give_back_guards(std::size_t count);
  Result<std::byte*> map(std::size_t size_bytes);
  void make_way();
  std::size_t surplus_count() const;

  Deadline tend_now(TimePoint now);
  void begin_bucket(TimePoint now);
  // The number of stacks to keep warm when `demand` are in use.
  std::size_t warm_count_needed(const detail::StackClass& stacks, std::size_t demand) const;

  // The members that a warm acquire and a release touch come first.
  std::uint64_t acquired_count_ = 0;
  std::uint64_t released_count_ = 0;
  std::size_t quick_in_use_count_max_ = 0;  // Below it neither the peak nor a cap is affected.
  std::array<detail::StackClass, class_count> classes_;

  TimePoint tend_time_ = TimePoint::max();
  std::uint64_t rest_event_count_ = 0;  // At tend()'s last rest.
  TimePoint bucket_end_ = TimePoint::min();
  Options options_;
  detail::StackMemory memory_;
  // Only of a pool whose guards are limited.
  std::optional<detail::GuardBudget::Member> budget_;
  std::size_t count_max_ = SIZE_MAX;
  std::size_t ordinary_count_max_ = 0;
  std::size_t scarce_count_ = 0;  // A number in use.
  std::size_t in_use_count_peak_ = 0;
  std::size_t guarded_count_ = 0;  // All but the bare ones.
  std::uint64_t miss_count_ = 0;
  std::uint64_t trimmed_count_ = 0;
  std::uint64_t refused_count_ = 0;
  std::vector<std::span<std::byte>> mappings_;
};

}  // namespace corolane::coroutine
