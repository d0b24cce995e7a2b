// SPDX-License-Identifier: MIT
// A number of resources that tasks share, such as connections to a database: shaped like
// std::counting_semaphore, for tasks of one scheduler.
//
//   Semaphore slots(/*count=*/8);
//   if (auto acquired = slots.acquire(deadline); !acquired) return acquired.error();
//   auto answer = query_database();
//   slots.release();
//
// First come, first served: a released one goes to the longest waiter; a latecomer cannot snatch
// it.
#pragma once

#include <cstddef>

#include "coroutine/base/deadline.h"
#include "coroutine/base/result.h"
#include "coroutine/operation.h"
#include "coroutine/wait_queue.h"

namespace corolane::coroutine {

class Semaphore {
 public:
  // `waited_for` is what introspection shows of the waiting tasks; it outlives the semaphore.
  explicit Semaphore(std::size_t count, const char* waited_for = "semaphore")
      : count_(count), waiters_(waited_for) {}

  // How many can be acquired now.
  std::size_t count() const { return count_; }

  // Suspends while there is none; cancellation does not end it.
  void acquire() {
    if (!try_acquire()) waiters_.wait(Deadline::never(), Cancellation::ignore);
  }
  // Suspends while there is none. Fails with deadline_exceeded or cancelled.
  Result<void> acquire(Deadline deadline) { return perform(acquiring(), deadline); }

  // Never suspends.
  bool try_acquire() {
    if (count_ == 0) return false;
    --count_;
    return true;
  }
  // Suspend while there is none; false when the deadline passed or the task was cancelled.
  bool try_acquire_until(Deadline deadline) { return acquire(deadline).has_value(); }
  bool try_acquire_for(Duration patience) { return try_acquire_until(Deadline::after(patience)); }

  // Never suspends; may be called from the loop, and by tasks that have not acquired one.
  void release(std::size_t update = 1) {
    while (update > 0 && waiters_.notify_one()) --update;
    count_ += update;
  }

  // The same as an operation, for select() and stackless coroutines.
  class Acquiring {
   public:
    using Value = void;

    explicit Acquiring(Semaphore& semaphore) : semaphore_(semaphore) {}
    bool try_complete() { return semaphore_.try_acquire(); }
    WaitQueue& queue() { return semaphore_.waiters_; }
    void* slot() { return nullptr; }
    Result<void> finish() { return {}; }

   private:
    Semaphore& semaphore_;
  };
  Acquiring acquiring() { return Acquiring(*this); }

 private:
  std::size_t count_;  // Zero while there are waiters.
  WaitQueue waiters_;
};

}  // namespace corolane::coroutine
