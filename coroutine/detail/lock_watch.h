// SPDX-License-Identifier: MIT
// Catches a task that suspends, or ends, while it holds a std::mutex: in debug builds.
//
// A std::mutex belongs to the thread. When its holder suspends, the next task that locks it blocks
// the thread, and with it the only task that could unlock. This happens rarely, so debug builds
// check every suspension: there the functions below std::mutex, std::shared_mutex and their like
// (pthread_mutex_*, pthread_rwlock_*) are ours, count the locks of each thread, and forward to the
// library. So are those that guard the first initialisation of a static local (__cxa_guard_*,
// Itanium C++ ABI 3.3.3): the next task that needs it would block the thread in the same way. A
// switch pays nothing for it: a lock lets the next switch take its slow way, which checks the
// count.
//
// These functions are a library of their own, corolane::coroutine_lock_watch, which every program
// links that is configured as Debug, whatever the other libraries are built as. Programs with a
// sanitizer do without it, since sanitizers replace the same functions.
#pragma once

#include <utility>

#include "coroutine/base/check.h"

namespace corolane::coroutine::detail {

// Watches this thread for the duration of a Scheduler::run(). Locks taken before it do not count:
// their holder does not suspend in it.
class LockWatch {
 public:
  LockWatch()
      : outer_count_(std::exchange(held_count, 0)),
        outer_initialiser_count_(std::exchange(initialiser_count, 0)) {}
  ~LockWatch() {
    held_count += outer_count_;
    initialiser_count += outer_initialiser_count_;
  }
  LockWatch(const LockWatch&) = delete;
  LockWatch& operator=(const LockWatch&) = delete;

  // Called where a task leaves the thread to others, by the slow way.
  static void check_none_is_held() {
    check(held_count == 0, "no std::mutex is held where a task suspends or ends");
    check(initialiser_count == 0, "no task suspends in the initialiser of a static local");
  }

  // Called by the lock functions, on the thread that has acquired or released.
  static void acquired();
  static void released() { --held_count; }
  // The same for the initialiser of a static local.
  static void initialiser_began();
  static void initialiser_ended() { --initialiser_count; }

  // The number of locks that this thread holds, taken since run(). Zero in a program without the
  // lock functions.
  static inline constinit thread_local int held_count = 0;
  // The number of static locals whose first initialisation this thread has begun, likewise.
  static inline constinit thread_local int initialiser_count = 0;

 private:
  const int outer_count_;
  const int outer_initialiser_count_;
};

}  // namespace corolane::coroutine::detail
