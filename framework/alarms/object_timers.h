// SPDX-License-Identifier: MIT
// Timers of an object, which run while it is active.
//
//   Result<void> Room::on_activate() {
//     auto ticking = timers().every({.interval = 50ms}, [this](const Tick& tick) {
//       for (std::uint64_t i = 0; i <= tick.missed; ++i) simulate(50ms);
//     });
//     if (!ticking) return ticking.error();
//     return {};
//   }
//
// A timer runs in the object's exclusive turn, behind the calls that came before, and in a task of
// its own: it may suspend, call other objects (which is a call of this object, so a cycle is
// found), and wait_until() something is true. Two runs of one timer never overlap. Changes are
// stored within a second, as those of calls; a failure affects the timer alone.
//
// Timers end with the object: when it is deactivated, moves, or is lost to another owner. They do
// not keep it active: an object that is not called is deactivated, however many timers it has.
// on_activate() sets them again. Use a reminder (object_reminders.h) for work that must happen even
// when nobody plays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "coroutine/base/clock.h"
#include "coroutine/base/result.h"
#include "coroutine/stack/stack_pool.h"

namespace corolane::framework {

namespace detail {
class TimerTable;
}

// Identifies a timer; a default-constructed one identifies none.
struct TimerId {
  std::uint64_t number = 0;

  friend bool operator==(TimerId, TimerId) = default;
};

// One run of a repeating timer.
struct Tick {
  // Counts from 1; missed ticks have numbers, too.
  std::uint64_t number = 0;
  // How late it runs: measured from the first tick that it covers.
  Duration lateness{};
  // The number of earlier ticks that this run also covers: they were due while the object was busy.
  std::uint64_t missed = 0;
};

// How the runs of a timer follow each other.
struct Rhythm {
  enum class Mode : std::uint8_t {
    // On a grid of points, `interval` apart, that never drifts. When points pass while a run lasts
    // or is late, one run covers all of them and follows at once.
    fixed_rate,
    // Each run begins `interval` after the end of the last: no tick is missed.
    fixed_delay,
  };
  using enum Mode;

  Duration interval;  // At least a millisecond.
  Mode mode = fixed_rate;
  // Nothing: one interval. But when several objects set fixed-rate timers of one interval at about
  // the same time, the first ticks of all but one come earlier, each in a phase of its own.
  std::optional<Duration> first_after = {};
};

struct TimerOptions {
  // For people: the timer's tasks are called "package.Room/" and this.
  std::string_view name = "timer";
  std::size_t stack_size_bytes = coroutine::StackPool::stack_size_bytes_default;
};

// The timers of one object: ObjectBase::timers(). They are set and cancelled in the object's turn.
//
// Setting one fails with resource_exhausted when the object has too many (64, unless its host has
// another limit), and with invalid_argument when the arguments are invalid.
class ObjectTimers {
 public:
  using Run = std::move_only_function<void()>;
  using RunTick = std::move_only_function<void(const Tick& tick)>;

  explicit ObjectTimers(detail::TimerTable& table) : table_(table) {}

  // Runs once.
  Result<TimerId> after(Duration delay, Run run, const TimerOptions& options = {});
  Result<TimerId> every(const Rhythm& rhythm, RunTick run, const TimerOptions& options = {});
  // Runs by the wall clock of a time zone (cron.h, time_zone.h). Ticks that could not run in time
  // are covered by one run, which counts a thousand of them at most. When the clock is set back
  // nothing runs twice; when it is put forward, that is noticed within a minute.
  Result<TimerId> cron(std::string_view expression, std::string_view zone, RunTick run,
                       const TimerOptions& options = {});

  // Prevents further runs; a run in progress completes, and may itself cancel the timer. Does
  // nothing for a timer that has ended.
  void cancel(TimerId id);

  std::size_t size() const;

 private:
  detail::TimerTable& table_;
};

}  // namespace corolane::framework
