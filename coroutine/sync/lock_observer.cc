// SPDX-License-Identifier: MIT
#include "coroutine/sync/lock_observer.h"

#include "coroutine/detail/lock_queue.h"
#include "coroutine/detail/task_access.h"
#include "coroutine/no_suspend.h"

namespace corolane::coroutine {

std::string LockWait::holder() const {
  if (queue_.holder == nullptr) return {};
  const detail::TaskControl* const task = detail::TaskAccess::find_young_task(queue_.holder);
  return task == nullptr ? std::string() : std::string(task->name());
}

Wake detail::wait_observed(LockObserver& observer, KnownQueue& queue, Deadline deadline,
                           Cancellation cancellation, void* slot) {
  std::unique_ptr<LockObserver::Wait> wait;
  // try_lock() of a SharedMutex waits for nothing.
  if (deadline > Deadline::at(TaskAccess::running().scheduler.turn_time())) {
    const NoSuspend indivisible;
    wait = observer.begin(LockWait(queue));
  }
  return queue.wait(deadline, cancellation, slot);
}

}  // namespace corolane::coroutine
