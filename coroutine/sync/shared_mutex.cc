// SPDX-License-Identifier: MIT
#include "coroutine/sync/shared_mutex.h"

#include "coroutine/detail/lock_queue.h"
#include "coroutine/might_suspend.h"

namespace corolane::coroutine {

struct SharedMutex::Waiter {
  Mode mode;
  detail::TaskControl& task;
};

SharedMutex::~SharedMutex() {
  check(waiters_.holder == nullptr && reader_count_ == 0,
        "a mutex is unlocked before it is destroyed");
}

void SharedMutex::lock() { lock_until(Mode::exclusive, Deadline::never(), Cancellation::ignore); }

bool SharedMutex::try_lock() {
  return lock_until(Mode::exclusive, Deadline::passed(), Cancellation::ignore);
}

bool SharedMutex::try_lock_until(Deadline deadline) {
  return lock_until(Mode::exclusive, deadline, Cancellation::observe);
}

void SharedMutex::lock_shared() {
  lock_until(Mode::shared, Deadline::never(), Cancellation::ignore);
}

bool SharedMutex::try_lock_shared() {
  return lock_until(Mode::shared, Deadline::passed(), Cancellation::ignore);
}

bool SharedMutex::try_lock_shared_until(Deadline deadline) {
  return lock_until(Mode::shared, deadline, Cancellation::observe);
}

bool SharedMutex::lock_until(Mode mode, Deadline deadline, Cancellation cancellation) {
  Waiter waiter{mode, detail::TaskAccess::running()};
  check(waiters_.holder != &waiter.task, "a task does not lock a mutex that it holds already");
  if (waiters_.empty() && has_room_for(mode)) might_suspend(deadline, cancellation);
  admit();  // A writer that gave up may not have run yet: admit the readers behind it.
  if (waiters_.empty() && has_room_for(mode)) {
    enter(waiter.mode, waiter.task);
    might_suspend(deadline, cancellation);
    return true;
  }
  const Wake wake = is_observed_ ? detail::wait_for_lock(waiters_, deadline, cancellation, &waiter)
                                 : waiters_.wait(deadline, cancellation, &waiter);
  if (wake == Wake::notified) return true;
  // A writer that gave up no longer blocks the readers behind it.
  admit();
  return false;
}

void SharedMutex::admit() {
  while (!waiters_.empty()) {
    const auto& first = *static_cast<const Waiter*>(waiters_.front_slot());
    if (!has_room_for(first.mode)) return;
    enter(first.mode, first.task);
    waiters_.notify_one();
  }
}

}  // namespace corolane::coroutine
