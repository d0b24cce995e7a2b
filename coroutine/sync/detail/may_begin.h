// SPDX-License-Identifier: MIT
// The first step of a call that spawns tasks and waits for them.
#pragma once

#include "coroutine/base/deadline.h"
#include "coroutine/base/result.h"
#include "coroutine/task.h"
#include "coroutine/wait_queue.h"

namespace corolane::coroutine::detail {

// Fails with cancelled or deadline_exceeded when the caller already is: it would cancel the tasks
// at once, and has to wait for them all the same. `what` names the wait.
inline Result<void> may_begin(Deadline deadline, const char* what) {
  if (is_cancelled()) return wake_error(Wake::cancelled, what);
  if (deadline.has_passed()) return wake_error(Wake::deadline, what);
  return {};
}

}  // namespace corolane::coroutine::detail
