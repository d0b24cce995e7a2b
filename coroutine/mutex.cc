#include "coroutine/mutex.h"

#include "coroutine/base/check.h"
#include "coroutine/detail/task_frame.h"

namespace corolane::coroutine {

Mutex::~Mutex() { check(owner_ == nullptr, "a mutex is unlocked before it is destroyed"); }

void Mutex::lock() { lock_until(Deadline::never(), Cancellation::ignore); }

bool Mutex::try_lock() { return lock_until(Deadline::passed(), Cancellation::ignore); }

bool Mutex::try_lock_until(Deadline deadline) {
  return lock_until(deadline, Cancellation::observe);
}

bool Mutex::lock_until(Deadline deadline, Cancellation cancellation) {
  detail::TaskControl& task = detail::TaskAccess::running();
  check(owner_ != &task, "a task does not lock a mutex that it holds already");
  if (owner_ == nullptr) {
    owner_ = &task;
    return true;
  }
  return waiters_.wait(deadline, cancellation, &task) == Wake::notified;
}

void Mutex::unlock() {
  check(owner_ == &detail::TaskAccess::running(), "a mutex is unlocked by the task that holds it");
  owner_ = nullptr;
  if (waiters_.empty()) return;
  owner_ = static_cast<detail::TaskControl*>(waiters_.front_slot());
  waiters_.notify_one();
}

}  // namespace corolane::coroutine
