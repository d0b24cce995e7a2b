// What an object does by the clock while it is alive.
//
//   Result<void> Room::on_activate() {
//     auto ticking = timers().every({.interval = 50ms}, [this](const Tick& tick) {
//       for (std::uint64_t i = 0; i <= tick.missed; ++i) simulate(50ms);
//     });
//     if (!ticking) return ticking.error();
//     return {};
//   }
//
// A timer runs in the object's exclusive turn, behind the calls that have come before, and in a
// task of its own: it may suspend, call other objects (which is a call of this object, so a cycle
// is found), and wait_for() events. Of one timer there are never two runs at a time. What it
// changes is stored within a second, as what calls change; a failure is its own affair.
//
// Timers are gone with the object: when it is deactivated, moves, or is lost to another owner. They
// do not keep it: an object that nobody calls goes, however many timers it has. on_activate() sets
// them again; what has to happen even when nobody plays is a reminder (object_reminders.h).
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

// Names a timer; that of a default one names none.
struct TimerId {
  std::uint64_t number = 0;

  friend bool operator==(TimerId, TimerId) = default;
};

// One run of a timer that has many.
struct Tick {
  // From 1 on; those that were missed have numbers, too.
  std::uint64_t number = 0;
  // How long after its time it runs: after that of the first one that it stands for.
  Duration lateness{};
  // The ticks before it that it stands for: their time had passed, but the object was busy.
  std::uint64_t missed = 0;
};

// How the runs of a timer follow each other.
struct Rhythm {
  enum class Mode : std::uint8_t {
    // On a grid of points, `interval` apart, that never drifts. When a run lasts longer, or begins
    // so late, that points pass meanwhile, one run stands for all of them and follows at once.
    fixed_rate,
    // The next one `interval` after the end of the last: none is missed.
    fixed_delay,
  };
  using enum Mode;

  Duration interval;  // A millisecond at least.
  Mode mode = fixed_rate;
  std::optional<Duration> first_after = {};  // Nothing: an interval.
};

struct TimerOptions {
  // For people: its tasks are called "package.Room/" and this.
  std::string_view name = "timer";
  std::size_t stack_size_bytes = coroutine::StackPool::stack_size_bytes_default;
};

// The timers of one object: ObjectBase::timers(). To be set and cancelled in the object's turn.
//
// Setting one fails with resource_exhausted when the object has too many (64, unless its host has
// another limit), and with invalid_argument when what is asked for cannot be.
class ObjectTimers {
 public:
  using Run = std::move_only_function<void()>;
  using RunTick = std::move_only_function<void(const Tick& tick)>;

  explicit ObjectTimers(detail::TimerTable& table) : table_(table) {}

  // Once.
  Result<TimerId> after(Duration delay, Run run, const TimerOptions& options = {});
  Result<TimerId> every(const Rhythm& rhythm, RunTick run, const TimerOptions& options = {});
  // By the clock on the wall of a time zone (cron.h, time_zone.h). What could not run in time runs
  // once, for all that it has missed, of which it counts a thousand at most. A clock that is set
  // back makes nothing run twice; one that is put forward is noticed within a minute.
  Result<TimerId> cron(std::string_view expression, std::string_view zone, RunTick run,
                       const TimerOptions& options = {});

  // Nothing runs from now on; a run that has begun goes on, and may be the one that cancels. Does
  // nothing for one that is over.
  void cancel(TimerId id);

  std::size_t size() const;

 private:
  detail::TimerTable& table_;
};

}  // namespace corolane::framework
