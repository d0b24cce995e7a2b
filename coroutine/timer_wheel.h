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
// A hierarchical timing wheel (Varghese and Lauck, 1987, scheme 7): eight levels of 64 slots, a
// slot of the lowest level about a millisecond wide. A timer lies in the level of the highest bit
// in which its time differs from the present, and moves down when its slot begins. Timers never
// fire early; within a slot the exact times still count, so that in virtual time every one fires
// exactly on its deadline.
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

  bool is_armed() const { return wheel_ != nullptr; }
  // Does nothing when not armed.
  inline void cancel();

 protected:
  // Called by the wheel for a due timer; a derived class may call it too.
  void call_back() { callback_(*this); }

  // While the timer is not armed, a derived class may keep its planned deadline here.
  void plan(Deadline deadline) { time_ = deadline.time(); }
  Deadline planned() const { return Deadline::at(time_); }

 private:
  friend class TimerWheel;

  Callback callback_;
  TimerWheel* wheel_ = nullptr;
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

  // When advance() should be called next: never later than the earliest timer.
  Deadline next() const;

  std::size_t armed_count() const { return armed_count_; }

 private:
  friend class Timer;
  using Slot = detail::List<Timer, TimerTag>;

  static constexpr int tick_bits = 20;  // A tick is 2^20 ns, about a millisecond.
  static constexpr int level_bits = 6;
  static constexpr int slot_count = 1 << level_bits;
  static constexpr int level_count = 8;

  static std::uint64_t tick_of(TimePoint time) {
    const auto count = time.time_since_epoch().count();
    return count <= 0 ? 0 : static_cast<std::uint64_t>(count) >> tick_bits;
  }
  void insert(Timer& timer);
  // Moves the timers of the slots that begin at `tick` down to lower levels.
  void cascade(std::uint64_t tick);
  // The first tick at which a slot that has timers begins; the largest value when there is none.
  std::uint64_t next_tick() const;

  std::uint64_t tick_;  // All earlier timers have fired, or are due.
  Slot due_;
  std::size_t armed_count_ = 0;
  // A bit per slot that may have timers: cleared lazily by a search, so that cancelling need not
  // know the slot.
  mutable std::array<std::uint64_t, level_count> occupied_{};
  std::array<std::array<Slot, slot_count>, level_count> slots_;
};

inline void Timer::cancel() {
  if (wheel_ == nullptr) return;
  --wheel_->armed_count_;
  wheel_ = nullptr;
  unlink();
}

inline void TimerWheel::arm(Timer& timer, Deadline deadline) {
  timer.cancel();
  if (deadline.is_never()) return;
  timer.time_ = deadline.time();
  timer.wheel_ = this;
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
  slots_[level][index].push_back(timer);
  occupied_[level] |= std::uint64_t{1} << index;
}

}  // namespace corolane::coroutine
