// SPDX-License-Identifier: MIT
// The wait of a task for a lock, as the observer of its scheduler sees it.
//
//   if (!take()) return wait_for_lock(waiters_, deadline, cancellation, slot) == Wake::notified;
#pragma once

#include "coroutine/base/deadline.h"
#include "coroutine/detail/known_queue.h"
#include "coroutine/detail/task_access.h"
#include "coroutine/wait_queue.h"

namespace corolane::coroutine::detail {

// Out of line, so that others pay for one branch.
[[gnu::cold]] Wake wait_observed(LockObserver& observer, KnownQueue& queue, Deadline deadline,
                                 Cancellation cancellation, void* slot);

// KnownQueue::wait() of the queue of a lock.
[[gnu::always_inline]] inline Wake wait_for_lock(KnownQueue& queue, Deadline deadline,
                                                 Cancellation cancellation, void* slot) {
  LockObserver* const observer = TaskAccess::lock_observer();
  if (observer != nullptr) [[unlikely]] {
    return wait_observed(*observer, queue, deadline, cancellation, slot);
  }
  return queue.wait(deadline, cancellation, slot);
}

}  // namespace corolane::coroutine::detail
