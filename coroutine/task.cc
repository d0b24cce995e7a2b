#include "coroutine/task.h"

namespace corolane::coroutine {

Result<void> yield() {
  if (is_cancelled()) return wake_error(Wake::cancelled, "yield");
  detail::TaskAccess::yield_running();
  if (is_cancelled()) return wake_error(Wake::cancelled, "yield");
  return {};
}

Result<void> sleep_until(Deadline deadline) {
  WaitQueue nobody("sleep");
  if (nobody.wait(deadline) == Wake::cancelled) return wake_error(Wake::cancelled, "sleep");
  return {};
}

bool is_cancelled() { return detail::TaskAccess::running().cancelled; }

}  // namespace corolane::coroutine
