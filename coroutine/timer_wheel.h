// All timers of a scheduler: arming and cancelling are O(1) and never allocate.
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
#include <cstddef>
#include <cstdint>

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
  void cancel();

 private:
  friend class TimerWheel;

  Callback callback_;
  TimerWheel* wheel_ = nullptr;
  TimePoint time_;
  std::uint16_t slot_ = 0;
};

class TimerWheel {
 public:
  explicit TimerWheel(TimePoint start);
  ~TimerWheel();

  // Arms or re-arms; a deadline of never disarms. One that has passed fires at the next advance().
  void arm(Timer& timer, Deadline deadline);

  // Fires every timer that is due at `time`, each disarmed before its callback, which may arm and
  // cancel any timer. `time` never falls.
  void advance(TimePoint time);

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

  static std::uint64_t tick_of(TimePoint time);
  void insert(Timer& timer);
  void remove(Timer& timer);
  // Moves the timers of the slots that begin at `tick` down to lower levels.
  void cascade(std::uint64_t tick);
  // The first tick at which a slot that has timers begins; the largest value when there is none.
  std::uint64_t next_tick() const;

  std::array<std::array<Slot, slot_count>, level_count> slots_;
  std::array<std::uint64_t, level_count> occupied_{};  // A bit per slot that has timers.
  std::uint64_t tick_;                                 // Everything before it has fired.
  std::size_t armed_count_ = 0;
};

}  // namespace corolane::coroutine
