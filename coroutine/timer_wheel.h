// SPDX-License-Identifier: MIT
// All timers of a scheduler: arming and cancelling are O(1).
//
//   class Blink : public Timer {
//    public:
//     Blink() : Timer([](Timer& timer) { static_cast<Blink&>(timer).lamp.toggle(); }) {}
//     Lamp lamp;
//   };
//
//   void blink_soon(TimerWheel& timers, Blink& blink) { timers.arm(blink, Deadline::after(1s)); }
//
// A hierarchical timing wheel (Varghese and Lauck, 1987, scheme 7): a level of 64 slots, each 16 us
// wide, and above it levels of 256 slots. A timer lies in the level of the highest bit in which its
// time differs from the present, and moves down when its slot begins. Timers never fire early;
// within a slot the exact times still count, so that in virtual time every one fires exactly on its
// deadline. Timers of equal times fire in the order of arming.
//
// A slot holds chunks of 30 entries: a time and the address of a timer. A list through the timers
// would need no memory, but with a million of them each step waits until one timer has come from
// memory, and only then knows the next; the entries tell which timers to fetch ahead. A cancelled
// timer leaves a hole, and a chunk of holes is recycled. Cancelling only notes which hole to make:
// some dozens are made at once, or before the wheel is looked at, so that their chunks come from
// memory together.
//
// Each slot knows a time that is not later than that of its earliest timer, so the number of timers
// that share a slot costs nothing while none of them is due: see next() and collect_due().
//
// Not thread-safe: every Scheduler owns one wheel, and a timer is cancelled or fires on the thread
// that armed it, which owns the chunk (detail/async_frame_pool.h). Callbacks run on the loop's
// stack and must not suspend.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>

#include "coroutine/base/deadline.h"

namespace corolane::coroutine {

class Timer;
class TimerWheel;

namespace detail {

// A part of a slot of a timer wheel.
struct alignas(64) TimerChunk {
  struct Entry {
    TimePoint time;
    Timer* timer;  // Null for a hole.
  };
  static constexpr std::size_t entry_count = 30;

  // The place of an entry: the address of the chunk and, in the low bits, the index from 1 on.
  std::uintptr_t place(std::size_t index) const {
    return reinterpret_cast<std::uintptr_t>(this) + index + 1;
  }
  static TimerChunk& chunk_at(std::uintptr_t place) {
    return *reinterpret_cast<TimerChunk*>(place & ~index_mask);
  }
  static std::size_t index_at(std::uintptr_t place) { return (place & index_mask) - 1; }
  static constexpr std::uintptr_t index_mask = 63;
  static_assert(entry_count <= index_mask);

  TimerChunk* next;
  TimerChunk* previous;
  std::uint16_t slot;
  std::uint16_t begin;  // Holes lie before this index, and unused entries from `end` on.
  std::uint16_t end;
  std::uint16_t timer_count;
  union {
    std::array<Entry, entry_count> entries;  // Not initialised.
  };

  TimerChunk() {}  // NOLINT(modernize-use-equals-default): it would be deleted.
};

}  // namespace detail

// Lives inside its user, which derives from it; cancels itself when destroyed.
class Timer {
 public:
  using Callback = void (*)(Timer& timer);

  explicit Timer(Callback callback) : callback_(callback) {}
  ~Timer() { cancel(); }
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  bool is_armed() const { return place_ != 0; }
  // Does nothing when not armed.
  inline void cancel();

 protected:
  // Called by the wheel for a due timer; a derived class may call it too.
  void call_back() { callback_(*this); }

  // While the timer is not armed, a derived class may keep its planned deadline here.
  void plan(Deadline deadline) { time_ = deadline.time(); }
  Deadline planned() const { return Deadline::at(time_); }

  // Requires an armed timer.
  inline Deadline due() const;
  bool has(Callback callback) const { return callback_ == callback; }

  // Remembers a wheel for timers that are always armed in the same one; called before the first
  // arming.
  void belong_to(TimerWheel& wheel) { wheel_ = &wheel; }
  // That wheel, or the one that armed it last.
  TimerWheel& wheel() const { return *wheel_; }

 private:
  friend class TimerWheel;

  Callback callback_;
  TimerWheel* wheel_ = nullptr;
  std::uintptr_t place_ = 0;  // TimerChunk::place(), or 0 while it is not armed.
  TimePoint time_;
};

class TimerWheel {
 public:
  explicit TimerWheel(TimePoint start);
  ~TimerWheel();

  // Arms or re-arms; a deadline of never disarms. A passed deadline fires at the next advance().
  // Ends the process when the system refuses memory for a chunk: a wait cannot be undone.
  void arm(Timer& timer, Deadline deadline) noexcept;

  // Fires every timer that is due at `time`. Each is disarmed before its callback, which may arm
  // and cancel any timer; a timer armed there fires at the next advance() at the earliest. `time`
  // must not decrease.
  void advance(TimePoint time) {
    collect_due(time);
    fire_due(std::numeric_limits<std::size_t>::max());
  }
  // The same in pieces: collect_due() appends the due timers to those found before; fire_due()
  // fires the first `count_max` of them and returns true when more are left.
  void collect_due(TimePoint time) noexcept;
  bool fire_due(std::size_t count_max);

  // When advance() should be called next: never later than the earliest timer. Earlier only when a
  // timer was cancelled that was the earliest of its slot; a call at that time finds the right one.
  Deadline next();

  std::size_t armed_count() const { return armed_count_ - cancelled_count_; }

 private:
  friend class Timer;
  using Chunk = detail::TimerChunk;
  using Entry = Chunk::Entry;

  struct Slot {
    Chunk* first = nullptr;
    Chunk* last = nullptr;
    TimePoint earliest;  // Not later than that of any timer.
  };

