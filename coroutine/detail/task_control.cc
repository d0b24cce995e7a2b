// SPDX-License-Identifier: MIT
#include "coroutine/detail/task_control.h"

#include "coroutine/detail/switcher.h"

namespace corolane::coroutine::detail {

void TaskControl::set_flag(std::uint8_t flag) {
  if (flags == 0) ++scheduler.flagged_count_;
  flags |= flag;
}

void TaskControl::clear_flag(std::uint8_t flag) {
  const bool had_flags = flags != 0;
  flags &= static_cast<std::uint8_t>(~flag);
  if (had_flags && flags == 0) --scheduler.flagged_count_;
}

void TaskControl::cancel() {
  if (state == TaskState::ended) return;
  set_flag(cancelled_flag);
  if (wait != nullptr) wait->end(Wake::cancelled);
}

void TaskControl::cancel_part() {
  check(flags < 256 - cancelled_part_unit, "at most 63 parts of a task are cancelled at once");
  if (flags == 0) ++scheduler.flagged_count_;
  flags = static_cast<std::uint8_t>(flags + cancelled_part_unit);
  if (wait != nullptr) wait->end(Wake::cancelled);
}

void TaskControl::end_cancelled_part() {
  flags = static_cast<std::uint8_t>(flags - cancelled_part_unit);
  if (flags == 0) --scheduler.flagged_count_;
}

}  // namespace corolane::coroutine::detail
