// SPDX-License-Identifier: MIT
#include "coroutine/no_suspend.h"

#include <string>
#include <utility>

#include "coroutine/base/check.h"
#include "coroutine/detail/task_access.h"

namespace corolane::coroutine {
namespace {

// The innermost scope of the running task; outer scopes of tasks around it follow when a scheduler
// runs inside a task. While a task is inside one, no other task of its scheduler runs.
constinit thread_local const NoSuspend* innermost = nullptr;

}  // namespace

NoSuspend::NoSuspend(const std::source_location& place)
    : place_(place), task_(detail::TaskAccess::running_or_null()) {
  if (task_ == nullptr) return;
  outer_ = std::exchange(innermost, this);
  task_->set_flag(detail::TaskHead::no_suspend_flag);
}

NoSuspend::~NoSuspend() {
  check(task_ == detail::TaskAccess::running_or_null(), "a NoSuspend ends in the task it began in");
  if (task_ == nullptr) return;
  check(innermost == this, "NoSuspend scopes end in reverse order");
  innermost = outer_;
  if (outer_ == nullptr || outer_->task_ != task_) {
    task_->clear_flag(detail::TaskHead::no_suspend_flag);
  }
}

bool detail::TaskAccess::may_yield(TaskControl& task) {
  if ((task.flags & TaskHead::late_timers_flag) != 0) arm_late_timers(task);
  return task.flags == 0;
}

void detail::prepare_suspension(TaskControl& task) {
  if ((task.flags & TaskHead::late_timers_flag) != 0) arm_late_timers(task);
  check_may_suspend(task);
}

void detail::check_may_suspend(const TaskControl& task) {
  if ((task.flags & TaskHead::no_suspend_flag) == 0) return;
  const std::source_location& place = innermost->place();
  check(false, "nothing suspends inside the NoSuspend that began at " +
                   std::string(place.file_name()) + ":" + std::to_string(place.line()));
}

}  // namespace corolane::coroutine