  static constexpr int tick_bits = 14;  // A tick is 2^14 ns, about 16 us.
  static constexpr std::size_t lowest_bits = 6;
  static constexpr std::size_t level_bits = 8;
  static constexpr std::size_t word_bits = 64;
  static constexpr std::size_t level_count = 7;
  static constexpr std::size_t lowest_size = std::size_t{1} << lowest_bits;
  static constexpr std::size_t level_size = std::size_t{1} << level_bits;
  static constexpr std::size_t slot_count = lowest_size + (level_count - 1) * level_size;
  static constexpr std::uint16_t due_slot = slot_count;  // Behind the slots of the levels.
  static_assert(tick_bits + lowest_bits + (level_count - 1) * level_bits >= 63);

  static std::uint64_t tick_of(TimePoint time) {
    const auto count = time.time_since_epoch().count();
    return count <= 0 ? 0 : static_cast<std::uint64_t>(count) >> tick_bits;
  }
  // The lowest bit of a tick that tells the slots of a level apart.
  static constexpr std::size_t shift_of(std::size_t level) {
    return level == 0 ? 0 : lowest_bits + (level - 1) * level_bits;
  }
  // Slots are numbered from the lowest level on: the first one that has timers begins first.
  static std::size_t slot_at(std::size_t level, std::uint64_t tick) {
    if (level == 0) return tick % lowest_size;
    return lowest_size + (level - 1) * level_size + (tick >> shift_of(level)) % level_size;
  }
  static std::size_t level_of(std::size_t slot) {
    return slot < lowest_size ? 0 : 1 + (slot - lowest_size) / level_size;
  }
  std::uint64_t first_tick_of(std::size_t slot) const;
  // slot_count when no timer waits.
  std::size_t first_slot() const;

  void insert(const Entry& entry);
  void append(std::size_t slot, const Entry& entry);
  void note_cancelled(std::uintptr_t place);
  void settle() {
    if (cancelled_count_ != 0) make_holes();
  }
  void make_holes();
  void remove(Chunk& chunk, std::size_t index);
  Chunk& add_chunk(std::size_t slot);
  void drop_chunk(Chunk& chunk);
  // Empties a slot, and returns its first chunk.
  Chunk* take_chunks(std::size_t slot);
  // Moves the timers of the slots that begin at `tick` down to lower levels; `target` is the tick
  // of the present.
  void cascade(std::uint64_t tick, std::uint64_t target);
  // Move the timers of a slot that is over, and those of the present slot that are due at `time`.
  void take_all_due(std::size_t slot);
  void take_due(std::size_t slot, TimePoint time);

  // A guess at the wheel of the next timer that this thread cancels. It may have been destroyed: it
  // is used only when it is the timer's wheel. Cancelling many timers then needs no address that
  // has yet to come from memory with a timer, so that several come at once.
  static inline constinit thread_local TimerWheel* armed_last_ = nullptr;

  std::uint64_t tick_;           // All earlier timers have fired, or are due.
  std::size_t armed_count_ = 0;  // Including those in `cancelled_`.
  std::size_t cancelled_count_ = 0;
  // The places of cancelled timers whose entries are not holes yet.
  std::array<std::uintptr_t, 32> cancelled_{};
  std::array<std::uint64_t, slot_count / word_bits> occupied_{};  // A bit per slot with timers.
  const std::unique_ptr<Slot[]> slots_ = std::make_unique<Slot[]>(slot_count + 1);
};

inline Deadline Timer::due() const {
  const auto& chunk = detail::TimerChunk::chunk_at(place_);
  return Deadline::at(chunk.entries[detail::TimerChunk::index_at(place_)].time);
}

inline void Timer::cancel() {
  if (!is_armed()) return;
  const std::uintptr_t place = std::exchange(place_, 0);
  TimerWheel* guess = TimerWheel::armed_last_;
  if (wheel_ != guess) return wheel_->note_cancelled(place);
  // Without this the compiler uses `wheel_`, which is equal.
  asm("" : "+r"(guess));
  guess->note_cancelled(place);
}

inline void TimerWheel::note_cancelled(std::uintptr_t place) {
  cancelled_[cancelled_count_++] = place;
  if (cancelled_count_ == cancelled_.size()) make_holes();
}

inline void TimerWheel::arm(Timer& timer, Deadline deadline) noexcept {
  timer.cancel();
  if (deadline.is_never()) return;
  timer.time_ = deadline.time();
  timer.wheel_ = armed_last_ = this;
  ++armed_count_;
  insert({.time = timer.time_, .timer = &timer});
}

inline void TimerWheel::insert(const Entry& entry) {
  const std::uint64_t tick = std::max(tick_of(entry.time), tick_);
  const std::uint64_t differing = tick ^ tick_;
  const auto bits = static_cast<std::size_t>(std::bit_width(differing));
  const std::size_t level = bits <= lowest_bits ? 0 : 1 + (bits - 1 - lowest_bits) / level_bits;
  const std::size_t index = slot_at(level, tick);
  Slot& slot = slots_[index];
  if (slot.first == nullptr || entry.time < slot.earliest) slot.earliest = entry.time;
  append(index, entry);
}

inline void TimerWheel::append(std::size_t slot, const Entry& entry) {
  Chunk* chunk = slots_[slot].last;
  if (chunk == nullptr || chunk->end == Chunk::entry_count) chunk = &add_chunk(slot);
  entry.timer->place_ = chunk->place(chunk->end);
  chunk->entries[chunk->end++] = entry;
  ++chunk->timer_count;
}

inline void TimerWheel::remove(Chunk& chunk, std::size_t index) {
  chunk.entries[index].timer = nullptr;
  --armed_count_;
  if (--chunk.timer_count == 0) drop_chunk(chunk);
}

}  // namespace corolane::coroutine
