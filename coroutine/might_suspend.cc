// SPDX-License-Identifier: MIT
#include "coroutine/might_suspend.h"

#include "coroutine/detail/task_access.h"
#include "coroutine/scheduler.h"

namespace corolane::coroutine::detail {

bool TaskAccess::chooses_suspension() { return Scheduler::current().chooses_suspension(); }

void TaskAccess::explore_suspension(Deadline deadline, Cancellation cancellation) {
  TaskControl* const task = running_or_null();
  if (task == nullptr || deadline == Deadline::passed()) return;
  if ((task->flags & TaskHead::no_suspend_flag) != 0) return;
  if (cancellation == Cancellation::observe && task->is_cancelled()) return;
  if (!chooses_suspension()) return;
  if ((task->flags & TaskHead::late_timers_flag) != 0) arm_late_timers(*task);
  // Does what yield() does, also for a task with other flags.
  Switcher& scheduler = *Switcher::current_;
  scheduler.suspend(*task, scheduler.ready_.push(task, nullptr).frame);
}

}  // namespace corolane::coroutine::detail
