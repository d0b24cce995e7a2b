// SPDX-License-Identifier: MIT
// The part of select() that does not depend on the operations.
#include "coroutine/sync/select.h"

#include "coroutine/detail/task_access.h"
#include "coroutine/detail/task_wait.h"

namespace corolane::coroutine::detail {
namespace {

constexpr const char* waiting_for = "one of several operations";

}  // namespace

Result<std::size_t> wait_at(std::span<Place> places, Deadline deadline) {
  TaskControl& task = TaskAccess::running();
  TaskWait wait(task, places);
  const bool is_late = deadline <= Deadline::at(task.scheduler.turn_time());
  if (task.is_cancelled() || is_late) {
    for (Place& place : places) place.unlink();
    return wake_error(task.is_cancelled() ? Wake::cancelled : Wake::deadline, waiting_for);
  }
  begin_wait(task);
  wait.suspend(deadline, /*observes_cancellation=*/true, waiting_for);
  if (wait.wake() != Wake::notified) return wake_error(wait.wake(), waiting_for);
  return wait.notified_place();
}

}  // namespace corolane::coroutine::detail
