// SPDX-License-Identifier: MIT
#include "coroutine/sync/mutex.h"

#include "coroutine/base/check.h"
#include "coroutine/detail/lock_queue.h"
#include "coroutine/detail/task_access.h"
#include "coroutine/might_suspend.h"

namespace corolane::coroutine {

Mutex::~Mutex() { check(waiters_.holder == nullptr, "a mutex is unlocked before it is destroyed"); }

void Mutex::lock() { lock_until(Deadline::never(), Cancellation::ignore); }

bool Mutex::try_lock() { return locking().try_complete(); }

bool Mutex::try_lock_until(Deadline deadline) {
  return lock_until(deadline, Cancellation::observe);
}

bool Mutex::lock_until(Deadline deadline, Cancellation cancellation) {
  detail::TaskControl& task = detail::TaskAccess::running();
  if (locking().can_complete()) might_suspend(deadline, cancellation);
  if (!locking().try_complete()) {
    return detail::wait_for_lock(waiters_, deadline, cancellation, &task) == Wake::notified;
  }
  might_suspend(deadline, cancellation);
  return true;
}

void Mutex::unlock() {
  check(waiters_.holder == detail::TaskAccess::running_or_strand(),
        "a mutex is unlocked by the task that holds it");
  waiters_.holder = nullptr;
  if (waiters_.empty()) return;
  waiters_.holder = waiters_.front_slot();
  waiters_.notify_one();
}

Mutex::Locking::Locking(Mutex& mutex)
    : mutex_(mutex), locker_(detail::TaskAccess::running_or_strand()) {}

bool Mutex::Locking::can_complete() const { return mutex_.waiters_.holder == nullptr; }

bool Mutex::Locking::try_complete() {
  check(mutex_.waiters_.holder != locker_, "a task does not lock a mutex that it holds already");
  if (mutex_.waiters_.holder != nullptr) return false;
  mutex_.waiters_.holder = locker_;
  return true;
}

}  // namespace corolane::coroutine
