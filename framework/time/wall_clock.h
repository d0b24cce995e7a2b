// The time of day, for what outlives a process: reminders, and what runs at four in the morning.
//
// It may be set, forwards and backwards, by people and by NTP; nothing but dates is to be measured
// by it. Durations are what now() is for (coroutine/base/clock.h).
#pragma once

#include <chrono>
#include <optional>

#include "coroutine/base/clock.h"

namespace corolane::framework {

// Time of day, UTC: what outlives a process is not measured by its steady clock.
using WallTime = std::chrono::sys_time<std::chrono::milliseconds>;

// A value; each copy tells the same time. Any thread.
class WallClock {
 public:
  // That of the system, asked anew each time; of a simulation, its own.
  WallClock() = default;
  // It is `origin` now, and time goes on as that of now() does: for tests and simulation.
  explicit WallClock(WallTime origin) : origin_({.wall = origin, .steady = corolane::now()}) {}

  WallTime now() const;
  // How long to sleep before somebody who waits for `time` looks again: until then, but a minute at
  // the most, since the clock may be set meanwhile. Zero when it has come.
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
