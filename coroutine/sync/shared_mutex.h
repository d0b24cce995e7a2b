// SPDX-License-Identifier: MIT
// Guards a state that many tasks read and few change, across suspensions: shaped like
// std::shared_timed_mutex, for tasks of one scheduler.
//
//   SharedMutex mutex;
//   auto reader = spawn("reader", [&] {
//     std::shared_lock lock(mutex);
//     return draw(world, deadline);
//   });
//   std::scoped_lock lock(mutex);
//   change(world, deadline);
//
// First come, first served: a writer that waits holds up the readers behind it, so that neither
// side starves. Hence not recursive, for readers either: with a writer in between, the second
// lock_shared() of a task would wait for its first.
#pragma once

#include <cstdint>
#include <source_location>

#include "coroutine/base/check.h"
#include "coroutine/base/deadline.h"
#include "coroutine/detail/known_queue.h"
#include "coroutine/detail/task_access.h"

namespace corolane::coroutine {

class SharedMutex {
 public:
  // They take the same as those of a Mutex, for the same reasons.
  explicit SharedMutex(const char* name,
                       const std::source_location& site = std::source_location::current())
      : waiters_(name, site) {}
  // NOLINTNEXTLINE(google-explicit-constructor)
  SharedMutex(const std::source_location& site = std::source_location::current())
      : SharedMutex("shared mutex", site) {}
  // For a lock whose owner observes the waits for it: LockObserver (lock_observer.h) does not.
  struct Unobserved {};
  SharedMutex(const char* name, Unobserved,
              const std::source_location& site = std::source_location::current())
      : is_observed_(false), waiters_(name, site) {}
  ~SharedMutex();
  SharedMutex(const SharedMutex&) = delete;
  SharedMutex& operator=(const SharedMutex&) = delete;

  // Suspends until the lock is held; cancellation does not end it, so that std::scoped_lock works.
  void lock();
  // Never suspends; false also when others wait. For tasks only, as are all of these functions.
  bool try_lock();
  // Suspend until the lock is held; false when the deadline passed or the task was cancelled.
  bool try_lock_until(Deadline deadline);
  bool try_lock_for(Duration patience) { return try_lock_until(Deadline::after(patience)); }
  // Never suspends. Only the task that holds the lock may call it.
  void unlock() {
    check(waiters_.holder == &detail::TaskAccess::running(),
          "a mutex is unlocked by the task that holds it");
    waiters_.holder = nullptr;
    if (!waiters_.empty()) admit();
  }

  // The same, for a lock that is shared with other readers.
  void lock_shared();
  bool try_lock_shared();
  bool try_lock_shared_until(Deadline deadline);
  bool try_lock_shared_for(Duration patience) {
    return try_lock_shared_until(Deadline::after(patience));
  }
  void unlock_shared() {
    check(reader_count_ > 0, "a mutex is unlocked by a task that holds it");
    --reader_count_;
    if (!waiters_.empty()) admit();
  }

  // Shortcuts for a caller that goes on with try_lock_until() when they return false: they take a
  // lock that is free, except in a scheduler that explores suspensions (might_suspend.h).
  bool try_shortcut() { return take_free(Mode::exclusive); }
  bool try_shared_shortcut() { return take_free(Mode::shared); }

  // Whether a task waits for the lock.
  bool has_waiters() const { return !waiters_.empty(); }

 private:
  enum class Mode : std::uint8_t { exclusive, shared };
  struct Waiter;

  bool take_free(Mode mode) {
    const bool is_free = waiters_.empty() && has_room_for(mode);
    if (!is_free || detail::TaskAccess::explores_suspensions()) [[unlikely]]
      return false;
    enter(mode, detail::TaskAccess::running());
    return true;
  }
  bool lock_until(Mode mode, Deadline deadline, Cancellation cancellation);
  bool has_room_for(Mode mode) const {
    return waiters_.holder == nullptr && (mode == Mode::shared || reader_count_ == 0);
  }
  void enter(Mode mode, detail::TaskControl& task) {
    if (mode == Mode::exclusive) {
      waiters_.holder = &task;
    } else {
      ++reader_count_;
    }
  }
  // Admits waiters from the head of the queue while there is room for them.
  void admit();

  std::uint32_t reader_count_ = 0;
  const bool is_observed_ = true;
  detail::KnownQueue waiters_;  // Its holder is the writer.
};

}  // namespace corolane::coroutine
