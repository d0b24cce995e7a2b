// SPDX-License-Identifier: MIT
#include "coroutine/detail/group_end.h"

#include "coroutine/might_suspend.h"

namespace corolane::coroutine::detail {

Result<void> GroupEnd::wait(Deadline deadline) {
  if (child_count_ == 0) might_suspend(deadline);
  // More may be spawned between the end of the last child and our turn.
  while (child_count_ > 0) {
    if (auto waited = all_ended_.wait_or_fail(deadline); !waited) return waited;
  }
  return {};
}

Result<void> GroupEnd::join(Deadline deadline) {
  if (auto waited = wait(deadline); !waited) return waited;
  return take_first_error();
}

void GroupEnd::join_cancelled() {
  cancels_new_ = true;
  while (child_count_ > 0) all_ended_.wait(Deadline::never(), Cancellation::ignore);
  cancels_new_ = false;
}

}  // namespace corolane::coroutine::detail
