#include "coroutine/timer_wheel.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "coroutine/base/check.h"

namespace corolane::coroutine {
namespace {

constexpr std::uint64_t no_tick = std::numeric_limits<std::uint64_t>::max();

}  // namespace

void Timer::cancel() {
  if (wheel_ != nullptr) wheel_->remove(*this);
}

TimerWheel::TimerWheel(TimePoint start) : tick_(tick_of(start)) {}

TimerWheel::~TimerWheel() { check(armed_count_ == 0, "no timer outlives its wheel"); }

void TimerWheel::arm(Timer& timer, Deadline deadline) {
  timer.cancel();
  if (deadline.is_never()) return;
  timer.time_ = deadline.time();
  timer.wheel_ = this;
  ++armed_count_;
  insert(timer);
}

void TimerWheel::advance(TimePoint time) {
  const std::uint64_t target = tick_of(time);
  Slot due;
  for (std::uint64_t tick = next_tick(); tick <= target; tick = next_tick()) {
    tick_ = tick;
    cascade(tick);
    Slot& slot = slots_[0][tick % slot_count];
    slot.for_each([&](Timer& timer) {
      if (timer.time_ > time) return;
      timer.unlink();
      due.push_back(timer);
    });
    if (!slot.empty()) break;  // The rest of the present slot is not due yet.
    occupied_[0] &= ~(std::uint64_t{1} << (tick % slot_count));
  }
  tick_ = std::max(tick_, target);
  while (!due.empty()) {
    Timer& timer = due.pop_front();
    timer.wheel_ = nullptr;
    --armed_count_;
    timer.callback_(timer);
  }
}

Deadline TimerWheel::next() const {
  const std::uint64_t tick = next_tick();
  if (tick == no_tick) return Deadline::never();
  const Slot& slot = slots_[0][tick % slot_count];
  // A slot of a higher level begins here: its timers move down before they can fire.
  if (slot.empty()) return Deadline::at(TimePoint(Duration(tick << tick_bits)));
  TimePoint earliest = TimePoint::max();
  slot.for_each([&](const Timer& timer) { earliest = std::min(earliest, timer.time_); });
  return Deadline::at(earliest);
}

std::uint64_t TimerWheel::tick_of(TimePoint time) {
  const auto count = time.time_since_epoch().count();
  return count <= 0 ? 0 : static_cast<std::uint64_t>(count) >> tick_bits;
}

void TimerWheel::insert(Timer& timer) {
  const std::uint64_t tick = std::max(tick_of(timer.time_), tick_);
  const std::uint64_t differing = tick ^ tick_;
  const int level =
      differing == 0 ? 0 : (static_cast<int>(std::bit_width(differing)) - 1) / level_bits;
  const auto index = static_cast<std::size_t>((tick >> (level * level_bits)) % slot_count);
  const auto at_level = static_cast<std::size_t>(level);
  slots_[at_level][index].push_back(timer);
  occupied_[at_level] |= std::uint64_t{1} << index;
  timer.slot_ = static_cast<std::uint16_t>(at_level * slot_count + index);
}

void TimerWheel::remove(Timer& timer) {
  timer.unlink();
  timer.wheel_ = nullptr;
  --armed_count_;
  const std::size_t level = timer.slot_ / slot_count;
  const std::size_t index = timer.slot_ % slot_count;
  if (slots_[level][index].empty()) occupied_[level] &= ~(std::uint64_t{1} << index);
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
    if (occupied_[level] == 0) continue;
    // All of them lie ahead of the present slot of their level: nothing wraps around.
    const auto shift = level * level_bits;
    const auto index = static_cast<std::uint64_t>(std::countr_zero(occupied_[level]));
    const std::uint64_t above = tick_ >> (shift + level_bits);
    return ((above << level_bits) | index) << shift;
  }
  return no_tick;
}

}  // namespace corolane::coroutine
