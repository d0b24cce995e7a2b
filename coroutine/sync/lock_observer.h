// SPDX-License-Identifier: MIT
// Sees the tasks of a scheduler wait for a Mutex or a SharedMutex: for tracing.
//
//   struct Timed final : LockObserver::Wait {
//     ~Timed() override { note(now() - start); }
//     const TimePoint start = now();
//   };
//   struct Observer final : LockObserver {
//     std::unique_ptr<Wait> begin(const LockWait&) override { return std::make_unique<Timed>(); }
//   };
//   Observer observer;
//   auto observation = Scheduler::current().record(observer);
//
// A lock that is free costs nothing more than without an observer, and one that is not a load and a
// branch while there is none. Stackless coroutines and select() are not observed, nor are locks
// that say so (SharedMutex::Unobserved).
#pragma once

#include <memory>
#include <source_location>
#include <string>

#include "coroutine/detail/known_queue.h"

namespace corolane::coroutine {

// A lock that the running task is about to wait for.
class LockWait {
 public:
  explicit LockWait(const detail::KnownQueue& queue) : queue_(queue) {}

  // The name that the lock was made with, and the place of that.
  const char* name() const { return queue_.waited_for(); }
  const std::source_location& site() const { return queue_.site(); }
  // The name of the task that holds it. Empty when readers or a stackless coroutine hold it, and
  // for a task that is older than some thousands of others. Looks at all tasks that are younger
  // than the holder, in some nanoseconds each.
  std::string holder() const;

 private:
  const detail::KnownQueue& queue_;
};

class LockObserver {
 public:
  // Ends with the wait, in the task that waits.
  class Wait {
   public:
    virtual ~Wait() = default;

   protected:
    Wait() = default;
    Wait(const Wait&) = default;
    Wait& operator=(const Wait&) = default;
  };

  // Called by the task that waits; must not suspend. Null: this wait does not matter.
  virtual std::unique_ptr<Wait> begin(const LockWait& lock) = 0;

 protected:
  ~LockObserver() = default;
};

}  // namespace corolane::coroutine
