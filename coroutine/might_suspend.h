// SPDX-License-Identifier: MIT
// Marks a function that may suspend, for the calls that need not.
//
//   Result<Profile> Profiles::load(PlayerId id, Deadline deadline) {
//     might_suspend(deadline);
//     if (const auto found = cache_.find(id); found != cache_.end()) return found->second;
//     return read_profile(id, deadline);
//   }
//
// Such a function mostly returns at once in a test, so the test does not notice a caller that
// trusts afterwards what it read before. In a scheduler with a shuffle seed the mark suspends now
// and then (SchedulerOptions::explores_suspensions); elsewhere it does nothing and costs a few
// instructions. Every operation of this library has one.
#pragma once

#include "coroutine/base/deadline.h"
#include "coroutine/detail/task_access.h"
#include "coroutine/wait_queue.h"

namespace corolane::coroutine {

// Never suspends where the marked call would not: inside a NoSuspend, on the loop's stack, when
// `deadline` is Deadline::passed() and, unless the call ignores cancellation, in a cancelled task.
// A stackless coroutine does not suspend either: until() explores its suspensions.
[[gnu::always_inline]] inline void might_suspend(
    Deadline deadline = Deadline::never(), Cancellation cancellation = Cancellation::observe) {
  if (detail::TaskAccess::explores_suspensions()) [[unlikely]] {
    detail::TaskAccess::explore_suspension(deadline, cancellation);
  }
}

}  // namespace corolane::coroutine
