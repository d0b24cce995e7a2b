// SPDX-License-Identifier: MIT
#include "coroutine/stack/stack_pool.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include "coroutine/base/check.h"

namespace corolane::coroutine {
namespace {

using detail::StackClass;
using detail::StackMemory;

// A new mapping doubles the stacks of its size, between these limits: few system calls and mappings
// where there are many stacks, little address space where there are few.
constexpr std::size_t slab_slot_count_min = 8;
constexpr std::size_t slab_slot_count_max = 512;
// A 128 TiB address space has no room for more of the largest size.
constexpr std::size_t stack_count_limit = std::size_t{1} << 26;

// This many stacks in use add one stack to each batch that is cut and primed. A batch of 16 gains
// nearly all that batching can, and takes about 20 us.
constexpr std::size_t in_use_count_per_batch = 4;
constexpr std::size_t batch_count_max = 16;

}  // namespace

StackPool::StackPool(const Options& options) : options_(options), memory_(options.guard) {
  check(options.demand_window >= Duration(StackClass::bucket_count),
        "a pool remembers demand for a while");
  check(options.trim_count_max > 0, "a pool gives back what it does not need");
  options_.stack_count_max = std::min(options.stack_count_max, stack_count_limit);
  if (memory_.guard() == Guard::mprotect) {
    budget_.emplace(detail::GuardBudget::of_process(), options_.stack_count_max);
  }
  update_caps();
  for (std::size_t size_class = 0; size_class < class_count; ++size_class) {
    classes_[size_class] = StackClass(stack_size_bytes_min << size_class);
  }
}

StackPool::~StackPool() {
  check(in_use_count() == 0, "every stack was returned before its pool ends");
  for (const std::span<std::byte> mapping : mappings_) StackMemory::give_up(mapping);
}

// Another pool may have been made, or have ended, since the last time.
void StackPool::update_caps() {
  const std::size_t count_max =
      budget_ ? std::min(budget_->share(), options_.stack_count_max) : options_.stack_count_max;
  if (count_max == count_max_) return;
  count_max_ = count_max;
  const std::size_t control_count = std::min(options_.control_count, count_max_ / 8);
  ordinary_count_max_ = count_max_ - control_count;
  scarce_count_ = ordinary_count_max_ - ordinary_count_max_ / 10;
  quick_in_use_count_max_ = std::min(in_use_count_peak_, ordinary_count_max_);
}

StackPool::Statistics StackPool::statistics() const {
  Statistics statistics = {.in_use_count = in_use_count(),
                           .in_use_count_peak = in_use_count_peak_,
                           .count_max = budget_
                                            ? std::min(budget_->share(), options_.stack_count_max)
                                            : options_.stack_count_max,
                           .hit_count = acquired_count_ - miss_count_,
                           .miss_count = miss_count_,
                           .trimmed_count = trimmed_count_,
                           .refused_count = refused_count_,
                           .guard = memory_.guard()};
  if (budget_) statistics.shared_guards = budget_->statistics();
  for (const StackClass& stacks : classes_) {
    statistics.idle_count += stacks.warm_count();
    statistics.cold_count += stacks.cold_count();
    statistics.demand_count += stacks.demand();
    statistics.mapped_bytes += stacks.slot_count() * stacks.slot().size_bytes();
    statistics.committed_bytes +=
        (stacks.slot_count() - stacks.bare_count() - stacks.cold_count() + stacks.primed_count()) *
        stacks.slot().stack_size_bytes;
  }
  return statistics;
}

Result<Stack> StackPool::acquire_slowly(std::size_t size_bytes, Purpose purpose) {
  const std::size_t size_class = class_of(size_bytes);
  if (size_class >= class_count) {
    return Error(Code::invalid_argument, "a stack of " + std::to_string(size_bytes) +
                                             " bytes is above the largest size, " +
                                             std::to_string(stack_size_bytes_max));
  }
  update_caps();
  const std::size_t count_max = purpose == Purpose::control ? count_max_ : ordinary_count_max_;
  if (in_use_count() >= count_max) {
    ++refused_count_;
    return Error(Code::resource_exhausted, "all " + std::to_string(count_max) +
                                               " coroutine stacks that " + limit() + " are in use");
  }
  StackClass& stacks = classes_[size_class];
  const bool hit = stacks.warm_count() > 0;
  if (!hit) {
    if (auto provided = provide(stacks); !provided) {
      ++refused_count_;
      return provided.error();
    }
    ++miss_count_;
  }
  ++acquired_count_;
  std::byte* const top = hit ? stacks.pop() : stacks.pop_cold();
  stacks.note_demand();
  in_use_count_peak_ = std::max(in_use_count_peak_, in_use_count());
  quick_in_use_count_max_ = std::min(in_use_count_peak_, ordinary_count_max_);
  return stack_at(top, size_class);
}

// Ensures that there is a cold stack, primed if possible.
Result<void> StackPool::provide(StackClass& stacks) {
  const std::size_t count =
      std::min(stacks.in_use_count() / in_use_count_per_batch + 1, batch_count_max);
  if (stacks.cold_count() == 0) {
    if (auto done = cut(stacks, count); !done) return done;
  }
  stacks.prime(memory_, count);
  return {};
}

Result<void> StackPool::cut(StackClass& stacks, std::size_t count) {
  if (stacks.bare_count() == 0) {
    if (auto mapped = map_slab(stacks); !mapped) return mapped;
  }
  std::size_t taken_count = take_guards(count);
  if (taken_count == 0) {
    if (guarded_count_ == in_use_count()) {
      return Error(Code::resource_exhausted,
                   "other pools of this process hold the guards that " + limit());
    }
    make_way();
    taken_count = 1;
  }
  const std::size_t cut_count = stacks.cut(memory_, taken_count);
  give_back_guards(taken_count - cut_count);
  if (cut_count == 0) {
    return Error(Code::resource_exhausted,
                 std::string("the kernel refuses a guard for a coroutine stack: ") +
                     std::strerror(errno) + "; raise vm.max_map_count or lower stack_count_max");
  }
  return {};
}

// The reason of the cap, for an operator who would raise it.
std::string StackPool::limit() const {
  if (count_max_ == options_.stack_count_max) return "stack_count_max allows";
  const std::size_t pool_count = budget_->statistics().member_count;
  if (pool_count == 1) return "vm.max_map_count allows";
  return "vm.max_map_count allows each of " + std::to_string(pool_count) + " pools";
}

// Takes as many guards as it may of those wanted.
std::size_t StackPool::take_guards(std::size_t count) {
  count = std::min(count, count_max_ - std::min(count_max_, guarded_count_));
  if (budget_) count = budget_->take(count);
  guarded_count_ += count;
  return count;
}

void StackPool::give_back_guards(std::size_t count) {
  guarded_count_ -= count;
  if (budget_) budget_->give_back(count);
}

Result<void> StackPool::map_slab(StackClass& stacks) {
  if (stacks.slot_count() == 0) {
    // The array never moves, and costs memory only for the tops in use.
    const std::size_t top_count =
        StackClass::before_count + options_.stack_count_max + slab_slot_count_max;
    auto room = map(top_count * sizeof(std::byte*));
    if (!room) return room.error();
    stacks.use_room(reinterpret_cast<std::byte**>(*room));
  }
  const std::size_t slot_count =
      std::clamp(stacks.slot_count(), slab_slot_count_min, slab_slot_count_max);
  auto slab = map(slot_count * stacks.slot().size_bytes());
  if (!slab) return slab.error();
  stacks.add_slots(*slab, slot_count);
  return {};
}

Result<std::byte*> StackPool::map(std::size_t size_bytes) {
  auto begin = memory_.reserve(size_bytes);
  if (begin) mappings_.push_back({*begin, size_bytes});
  return begin;
}

// The cap is reached, but not by stacks in use: drops an idle one, of any size. The right to its
// guard stays.
void StackPool::make_way() {
  StackClass& richest = *std::ranges::max_element(classes_, {}, &StackClass::guarded_count);
  if (richest.cold_count() == 0) ++trimmed_count_;
  richest.strip(memory_);
}

// How many idle stacks it holds beyond its cap, which has fallen.
std::size_t StackPool::surplus_count() const {
  const std::size_t surplus = guarded_count_ - std::min(guarded_count_, count_max_);
  return std::min(surplus, guarded_count_ - in_use_count());
}

Deadline StackPool::tend_now(TimePoint now) {
  if (now >= bucket_end_) begin_bucket(now);
  update_caps();
  std::size_t trims_left = options_.trim_count_max;
  for (; surplus_count() > 0 && trims_left > 0; --trims_left) {
    make_way();
    give_back_guards(1);
  }
  bool has_surplus = surplus_count() > 0;
  bool remembers = false;
  for (StackClass& stacks : classes_) {
    // The usual case, in which there is nothing to compute.
    if (stacks.warm_count() * stacks.slot().stack_size_bytes <= options_.idle_bytes_min) continue;
    const std::size_t needed_count = warm_count_needed(stacks, stacks.demand());
    if (stacks.warm_count() > needed_count && trims_left > 0) {
      const std::size_t count = std::min(stacks.warm_count() - needed_count, trims_left);
      stacks.trim(memory_, count);
      trims_left -= count;
      trimmed_count_ += count;
    }
    has_surplus |= stacks.warm_count() > needed_count;
    remembers |= stacks.warm_count() > warm_count_needed(stacks, stacks.in_use_count());
  }
  tend_time_ = TimePoint::max();
  if (has_surplus) {
    tend_time_ = now + options_.trim_interval;
  } else if (remembers) {
    tend_time_ = bucket_end_;
  }
  rest_event_count_ = event_count();
  return Deadline::at(tend_time_);
}

void StackPool::begin_bucket(TimePoint now) {
  const Duration bucket = options_.demand_window / StackClass::bucket_count;
  std::size_t closed_count = StackClass::bucket_count;
  if (bucket_end_ != TimePoint::min()) {
    closed_count = 1 + static_cast<std::size_t>((now - bucket_end_) / bucket);
  }
  for (StackClass& stacks : classes_) stacks.begin_bucket(closed_count);
  bucket_end_ = now + bucket;
}

std::size_t StackPool::warm_count_needed(const StackClass& stacks, std::size_t demand) const {
  const std::size_t for_demand = demand + demand * options_.reserve_percent / 100;
  return std::max(options_.idle_bytes_min / stacks.slot().stack_size_bytes,
                  for_demand - stacks.in_use_count());
}

}  // namespace corolane::coroutine
