// SPDX-License-Identifier: MIT
// Runs the timers and reminders of objects, each in a task of its own, and counts them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "coroutine/base/deadline.h"
#include "coroutine/base/histogram.h"
#include "coroutine/task_group.h"
#include "framework/alarms/detail/phase_spread.h"
#include "framework/alarms/object_timers.h"
#include "framework/telemetry/log.h"
#include "framework/time/wall_clock.h"

namespace corolane::framework::detail {

class Alarm;
struct AlarmCounts;

class AlarmRunner {
 public:
  struct Options {
    // Per object: more timers indicate a leak in its class.
    std::size_t timer_count_max = 64;
  };

  // Returns the work of the alarm's task; the object stays until that work is destroyed.
  using Run = std::move_only_function<void()>;
  using BeginRun = std::function<Run(std::shared_ptr<Alarm> alarm)>;

  // `log` outlives it.
  AlarmRunner(const Options& options, const WallClock& clock, Log& log, BeginRun begin_run)
      : options_(options), clock_(clock), log_(log), begin_run_(std::move(begin_run)) {}
  AlarmRunner(const AlarmRunner&) = delete;
  AlarmRunner& operator=(const AlarmRunner&) = delete;

  const Options& options() const { return options_; }
  const WallClock& clock() const { return clock_; }
  Log& log() const { return log_; }
  TimerId next_timer_id() { return {.number = ++last_timer_number_}; }
  PhaseSpread& phases() { return phases_; }

  // Spawns the task of an alarm that has none. Never suspends; may be called from the loop too.
  void start(const std::shared_ptr<Alarm>& alarm);
  // No task starts after this. Suspends until all have ended; at the deadline they are cancelled.
  void stop(Deadline deadline);

  void count_tick(AlarmCounts& counts, const Tick& tick);
  // The lateness of timer runs.
  const Histogram& lateness_us() const { return lateness_us_; }
  std::size_t running_count() const { return tasks_.size(); }

 private:
  const Options options_;
  const WallClock clock_;
  Log& log_;
  const BeginRun begin_run_;
  bool is_stopped_ = false;
  std::uint64_t last_timer_number_ = 0;
  PhaseSpread phases_;
  Histogram lateness_us_;
  coroutine::TaskGroup tasks_;
};

}  // namespace corolane::framework::detail
