// SPDX-License-Identifier: MIT
#include "framework/alarms/object_timers.h"

#include <utility>

#include "framework/alarms/detail/timer_table.h"

namespace corolane::framework {

Result<TimerId> ObjectTimers::after(Duration delay, Run run, const TimerOptions& options) {
  return table_.after(delay, std::move(run), options);
}

Result<TimerId> ObjectTimers::every(const Rhythm& rhythm, RunTick run,
                                    const TimerOptions& options) {
  return table_.every(rhythm, std::move(run), options);
}

Result<TimerId> ObjectTimers::cron(std::string_view expression, std::string_view zone, RunTick run,
                                   const TimerOptions& options) {
  return table_.cron(expression, zone, std::move(run), options);
}

void ObjectTimers::cancel(TimerId id) { table_.cancel(id); }

std::size_t ObjectTimers::size() const { return table_.size(); }

}  // namespace corolane::framework
