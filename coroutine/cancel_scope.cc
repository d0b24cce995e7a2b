// SPDX-License-Identifier: MIT
#include "coroutine/cancel_scope.h"

#include <atomic>

#include "coroutine/base/check.h"
#include "coroutine/detail/task_access.h"

namespace corolane::coroutine {

CancelScope::CancelScope(Deadline deadline)
    : Timer([](Timer& timer) { static_cast<CancelScope&>(timer).cancel(); }),
      task_(detail::TaskAccess::running()),
      outer_locals_(task_.has_locals ? &task_.locals() : nullptr),
      locals_(outer_locals_) {
  task_.top().current_locals = &locals_;
  // A signal handler may look for a value.
  std::atomic_signal_fence(std::memory_order_release);
  task_.has_locals = true;
  if (deadline.is_never()) return;
  if (deadline <= Deadline::at(task_.scheduler.turn_time())) {
    cancel();
  } else {
    task_.scheduler.timers().arm(*this, deadline);
  }
}

CancelScope::~CancelScope() {
  check(&task_ == &detail::TaskAccess::running() && &task_.locals() == &locals_,
        "scopes end in their task, in reverse order");
  Timer::cancel();
  locals_.destroy_all();
  task_.has_locals = outer_locals_ != nullptr;
  task_.top().current_locals = outer_locals_;
  if (is_cancelled_) task_.end_cancelled_part();
}

void CancelScope::cancel() {
  if (is_cancelled_) return;
  is_cancelled_ = true;
  task_.cancel_part();
}

bool has_stack_left(std::size_t stack_size_bytes) {
  const Stack stack = detail::TaskAccess::running().stack();
  const auto* const here = static_cast<const std::byte*>(__builtin_frame_address(0));
  const auto left = static_cast<std::size_t>(here - stack.base);
  return left * 4 >= stack_size_bytes * detail::stack_size_factor * 3;
}

}  // namespace corolane::coroutine
