// A part of the running task that is like a task of its own, without the price of one: it can be
// cancelled alone, and has its own task-local values.
//
//   SubTask part(deadline);
//   auto result = handler.run();            // Suspends at will.
//   if (part.is_cancelled()) ...
//
// For a call on somebody's behalf, such as that of an object which lives here: it must end at the
// caller's deadline or when the object goes, but the caller goes on. What a task has beside that is
// a stack, so mind has_stack_left().
#pragma once

#include <cstddef>

#include "coroutine/base/deadline.h"
#include "coroutine/detail/task_locals.h"
#include "coroutine/timer_wheel.h"

namespace corolane::coroutine {
namespace detail {
struct TaskControl;
}

// Belongs to the task that made it and ends in it, in the opposite order. Begins with copies of the
// values that a spawned task would have; those that are set meanwhile are destroyed at its end,
// which may suspend.
class [[nodiscard]] SubTask : private Timer {
 public:
  // At the deadline it is cancelled.
  explicit SubTask(Deadline deadline = Deadline::never());
  ~SubTask();
  SubTask(const SubTask&) = delete;
  SubTask& operator=(const SubTask&) = delete;

  // As Task::cancel(): from other tasks, and from the loop; never suspends. Until its end the task
  // is cancelled, and then no more than it was before.
  void cancel();
  bool is_cancelled() const { return is_cancelled_; }

 private:
  detail::TaskControl& task_;
  bool is_cancelled_ = false;
  const bool had_locals_;
  detail::TaskLocals* const outer_locals_;
  detail::TaskLocals locals_;
};

// Whether the running task could as well have been spawned now with that stack size: three quarters
// of it are left.
bool has_stack_left(std::size_t stack_size_bytes);

}  // namespace corolane::coroutine
