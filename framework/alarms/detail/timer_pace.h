// SPDX-License-Identifier: MIT
// The schedules of timers, and the numbers of their ticks.
//
// A pace has
//   next_time()   the time of the next run, by the steady clock; nothing: no further run
//   is_due()      whether the run is due, or the time is only the next check
//   begin()       the tick of the run that begins now
//   end()         that run has ended
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "coroutine/base/clock.h"
#include "framework/alarms/object_timers.h"
#include "framework/time/cron.h"
#include "framework/time/time_zone.h"
#include "framework/time/wall_clock.h"

namespace corolane::framework::detail {

class OncePace {
 public:
  explicit OncePace(TimePoint time) : time_(time) {}

  std::optional<TimePoint> next_time() const { return time_; }
  static bool is_due() { return true; }
  Tick begin() {
    const TimePoint due = *std::exchange(time_, std::nullopt);
    return {.number = 1, .lateness = now() - due};
  }
  void end() {}

 private:
  std::optional<TimePoint> time_;
};

class FixedRatePace {
 public:
  FixedRatePace(TimePoint first, Duration interval) : first_(first), interval_(interval) {}

  std::optional<TimePoint> next_time() const { return time_of(last_number_ + 1); }
  static bool is_due() { return true; }
  Tick begin() {
    const TimePoint time = now();
    const Duration lateness = time - time_of(last_number_ + 1);
    const auto missed = static_cast<std::uint64_t>(lateness / interval_);
    last_number_ += 1 + missed;
    return {.number = last_number_, .lateness = lateness, .missed = missed};
  }
  void end() {}

 private:
  TimePoint time_of(std::uint64_t number) const {
    return first_ + static_cast<Duration::rep>(number - 1) * interval_;
  }

  const TimePoint first_;
  const Duration interval_;
  std::uint64_t last_number_ = 0;
};

class FixedDelayPace {
 public:
  FixedDelayPace(TimePoint first, Duration interval) : next_(first), interval_(interval) {}

  std::optional<TimePoint> next_time() const { return next_; }
  static bool is_due() { return true; }
  Tick begin() { return {.number = ++last_number_, .lateness = now() - next_}; }
  void end() { next_ = now() + interval_; }

 private:
  TimePoint next_;
  const Duration interval_;
  std::uint64_t last_number_ = 0;
};

// In wall-clock time: checks now and then whether the clock has been set.
class CronPace {
 public:
  CronPace(const CronExpression& expression, TimeZone zone, const WallClock& clock)
      : expression_(expression),
        zone_(std::move(zone)),
        clock_(clock),
        next_(expression_.next(clock_.now(), zone_)) {}

  std::optional<TimePoint> next_time() const { return now() + clock_.step_towards(next_); }
  bool is_due() const { return clock_.now() >= next_; }
  Tick begin() {
    const WallTime time = clock_.now();
    const Duration lateness = std::max(Duration::zero(), Duration(time - next_));
    std::uint64_t missed = 0;
    while ((next_ = expression_.next(next_, zone_)) <= time) {
      if (++missed < missed_count_max) continue;
      next_ = expression_.next(time, zone_);
      break;
    }
    last_number_ += 1 + missed;
    return {.number = last_number_, .lateness = lateness, .missed = missed};
  }
  void end() {}

 private:
  // Limits the counting after a long pause, such as a month without power.
  static constexpr std::uint64_t missed_count_max = 1'000;

  const CronExpression expression_;
  const TimeZone zone_;
  const WallClock& clock_;
  WallTime next_;
  std::uint64_t last_number_ = 0;
};

}  // namespace corolane::framework::detail
