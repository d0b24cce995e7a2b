// SPDX-License-Identifier: MIT
// All timers of a scheduler: arming and cancelling are O(1) and never allocate.
//
//   class Blink : public Timer {
//    public:
//     Blink() : Timer([](Timer& timer) { static_cast<Blink&>(timer).lamp.toggle(); }) {}
//     Lamp lamp;
//   };
//
//   void blink_soon(TimerWheel& timers, Blink& blink) { timers.arm(blink, Deadline::after(1s)); }
//
// A hierarchical timing wheel (Varghese and Lauck, 1987, scheme 7): nine levels of 64 slots, a slot
// of the lowest level 16 us wide. A timer lies in the level of the highest bit in which its time
// differs from the present, and moves down when its slot begins. Timers never fire early; within a
// slot the exact times still count, so that in virtual time every one fires exactly on its
// deadline.
//
// Each slot knows a time that is not later than that of its earliest timer, so the number of timers
// that share a slot costs nothing while none of them is due: see next() and collect_due().
//
// Not thread-safe: every Scheduler owns one wheel. Callbacks run on the loop's stack and must not
// suspend.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "coroutine/base/deadline.h"
#include "coroutine/detail/list.h"

namespace corolane::coroutine {

class TimerWheel;

// Lives inside its user, which derives from it; cancels itself when destroyed.
class Timer : public detail::ListNode<class TimerTag> {
 public:
  using Callback = void (*)(Timer& timer);

  explicit Timer(Callback callback) : callback_(callback) {}
  ~Timer() { cancel(); }

  bool is_armed() const { return (wheel_ & armed_bit) != 0; }
  // Does nothing when not armed.
  inline void cancel();

 protected:
  // Called by the wheel for a due timer; a derived class may call it too.
  void call_back() { callback_(*this); }

  // While the timer is not armed, a derived class may keep its planned deadline here.
  void plan(Deadline deadline) { time_ = deadline.time(); }
  Deadline planned() const { return Deadline::at(time_); }

  // Remembers a wheel for timers that are always armed in the same one; called before the first
  // arming.
  void belong_to(TimerWheel& wheel) { wheel_ = reinterpret_cast<std::uintptr_t>(&wheel); }
  // That wheel, or the one that armed it last.
  TimerWheel& wheel() const { return *reinterpret_cast<TimerWheel*>(wheel_ & ~armed_bit); }

 private:
  friend class TimerWheel;

  static constexpr std::uintptr_t armed_bit = 1;

  Callback callback_;
  std::uintptr_t wheel_ = 0;  // The address of a wheel; the lowest bit is set while armed.
  TimePoint time_;
};

class TimerWheel {
 public:
  explicit TimerWheel(TimePoint start);
  ~TimerWheel();

  // Arms or re-arms; a deadline of never disarms. A passed deadline fires at the next advance().
  void arm(Timer& timer, Deadline deadline);

  // Fires every timer that is due at `time`. Each is disarmed before its callback, which may arm
  // and cancel any timer; a timer armed there fires at the next advance() at the earliest. `time`
  // must not decrease.
  void advance(TimePoint time) {
    collect_due(time);
    fire_due(std::numeric_limits<std::size_t>::max());
  }
  // The same in pieces: collect_due() appends the due timers to those found before; fire_due()
  // fires the first `count_max` of them and returns true when more are left.
  void collect_due(TimePoint time);
  bool fire_due(std::size_t count_max);

  // When advance() should be called next: never later than the earliest timer. Earlier only when a
  // timer was cancelled that was the earliest of its slot; a call at that time finds the right one.
  Deadline next() const;

  std::size_t armed_count() const { return armed_count_; }

 private:
  friend class Timer;
  using Slot = detail::List<Timer, TimerTag>;

  static constexpr int tick_bits = 14;  // A tick is 2^14 ns, about 16 us.
  static constexpr int level_bits = 6;
  static constexpr int slot_count = 1 << level_bits;
  static constexpr int level_count = 9;

  static std::uint64_t tick_of(TimePoint time) {
    const auto count = time.time_since_epoch().count();
    return count <= 0 ? 0 : static_cast<std::uint64_t>(count) >> tick_bits;
  }
  struct Place {
    std::size_t level;
    std::size_t index;
  };
  void insert(Timer& timer);
  // Moves the timers of the slots that begin at `tick` down to lower levels; `target` is the tick
  // of the present.
  void cascade(std::uint64_t tick, std::uint64_t target);
  // Moves what is due at `time` from a slot of the lowest level to due_; returns false when the
  // slot keeps some. `is_present` tells that the slot is not over yet.
  bool take_due(std::size_t index, TimePoint time, bool is_present);
  // The first slot that has timers; its level is level_count when there is none.
  Place first_slot() const;
  std::uint64_t first_tick_of(Place place) const;

  std::uint64_t tick_;  // All earlier timers have fired, or are due.
  Slot due_;
  std::size_t armed_count_ = 0;
  // A bit per slot that may have timers: cleared lazily by a search, so that cancelling need not
  // know the slot.
  mutable std::array<std::uint64_t, level_count> occupied_{};
  std::array<std::array<Slot, slot_count>, level_count> slots_;
  // For each slot that has timers, a time that is not later than that of any of them.
  std::array<std::array<TimePoint, slot_count>, level_count> earliest_;
};

inline void Timer::cancel() {
  if (!is_armed()) return;
  --wheel().armed_count_;
  wheel_ &= ~armed_bit;
  unlink();
}

inline void TimerWheel::arm(Timer& timer, Deadline deadline) {
  timer.cancel();
  if (deadline.is_never()) return;
  timer.time_ = deadline.time();
  timer.wheel_ = reinterpret_cast<std::uintptr_t>(this) | Timer::armed_bit;
  ++armed_count_;
  insert(timer);
}

inline void TimerWheel::insert(Timer& timer) {
  const std::uint64_t due = tick_of(timer.time_);
  const std::uint64_t tick = due < tick_ ? tick_ : due;
  const std::uint64_t differing = tick ^ tick_;
  const std::size_t level =
      differing == 0 ? 0 : (static_cast<std::size_t>(std::bit_width(differing)) - 1) / level_bits;
  const auto index = static_cast<std::size_t>((tick >> (level * level_bits)) % slot_count);
  Slot& slot = slots_[level][index];
  TimePoint& earliest = earliest_[level][index];
  if (slot.empty() || timer.time_ < earliest) earliest = timer.time_;
  slot.push_back(timer);
  occupied_[level] |= std::uint64_t{1} << index;
}

}  // namespace corolane::coroutine
