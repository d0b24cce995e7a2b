// SPDX-License-Identifier: MIT
// A part of the running task that behaves like a task of its own at a lower price: it can be
// cancelled alone, and has its own task-local values.
//
//   CancelScope part(deadline);
//   auto result = handler.run();            // Suspends at will.
//   if (part.is_cancelled()) ...
//
// For a call on another's behalf, such as that of an object which lives here: it must end at the
// caller's deadline or when the object goes, but the caller continues. It has no stack of its own,
// unlike a task, so mind has_stack_left().
#pragma once

#include <cstddef>

#include "coroutine/base/deadline.h"
#include "coroutine/detail/task_locals.h"
#include "coroutine/timer_wheel.h"

namespace corolane::coroutine {
class CancelScope;

namespace detail {

struct TaskControl;

void arm_late_timers(TaskControl& task);

// The values of a part.
struct PartLocals : TaskLocals {
  PartLocals(TaskLocals* outer, CancelScope& its_part) : TaskLocals(outer), part(its_part) {}

  CancelScope& part;
};

}  // namespace detail

// Belongs to the task that made it; nested parts end in reverse order. Begins with the values that
// a spawned task would inherit, as copies of its own, each made when the part first asks for it;
// values of the part are destroyed at its end, which may suspend.
class [[nodiscard]] CancelScope : private Timer {
 public:
  // Is cancelled at the deadline.
  explicit CancelScope(Deadline deadline);
  ~CancelScope();
  CancelScope(const CancelScope&) = delete;
  CancelScope& operator=(const CancelScope&) = delete;

  // Like Task::cancel(): callable from other tasks and from the loop; never suspends. The task
  // counts as cancelled until the part ends; its own state is unchanged afterwards.
  void cancel();
  bool is_cancelled() const { return is_cancelled_; }

 private:
  friend void detail::arm_late_timers(detail::TaskControl& task);

  // The part that has these values; null when the task itself has them.
  static CancelScope* part_of(detail::TaskControl& task, detail::TaskLocals* locals);
  static void arm_late(CancelScope* part);

  detail::TaskControl& task_;
  bool is_cancelled_ = false;
  // Most parts end before they suspend, so the timer is armed when that happens. Until then it
  // keeps its planned deadline; the outer parts may be late, too.
  bool is_late_ = true;
  const bool is_in_late_one_;               // The task had late timers before.
  detail::TaskLocals* const outer_locals_;  // Null when the task had none.
  detail::PartLocals locals_;
};

// Whether the running task has three quarters of `stack_size_bytes` left: as good as a newly
// spawned task with that stack size.
bool has_stack_left(std::size_t stack_size_bytes);

}  // namespace corolane::coroutine
