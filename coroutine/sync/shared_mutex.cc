// SPDX-License-Identifier: MIT
#include "coroutine/sync/shared_mutex.h"

#include "coroutine/base/check.h"
#include "coroutine/detail/task_access.h"
#include "coroutine/might_suspend.h"

namespace corolane::coroutine {

struct SharedMutex::Waiter {
  Mode mode;
  detail::TaskControl& task;
};

SharedMutex::~SharedMutex() {
  check(writer_ == nullptr && reader_count_ == 0, "a mutex is unlocked before it is destroyed");
}

void SharedMutex::lock() { lock_until(Mode::exclusive, Deadline::never(), Cancellation::ignore); }

bool SharedMutex::try_lock() {
  return lock_until(Mode::exclusive, Deadline::passed(), Cancellation::ignore);
}

bool SharedMutex::try_lock_until(Deadline deadline) {
  return lock_until(Mode::exclusive, deadline, Cancellation::observe);
}

void SharedMutex::unlock() {
  check(writer_ == &detail::TaskAccess::running(), "a mutex is unlocked by the task that holds it");
  writer_ = nullptr;
  admit();
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

void SharedMutex::unlock_shared() {
  check(reader_count_ > 0, "a mutex is unlocked by a task that holds it");
  --reader_count_;
  admit();
}

bool SharedMutex::lock_until(Mode mode, Deadline deadline, Cancellation cancellation) {
  Waiter waiter{mode, detail::TaskAccess::running()};
  check(writer_ != &waiter.task, "a task does not lock a mutex that it holds already");
  if (waiters_.empty() && has_room_for(mode)) might_suspend(deadline, cancellation);
  admit();  // A writer that gave up may not have run yet: admit the readers behind it.
  if (waiters_.empty() && has_room_for(mode)) {
    enter(waiter);
    might_suspend(deadline, cancellation);
    return true;
  }
  if (waiters_.wait(deadline, cancellation, &waiter) == Wake::notified) return true;
  // A writer that gave up no longer blocks the readers behind it.
  admit();
  return false;
}

bool SharedMutex::has_room_for(Mode mode) const {
  return writer_ == nullptr && (mode == Mode::shared || reader_count_ == 0);
}

void SharedMutex::enter(const Waiter& waiter) {
  if (waiter.mode == Mode::exclusive) {
    writer_ = &waiter.task;
  } else {
    ++reader_count_;
  }
}

void SharedMutex::admit() {
  while (!waiters_.empty()) {
    const auto& first = *static_cast<const Waiter*>(waiters_.front_slot());
    if (!has_room_for(first.mode)) return;
    enter(first);
    waiters_.notify_one();
  }
}

}  // namespace corolane::coroutine
