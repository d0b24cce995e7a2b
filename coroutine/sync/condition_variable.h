// SPDX-License-Identifier: MIT
// Waits under a Mutex for a change of what it guards: shaped like std::condition_variable.
//
//   std::unique_lock lock(mutex);
//   if (auto waited = changed.wait_until(lock, deadline, [&] { return !jobs.empty(); }); !waited) {
//     return waited.error();
//   }
//
// Needed only with a mutex that is held over suspensions; otherwise an Event does the same. A wait
// always returns with the lock held again, also when it fails: retaking the lock may suspend past
// the deadline and ignores cancellation, as Mutex::lock does. There are no spurious wake-ups.
#pragma once

#include <concepts>
#include <mutex>
#include <utility>

#include "coroutine/base/check.h"
#include "coroutine/base/deadline.h"
#include "coroutine/base/result.h"
#include "coroutine/sync/mutex.h"
#include "coroutine/wait_queue.h"

namespace corolane::coroutine {

class ConditionVariable {
 public:
  // Never suspend; the mutex need not be held. Waiters are woken in order of arrival.
  void notify_one() { waiters_.notify_one(); }
  void notify_all() { waiters_.notify_all(); }

  // Unlocks, and suspends until notified. Fails with cancelled only.
  Result<void> wait(std::unique_lock<Mutex>& lock) { return wait_until(lock, Deadline::never()); }
  // Suspends, unlocked, until `holds` returns true. Fails with cancelled only.
  template <std::predicate P>
  Result<void> wait(std::unique_lock<Mutex>& lock, P holds) {
    return wait_until(lock, Deadline::never(), std::move(holds));
  }

  // Unlocks, and suspends until notified. Fails with deadline_exceeded or cancelled.
  Result<void> wait_until(std::unique_lock<Mutex>& lock, Deadline deadline) {
    check(lock.owns_lock(), "a condition is waited for under its mutex");
    lock.unlock();
    auto waited = waiters_.wait_or_fail(deadline);
    lock.lock();
    return waited;
  }
  // Suspends, unlocked, until `holds`, which is called with the lock held, returns true. Fails
  // with deadline_exceeded or cancelled while it does not hold.
  template <std::predicate P>
  Result<void> wait_until(std::unique_lock<Mutex>& lock, Deadline deadline, P holds) {
    while (!holds()) {
      if (auto waited = wait_until(lock, deadline); !waited) {
        if (holds()) return {};
        return waited;
      }
    }
    return {};
  }

 private:
  WaitQueue waiters_{"condition variable"};
};

}  // namespace corolane::coroutine
