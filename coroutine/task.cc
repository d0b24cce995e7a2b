#include "coroutine/task.h"

namespace corolane::coroutine {

Result<void> sleep_until(Deadline deadline) {
  WaitQueue nobody("sleep");
  if (nobody.wait(deadline) == Wake::cancelled) return wake_error(Wake::cancelled, "sleep");
  return {};
}

}  // namespace corolane::coroutine
