// SPDX-License-Identifier: MIT
// The parts of waiting that are not worth inlining or need no inlining: see detail/task_wait.h.
#include "coroutine/wait_queue.h"

#include <string>

#include "coroutine/detail/known_queue.h"
#include "coroutine/detail/task_access.h"
#include "coroutine/detail/task_wait.h"

namespace corolane::coroutine {
Error wake_error(Wake wake, const char* waited_for) {
  check(wake != Wake::notified, "only a wait that failed has an error");
  if (wake == Wake::cancelled) {
    return Error(Code::cancelled, std::string("cancelled while waiting: ") + waited_for);
  }
  return Error(Code::deadline_exceeded,
               std::string("deadline passed while waiting: ") + waited_for);
}

Wake WaitQueue::wait(Deadline deadline, Cancellation cancellation, void* slot) {
  return detail::wait_in(*this, deadline, cancellation, slot);
}

Result<void> WaitQueue::wait_or_fail(Deadline deadline, void* slot) {
  return detail::wait_or_fail_in(*this, deadline, slot);
}

Wake detail::KnownQueue::wait(Deadline deadline, Cancellation cancellation, void* slot) {
  return wait_in(*this, deadline, cancellation, slot);
}

Result<void> detail::KnownQueue::wait_or_fail(Deadline deadline, void* slot) {
  return wait_or_fail_in(*this, deadline, slot);
}

std::size_t WaitQueue::notify_all() {
  std::size_t count = 0;
  while (notify_one()) ++count;
  return count;
}

namespace detail {

void TaskWait::woken(Timer& timer) {
  auto& self = static_cast<TaskWait&>(timer);
  self.leave_places();
  self.task_.wait = nullptr;
  self.task_.waiting_for = nullptr;
  TaskAccess::make_ready(self.task_);
}

}  // namespace detail
}  // namespace corolane::coroutine
