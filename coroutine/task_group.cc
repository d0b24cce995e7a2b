// SPDX-License-Identifier: MIT
#include "coroutine/task_group.h"

#include <utility>

#include "coroutine/detail/task_access.h"

namespace corolane::coroutine {

void TaskGroup::cancel() {
  children_.for_each([](detail::Membership& child) { child.task.cancel(); });
}

void TaskGroup::cancel_and_join() {
  cancel();
  end_.join_cancelled();
}

Result<void> TaskGroup::join_or_cancel(Deadline deadline) {
  auto waited = end_.wait(deadline);
  // Between the deadline and our turn the last child may have ended by itself.
  if (!waited && size() > 0) {
    const bool has_failed = end_.has_failed();
    cancel_and_join();
    auto first_error = end_.take_first_error();
    return has_failed ? std::move(first_error) : std::move(waited);
  }
  return end_.take_first_error();
}

bool TaskGroup::has_running_task() const {
  const detail::TaskControl* const task = detail::TaskAccess::running_or_null();
  return task != nullptr && task->is_member && &task->membership.group == this;
}

void detail::group_child_ended(TaskControl& child) {
  TaskGroup& group = child.membership.group;
  child.membership.unlink();
  group.end_.child_ended();
}

void detail::group_child_failed(TaskControl& child, Error&& error) {
  TaskGroup& group = child.membership.group;
  const bool cancels_others = group.end_.child_failed(std::move(error));
  group_child_ended(child);
  if (cancels_others) group.cancel();
}

}  // namespace corolane::coroutine
