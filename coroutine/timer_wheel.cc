// SPDX-License-Identifier: MIT
#include "coroutine/timer_wheel.h"

#include <algorithm>
#include <bit>

#include "coroutine/base/check.h"

namespace corolane::coroutine {
TimerWheel::TimerWheel(TimePoint start) : tick_(tick_of(start)) {}

TimerWheel::~TimerWheel() { check(armed_count_ == 0, "no timer outlives its wheel"); }

bool TimerWheel::fire_due(std::size_t count_max) {
  for (std::size_t count = 0; count < count_max && !due_.empty(); ++count) {
    Timer& timer = due_.pop_front();
    timer.wheel_ &= ~Timer::armed_bit;
    --armed_count_;
    timer.callback_(timer);
  }
  return !due_.empty();
}

void TimerWheel::collect_due(TimePoint time) {
  const std::uint64_t target = tick_of(time);
  for (;;) {
    const Place first = first_slot();
    if (first.level == level_count) break;
    const std::uint64_t tick = first_tick_of(first);
    if (tick > target) break;
    tick_ = tick;
    if (first.level > 0) {
      cascade(tick, target);
      continue;
    }
    if (!take_due(first.index, time, tick == target)) break;
  }
  tick_ = std::max(tick_, target);
}

// Returns false when the rest of the slot is not due yet.
bool TimerWheel::take_due(std::size_t index, TimePoint time, bool is_present) {
  Slot& slot = slots_[0][index];
  TimePoint& earliest = earliest_[0][index];
  if (is_present && earliest > time) return false;
  if (is_present) {
    TimePoint earliest_left = TimePoint::max();
    slot.for_each([&](Timer& timer) {
      if (timer.time_ > time) {
        earliest_left = std::min(earliest_left, timer.time_);
        return;
      }
      timer.unlink();
      due_.push_back(timer);
    });
    earliest = earliest_left;
    if (!slot.empty()) return false;
  } else {
    due_.take_all(slot);
  }
  occupied_[0] &= ~(std::uint64_t{1} << index);
  return true;
}

Deadline TimerWheel::next() const {
  if (!due_.empty()) return Deadline::passed();
  const Place first = first_slot();
  if (first.level == level_count) return Deadline::never();
  return Deadline::at(earliest_[first.level][first.index]);
}

void TimerWheel::cascade(std::uint64_t tick, std::uint64_t target) {
  for (std::size_t level = level_count - 1; level > 0; --level) {
    const auto shift = level * level_bits;
    if ((tick & ((std::uint64_t{1} << shift) - 1)) != 0) continue;
    const auto index = static_cast<std::size_t>((tick >> shift) % slot_count);
    Slot& slot = slots_[level][index];
    occupied_[level] &= ~(std::uint64_t{1} << index);
    // A slot of a millisecond that is over need not be sorted any finer.
    if (level == 1 && tick + slot_count <= target) {
      due_.take_all(slot);
      continue;
    }
    while (!slot.empty()) insert(slot.pop_front());
  }
}

TimerWheel::Place TimerWheel::first_slot() const {
  for (std::size_t level = 0; level < level_count; ++level) {
    while (occupied_[level] != 0) {
      const auto index = static_cast<std::size_t>(std::countr_zero(occupied_[level]));
      if (!slots_[level][index].empty()) return {.level = level, .index = index};
      occupied_[level] &= occupied_[level] - 1;  // All of its timers were cancelled.
    }
  }
  return {.level = level_count, .index = 0};
}

std::uint64_t TimerWheel::first_tick_of(Place place) const {
  // Slots with timers lie ahead of the present slot of their level: nothing wraps around.
  const auto shift = place.level * level_bits;
  const std::uint64_t above = tick_ >> (shift + level_bits);
  return ((above << level_bits) | place.index) << shift;
}

}  // namespace corolane::coroutine
