// Catches a task that suspends, or ends, while it holds a std::mutex: in debug builds.
//
// A std::mutex belongs to the thread. When its holder suspends, the next task that locks it blocks
// the thread, and with it the only one that could ever unlock. It happens only now and then, so
// debug builds look at every suspension: there the functions below std::mutex, std::shared_mutex
// and their like (pthread_mutex_*, pthread_rwlock_*) are ours, count what each thread holds, and
// hand on to the library.
//
// Not with sanitizers, which replace the same functions, nor in optimised builds: there all of
// this is empty.
#pragma once

#include <utility>

#include "coroutine/base/check.h"

namespace corolane::coroutine::detail {

#if defined(COROLANE_LOCK_WATCH)
inline constexpr bool has_lock_watch = true;
#else
inline constexpr bool has_lock_watch = false;
#endif

// Watches this thread for the length of a Scheduler::run(). What was locked before it was by
// somebody who does not suspend in it.
class LockWatch {
 public:
  LockWatch() : outer_count_(std::exchange(held_count, 0)) {}
  ~LockWatch() { held_count += outer_count_; }
  LockWatch(const LockWatch&) = delete;
  LockWatch& operator=(const LockWatch&) = delete;

  // Where a task leaves the thread to others.
  static void check_none_is_held() {
    if constexpr (has_lock_watch) {
      check(held_count == 0, "no std::mutex is held where a task suspends or ends");
    }
  }

  // How many locks this thread has taken and not given back, since run().
  static inline constinit thread_local int held_count = 0;

 private:
  const int outer_count_;
};

}  // namespace corolane::coroutine::detail
