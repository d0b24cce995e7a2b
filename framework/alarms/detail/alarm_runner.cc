// SPDX-License-Identifier: MIT
#include "framework/alarms/detail/alarm_runner.h"

#include <chrono>
#include <utility>

#include "coroutine/task.h"
#include "framework/alarms/detail/alarm.h"
#include "framework/alarms/detail/alarm_owner.h"

namespace corolane::framework::detail {
namespace {

// Ends the task of an alarm, also after an exception.
class TaskOfAlarm {
 public:
  explicit TaskOfAlarm(Alarm& alarm) : alarm_(alarm) {}
  ~TaskOfAlarm() { alarm_.end_task(); }
  TaskOfAlarm(const TaskOfAlarm&) = delete;
  TaskOfAlarm& operator=(const TaskOfAlarm&) = delete;

 private:
  Alarm& alarm_;
};

}  // namespace

void AlarmRunner::start(const std::shared_ptr<Alarm>& alarm) {
  if (is_stopped_) return;
  alarm->begin_task();
  auto spawned = tasks_.spawn(alarm->label(),
                              [alarm, run = begin_run_(alarm)]() mutable {
                                const TaskOfAlarm task(*alarm);
                                run();
                              },
                              {.stack_size_bytes = alarm->stack_size_bytes()});
  if (!spawned) alarm->end_task();
}

void AlarmRunner::stop(Deadline deadline) {
  is_stopped_ = true;
  static_cast<void>(tasks_.join(deadline));
  tasks_.cancel_and_join();
}

void AlarmRunner::count_tick(AlarmCounts& counts, const Tick& tick) {
  lateness_us_.record(static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(tick.lateness).count()));
  ++counts.tick_count;
  counts.missed_tick_count += tick.missed;
}

}  // namespace corolane::framework::detail
