#include "coroutine/task_group.h"

namespace corolane::coroutine {

Result<void> TaskGroup::join(Deadline deadline) {
  // More may be spawned between the end of the last child and our turn.
  while (child_count_ > 0) {
    if (auto waited = all_ended_.wait_or_fail(deadline); !waited) return waited;
  }
  return std::exchange(first_error_, {});
}

void TaskGroup::cancel() {
  children_.for_each([](detail::Membership& child) { child.task.cancel(); });
}

void TaskGroup::cancel_and_join() {
  cancel();
  cancels_new_ = true;
  while (child_count_ > 0) all_ended_.wait(Deadline::never(), Cancellation::ignore);
  cancels_new_ = false;
}

void detail::group_child_ended(TaskControl& child) {
  TaskGroup& group = child.membership.group;
  child.membership.unlink();
  if (--group.child_count_ == 0) group.all_ended_.notify_all();
}

void detail::group_child_failed(TaskControl& child, Error&& error) {
  TaskGroup& group = child.membership.group;
  if (group.first_error_) group.first_error_ = std::move(error);
  group_child_ended(child);
}

}  // namespace corolane::coroutine
