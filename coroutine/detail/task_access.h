// Gives templates and primitives access to the scheduler and its tasks, and holds the scheduler's
// inlined functions.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <source_location>

#include "coroutine/base/check.h"
#include "coroutine/base/result.h"
#include "coroutine/detail/lock_watch.h"
#include "coroutine/detail/ready_ring.h"
#include "coroutine/detail/task_control.h"
#include "coroutine/scheduler.h"
#include "coroutine/stack/detail/context_switch.h"
#include "coroutine/stack/detail/valgrind.h"
#include "coroutine/stack/stack_pool.h"
#include "coroutine/stray_exception.h"
#include "coroutine/task_info.h"

namespace corolane::coroutine {

[[gnu::always_inline]] inline void Scheduler::suspend(detail::TaskControl& running, void*& frame) {
  detail::LockWatch::check_none_is_held();
  if (--steps_left_ == 0) [[unlikely]] {
    return suspend_slowly(running, frame);
  }
  if (!has_next_task()) return suspend_slowly(running, frame);
  const detail::ReadyRing::Entry next = take_next_task();
  if (next.owner == &running) return;
  detail::ContextSwitch::switch_to(running, frame, *running_, next.frame);
}

inline bool Scheduler::has_next_task() const {
  return !ready_.empty() && !ready_.front().is_stackless();
}

[[gnu::always_inline]] inline detail::ReadyRing::Entry Scheduler::take_next() {
  const detail::ReadyRing::Entry next = ready_.pop();
  // The signal handler of the CPU meter may look at it from here on.
  std::atomic_signal_fence(std::memory_order_release);
  running_ = static_cast<detail::TaskControl*>(next.owner);
  return next;
}

[[gnu::always_inline]] inline detail::ReadyRing::Entry Scheduler::take_next_task() {
  detail::ReadyRing::Entry next = take_next();
  if (next.is_fresh()) [[unlikely]] {
    next.frame = begin_stack(*running_);
  }
  return next;
}

inline Result<Stack> Scheduler::begin_spawn(const TaskOptions& options) {
  if (--next_create_sample_ == 0) [[unlikely]] {
    begin_create_sample();
  }
  // Only the sanitizer's addition is capped at the largest size; a task that asks for more is
  // refused.
  const std::size_t instrumented_size_bytes = std::min(
      options.stack_size_bytes * detail::stack_size_factor, StackPool::stack_size_bytes_max);
  auto stack =
      stacks_.acquire(std::max(options.stack_size_bytes, instrumented_size_bytes), options.purpose);
  if (!stack) [[unlikely]] {
    create_sample_start_ = 0;
  }
#if !defined(NDEBUG)
  // Debug builds only: even without valgrind it would cost more than a switch.
  if (stack) {
    detail::Valgrind::begin_use(stack->base, static_cast<std::size_t>(stack->top - stack->base));
  }
#endif
  return stack;
}

inline void Scheduler::finish_spawn(detail::TaskControl& task) {
  task.top().id = ++last_task_id_;
  all_tasks_.push_back(task);
  statistics_.task_count_peak = std::max(statistics_.task_count_peak, ++statistics_.task_count);
  sites_.spawned(task);
  ready_.reserve(statistics_.task_count + ready_strand_count_);
  ready_.push_fresh(&task);
  if (create_sample_start_ != 0) [[unlikely]] {
    end_create_sample();
  }
}

inline void Scheduler::drop_reference(detail::TaskControl& task) {
  if (task.reference_count > 1) {
    --task.reference_count;
    return;
  }
  check(task.is_member || task.joiners.empty(), "no task waits for a task that is gone");
  if (task.flags != 0) --flagged_count_;
  static_cast<detail::ListNode<detail::AllTasksTag>&>(task).unlink();
  --statistics_.task_count;
  stacks_.release(task.stack());
}

namespace detail {

inline TaskControl::TaskControl(Scheduler& owner, const Stack& own_stack, TaskGroup* group,
                                const std::source_location& site, Run run_it)
    : TaskHead(owner, owner.turn_time(), own_stack, group != nullptr, run_it),
      stack_top(own_stack.top) {
  new (&top()) TaskTop(owner.turn_time(), site);
  if (is_member) {
    std::construct_at(&membership, *group, *this);
  } else {
    std::construct_at(&joiners, "end of a task");
    reference_count = 2;
  }
}

// Aborts when the task, which is about to suspend, is inside a NoSuspend.
void check_may_suspend(const TaskControl& task);

class TaskAccess {
 public:
  // The running task; checks that it is not the loop.
  static TaskControl& running() {
    check(Scheduler::running_ != nullptr,
          "only a task may suspend, the loop may not, and a stackless coroutine co_awaits");
    return *Scheduler::running_;
  }
  static TaskControl* running_or_null() { return Scheduler::running_; }
  static Result<Stack> begin_spawn(Scheduler& scheduler, const TaskOptions& options) {
    return scheduler.begin_spawn(options);
  }
  // The running task, or the strand of the running stackless coroutine.
  static void* running_or_strand() {
    if (Scheduler::running_ != nullptr) return Scheduler::running_;
    check(Scheduler::running_strand_ != nullptr, "a task or a stackless coroutine runs");
    return Scheduler::running_strand_;
  }
  static void finish_spawn(Scheduler& scheduler, TaskControl& task) {
    scheduler.finish_spawn(task);
  }
  // Replaces finish_spawn() when the task could not be made.
  static void give_up_spawn(Scheduler& scheduler, const Stack& stack) {
    scheduler.give_up_spawn(stack);
  }
  static void drop_reference(TaskControl& task) { task.scheduler.drop_reference(task); }

  // Puts the running task behind all that is ready and returns the flags that it has afterwards. A
  // task that already had flags is not suspended.
  //
  // Written for the cache and for branch prediction. The control block is not touched: with tens of
  // thousands of tasks none is in the cache, and a switch needs only two lines of each, its saved
  // registers. The scheduler is found through the thread, so that the path to the task after next
  // does not start from registers that were just loaded from the stack.
  [[gnu::always_inline]] static std::uint8_t yield() {
    TaskControl& task = running();
    Scheduler& scheduler = *Scheduler::current_;
    if (scheduler.flagged_count_ == 0 || task.flags == 0) [[likely]] {
      scheduler.suspend(task, scheduler.ready_.push(&task, nullptr).frame);
    }
    return Scheduler::current_->flagged_count_ == 0 ? std::uint8_t{0} : Scheduler::running_->flags;
  }
  static void inherit_locals(TaskControl& child) {
    const TaskControl* const parent = Scheduler::running_;
    if (parent != nullptr && parent->has_locals) child.begin_locals().inherit(parent->locals());
  }

  // Suspends the running task until it is made ready.
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

  static void tell_of_stray_exception(Scheduler& scheduler, const StrayException& stray) {
    ++scheduler.statistics_.stray_exception_count;
    scheduler.options_.on_stray_exception(stray);
  }
};

}  // namespace detail
}  // namespace corolane::coroutine
