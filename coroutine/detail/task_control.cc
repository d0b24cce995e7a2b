// SPDX-License-Identifier: MIT
#include "coroutine/detail/task_control.h"

#include "coroutine/detail/task_access.h"

namespace corolane::coroutine::detail {

void TaskControl::cancel() {
  if (state == TaskState::ended) return;
  set_flag(cancelled_flag);
  if (wait != nullptr) wait->end_by_cancellation();
}

void TaskControl::cancel_part() {
  check(cancelled_part_count < 255, "at most 255 parts of a task are cancelled at once");
  ++cancelled_part_count;
  set_flag(cancelled_part_flag);
  if (wait != nullptr) wait->end_by_cancellation();
}

void TaskControl::end_cancelled_part() {
  if (--cancelled_part_count == 0) clear_flag(cancelled_part_flag);
}

}  // namespace corolane::coroutine::detail
