// SPDX-License-Identifier: MIT
#include "coroutine/task_group.h"

namespace corolane::coroutine {

void TaskGroup::cancel() {
  children_.for_each([](detail::Membership& child) { child.task.cancel(); });
}

void TaskGroup::cancel_and_join() {
  cancel();
  end_.join_cancelled();
}

void detail::group_child_ended(TaskControl& child) {
  TaskGroup& group = child.membership.group;
  child.membership.unlink();
  group.end_.child_ended();
}

void detail::group_child_failed(TaskControl& child, Error&& error) {
  child.membership.group.end_.child_failed(std::move(error));
  group_child_ended(child);
}

}  // namespace corolane::coroutine
