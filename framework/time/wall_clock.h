// SPDX-License-Identifier: MIT
// The time of day, for data that outlives a process: reminders, and jobs at four in the morning.
//
//   const WallClock clock;
//   auto set = reminders.at("close", clock.now() + 24h);
//
// People and NTP may set it, forwards and backwards, so it is for dates only. Measure durations
// with now() (coroutine/base/clock.h).
#pragma once

#include <chrono>
#include <optional>

#include "coroutine/base/clock.h"

namespace corolane::framework {

// Time of day, UTC: a process's steady clock is meaningless to the next process.
using WallTime = std::chrono::sys_time<std::chrono::milliseconds>;

// A value; each copy tells the same time. Safe to use from any thread.
class WallClock {
 public:
  // The system's clock, read at each call; in a simulation, the simulated one.
  WallClock() = default;
  // Shows `origin` now, and advances as now() does: for tests and simulation.
  explicit WallClock(WallTime origin) : origin_({.wall = origin, .steady = corolane::now()}) {}

  WallTime now() const;
  // How long a task that waits for `time` should sleep before it looks again: until then, but at
  // most a minute, since the clock may be set meanwhile. Zero when the time has come.
  Duration step_towards(WallTime time) const;

 private:
  struct Origin {
    WallTime wall;
    TimePoint steady;
  };

  std::chrono::sys_time<Duration> precise_now() const;

  std::optional<Origin> origin_;
};

}  // namespace corolane::framework
