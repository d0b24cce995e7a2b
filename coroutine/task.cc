// SPDX-License-Identifier: MIT
#include "coroutine/task.h"

namespace corolane::coroutine {

Result<void> sleep_until(Deadline deadline) {
  WaitQueue nobody("sleep");
  if (nobody.wait(deadline) == Wake::cancelled) return wake_error(Wake::cancelled, "sleep");
  return {};
}

Error detail::yield_refused() {
  check_may_suspend(TaskAccess::running());
  return wake_error(Wake::cancelled, "yield");
}

}  // namespace corolane::coroutine
