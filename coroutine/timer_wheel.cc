// SPDX-License-Identifier: MIT
#include "coroutine/timer_wheel.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "coroutine/base/check.h"

namespace corolane::coroutine {
namespace {

constexpr std::uint64_t no_tick = std::numeric_limits<std::uint64_t>::max();

}  // namespace

TimerWheel::TimerWheel(TimePoint start) : tick_(tick_of(start)) {}

TimerWheel::~TimerWheel() { check(armed_count_ == 0, "no timer outlives its wheel"); }

bool TimerWheel::fire_due(std::size_t count_max) {
  for (std::size_t count = 0; count < count_max && !due_.empty(); ++count) {
    Timer& timer = due_.pop_front();
    timer.wheel_ = nullptr;
    --armed_count_;
    timer.callback_(timer);
  }
  return !due_.empty();
}

void TimerWheel::collect_due(TimePoint time) {
  const std::uint64_t target = tick_of(time);
  for (std::uint64_t tick = next_tick(); tick <= target; tick = next_tick()) {
    tick_ = tick;
    cascade(tick);
    Slot& slot = slots_[0][tick % slot_count];
    slot.for_each([&](Timer& timer) {
      if (timer.time_ > time) return;
      timer.unlink();
      due_.push_back(timer);
    });
    if (!slot.empty()) break;  // The rest of the present slot is not due yet.
    occupied_[0] &= ~(std::uint64_t{1} << (tick % slot_count));
  }
  tick_ = std::max(tick_, target);
}

Deadline TimerWheel::next() const {
  if (!due_.empty()) return Deadline::passed();
  const std::uint64_t tick = next_tick();
  if (tick == no_tick) return Deadline::never();
  const Slot& slot = slots_[0][tick % slot_count];
  // A slot of a higher level begins here: its timers move down before they can fire.
  if (slot.empty()) return Deadline::at(TimePoint(Duration(tick << tick_bits)));
  TimePoint earliest = TimePoint::max();
  slot.for_each([&](const Timer& timer) { earliest = std::min(earliest, timer.time_); });
  return Deadline::at(earliest);
}

void TimerWheel::cascade(std::uint64_t tick) {
  for (std::size_t level = level_count - 1; level > 0; --level) {
    const auto shift = level * level_bits;
    if ((tick & ((std::uint64_t{1} << shift) - 1)) != 0) continue;
    const auto index = static_cast<std::size_t>((tick >> shift) % slot_count);
    Slot& slot = slots_[level][index];
    occupied_[level] &= ~(std::uint64_t{1} << index);
    while (!slot.empty()) insert(slot.pop_front());
  }
}

std::uint64_t TimerWheel::next_tick() const {
  for (std::size_t level = 0; level < level_count; ++level) {
    const auto shift = level * level_bits;
    while (occupied_[level] != 0) {
      const auto index = static_cast<std::uint64_t>(std::countr_zero(occupied_[level]));
      if (slots_[level][index].empty()) {
        occupied_[level] &= occupied_[level] - 1;  // All of its timers were cancelled.
        continue;
      }
      // Slots with timers lie ahead of the present slot of their level: nothing wraps around.
      const std::uint64_t above = tick_ >> (shift + level_bits);
      return ((above << level_bits) | index) << shift;
    }
  }
  return no_tick;
}

}  // namespace corolane::coroutine
