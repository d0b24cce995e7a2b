// SPDX-License-Identifier: MIT
#include "coroutine/cancel_scope.h"

#include <atomic>

#include "coroutine/base/check.h"
#include "coroutine/detail/task_access.h"

namespace corolane::coroutine {

CancelScope::CancelScope(Deadline deadline)
    : Timer([](Timer& timer) { static_cast<CancelScope&>(timer).cancel(); }),
      task_(detail::TaskAccess::running()),
      is_in_late_one_((task_.flags & detail::TaskHead::late_timers_flag) != 0),
      outer_locals_(task_.has_locals ? &task_.locals() : nullptr),
      locals_(outer_locals_, *this) {
  task_.top().current_locals = &locals_;
  // A signal handler may look for a value.
  std::atomic_signal_fence(std::memory_order_release);
  task_.has_locals = true;
  plan(deadline);
  if (deadline.is_never()) return;
  if (deadline <= Deadline::at(task_.scheduler.turn_time())) {
    plan(Deadline::never());
    cancel();
  } else {
    task_.set_flag(detail::TaskHead::late_timers_flag);
  }
}

CancelScope::~CancelScope() {
  check(&task_ == &detail::TaskAccess::running() && &task_.locals() == &locals_,
        "scopes end in their task, in reverse order");
  // Destructors of values may suspend: then the timers of outer parts are armed.
  if (is_late_) {
    plan(Deadline::never());
    if (!is_in_late_one_) task_.clear_flag(detail::TaskHead::late_timers_flag);
  } else {
    Timer::cancel();
  }
  locals_.destroy_all();
  if (outer_locals_ == nullptr) {
    task_.has_locals = false;
  } else {
    task_.top().current_locals = outer_locals_;
  }
  if (is_cancelled_) task_.end_cancelled_part();
}

void CancelScope::cancel() {
  if (is_cancelled_) return;
  is_cancelled_ = true;
  task_.cancel_part();
}

CancelScope* CancelScope::part_of(detail::TaskControl& task, detail::TaskLocals* locals) {
  if (locals == nullptr || locals == &task.top().locals.value) return nullptr;
  return &static_cast<detail::PartLocals*>(locals)->part;
}

// The outer ones first, as if each had been armed when it began.
void CancelScope::arm_late(CancelScope* part) {
  if (part == nullptr || !part->is_late_) return;
  part->is_late_ = false;
  arm_late(part_of(part->task_, part->outer_locals_));
  part->task_.scheduler.timers().arm(*part, part->planned());
}

void detail::arm_late_timers(TaskControl& task) {
  task.clear_flag(TaskHead::late_timers_flag);
  CancelScope::arm_late(CancelScope::part_of(task, &task.locals()));
}

bool has_stack_left(std::size_t stack_size_bytes) {
  const Stack stack = detail::TaskAccess::running().stack();
  const auto* const here = static_cast<const std::byte*>(__builtin_frame_address(0));
  const auto left = static_cast<std::size_t>(here - stack.base);
  return left * 4 >= stack_size_bytes * detail::stack_size_factor * 3;
}

}  // namespace corolane::coroutine
