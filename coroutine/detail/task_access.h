// The way from templates and primitives into the scheduler and its tasks.
#pragma once

#include <cstddef>
#include <cstdint>

#include "coroutine/base/check.h"
#include "coroutine/base/result.h"
#include "coroutine/detail/task_control.h"
#include "coroutine/scheduler.h"
#include "coroutine/stack_pool.h"
#include "coroutine/stray_exception.h"
#include "coroutine/task_info.h"

namespace corolane::coroutine::detail {

// Aborts when the task, which is about to suspend, is inside a NoSuspend.
void check_may_suspend(const TaskControl& task);

class TaskAccess {
 public:
  // The task that runs; checks that it is not the loop.
  static TaskControl& running() {
    check(Scheduler::running_ != nullptr,
          "only a task may suspend, the loop may not, and a stackless coroutine co_awaits");
    return *Scheduler::running_;
  }
  static TaskControl* running_or_null() { return Scheduler::running_; }
  static Result<Stack> begin_spawn(Scheduler& scheduler, std::size_t stack_size_bytes) {
    return scheduler.begin_spawn(stack_size_bytes);
  }
  // The one that runs, be it a task or the strand of a stackless coroutine.
  static void* running_or_strand() {
    if (Scheduler::running_ != nullptr) return Scheduler::running_;
    check(Scheduler::running_strand_ != nullptr, "a task or a stackless coroutine runs");
    return Scheduler::running_strand_;
  }
  static void finish_spawn(Scheduler& scheduler, TaskControl& task) {
    scheduler.finish_spawn(task);
  }
  static void drop_reference(TaskControl& task) { task.scheduler.drop_reference(task); }

  // Puts the running task behind all that is ready; returns the flags it has afterwards, and does
  // not suspend it if it had some before.
  //
  // Written for the cache and for the processor's foresight. The control block is not touched: of
  // tens of thousands of tasks none is in the cache, and two lines of each, its saved registers,
  // are all that a switch needs. The scheduler is found through the thread, so that the way to the
  // task after next does not begin in registers that have just been loaded from the stack.
  [[gnu::always_inline]] static std::uint8_t yield() {
    TaskControl& task = running();
    Scheduler& scheduler = *Scheduler::current_;
    if (scheduler.flagged_count_ == 0 || task.flags == 0) [[likely]] {
      scheduler.suspend(task, scheduler.ready_.push(&task, nullptr).frame);
    }
    return Scheduler::current_->flagged_count_ == 0 ? std::uint8_t{0} : Scheduler::running_->flags;
  }
  // Instead of finish_spawn(), when there is no task after all.
  static void give_up_spawn(Scheduler& scheduler, const Stack& stack) {
    scheduler.give_up_spawn(stack);
  }
  static void inherit_locals(TaskControl& child) {
    const TaskControl* const parent = Scheduler::running_;
    if (parent != nullptr && parent->has_locals) child.begin_locals().inherit(parent->locals());
  }

  // Suspends the running task until somebody makes it ready.
  [[gnu::always_inline]] static void suspend(TaskControl& task, TaskState state) {
    if ((task.flags & TaskHead::no_suspend_flag) != 0) [[unlikely]] {
      check_may_suspend(task);
    }
    task.state = state;
    task.state_since = task.scheduler.turn_time_;
    task.scheduler.suspend(task, task.frame);
  }
  static void make_ready(TaskControl& task) {
    task.state = TaskState::ready;
    task.state_since = task.scheduler.turn_time_;
    task.scheduler.ready_.push(&task, task.frame);
  }

  static void tell_of_stray_exception(TaskControl& task, const StrayException& stray) {
    ++task.scheduler.statistics_.stray_exception_count;
    task.scheduler.options_.on_stray_exception(stray);
  }
};

}  // namespace corolane::coroutine::detail
