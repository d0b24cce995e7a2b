// SPDX-License-Identifier: MIT
// Guards a state across suspensions: shaped like std::timed_mutex, for tasks of one scheduler and,
// by locking(), for stackless coroutines.
//
//   std::scoped_lock lock(mutex);
//   if (auto stored = store_gold(gold - price); !stored) return stored.error();
//   gold -= price;
//
// Needed only where a task suspends in the middle of a change: between two suspensions nothing else
// runs. First come, first served: unlock() hands the lock to the longest waiter. Not recursive:
// locking twice is a deadlock, which check() reports.
#pragma once

#include <source_location>

#include "coroutine/base/deadline.h"
#include "coroutine/detail/known_queue.h"
#include "coroutine/operation.h"

namespace corolane::coroutine {

class Mutex {
 public:
  // `name` is what introspection shows of the waiting tasks, with the place where the mutex was
  // made: for a member that is the class. It outlives the mutex.
  explicit Mutex(const char* name,
                 const std::source_location& site = std::source_location::current())
      : waiters_(name, site) {}
  // Not explicit: a struct that has a mutex may be made by `{}`.
  // NOLINTNEXTLINE(google-explicit-constructor)
  Mutex(const std::source_location& site = std::source_location::current())
      : Mutex("mutex", site) {}
  ~Mutex();
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  // Suspends until the lock is held; cancellation does not end it, so that std::scoped_lock works.
  void lock();
  // Never suspends. For tasks and stackless coroutines: the loop holds no mutex.
  bool try_lock();
  // Suspend until the lock is held; false when the deadline passed or the task was cancelled.
  bool try_lock_until(Deadline deadline);
  bool try_lock_for(Duration patience) { return try_lock_until(Deadline::after(patience)); }
  // Never suspends. Only the task or stackless coroutine that holds the lock may call it.
  void unlock();

  // Locking as an operation, for select() and stackless coroutines.
  class Locking;
  Locking locking();

 private:
  bool lock_until(Deadline deadline, Cancellation cancellation);

  // Its holder is the owner. A waiter's slot holds the same kind of pointer.
  detail::KnownQueue waiters_;
};

class Mutex::Locking {
 public:
  using Value = void;

  bool can_complete() const;
  bool try_complete();
  detail::KnownQueue& queue() { return mutex_.waiters_; }
  void* slot() { return locker_; }
  Result<void> finish() { return {}; }

 private:
  friend class Mutex;
  explicit Locking(Mutex& mutex);

  Mutex& mutex_;
  void* const locker_;
};

inline Mutex::Locking Mutex::locking() { return Locking(*this); }

}  // namespace corolane::coroutine
