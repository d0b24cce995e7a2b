// Keeps a state whole over suspensions: shaped like std::timed_mutex, for tasks of one scheduler.
//
// Needed only where a task suspends in the middle of a change: between two suspensions nothing
// else runs. First come, first served: unlock() hands the lock to the one that waited longest.
// Not recursive: locking twice is a deadlock, and check() says so.
#pragma once

#include "coroutine/base/deadline.h"
#include "coroutine/wait_queue.h"

namespace corolane::coroutine {

class Mutex {
 public:
  Mutex() = default;
  ~Mutex();
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  // Suspends until the lock is held; cancellation does not end it, so that std::scoped_lock works.
  void lock();
  // Never suspends.
  bool try_lock();
  // Suspend until the lock is held; false when the deadline passed or the task was cancelled.
  bool try_lock_until(Deadline deadline);
  bool try_lock_for(Duration patience) { return try_lock_until(Deadline::after(patience)); }
  // Never suspends. Only the task that holds the lock may call it.
  void unlock();

 private:
  bool lock_until(Deadline deadline, Cancellation cancellation);

  detail::TaskControl* owner_ = nullptr;
  WaitQueue waiters_{"mutex"};
};

}  // namespace corolane::coroutine
