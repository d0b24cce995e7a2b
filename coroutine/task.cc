// SPDX-License-Identifier: MIT
#include "coroutine/task.h"

#include "coroutine/might_suspend.h"

namespace corolane::coroutine {

Result<void> sleep_until(Deadline deadline) {
  WaitQueue nobody("sleep");
  const Wake wake = nobody.wait(deadline);
  if (wake == Wake::cancelled) return wake_error(Wake::cancelled, "sleep");
  might_suspend(deadline);
  return {};
}

Error detail::yield_refused() {
  check_may_suspend(TaskAccess::running());
  return wake_error(Wake::cancelled, "yield");
}

}  // namespace corolane::coroutine
