// SPDX-License-Identifier: MIT
// Gives templates and primitives access to the running task and its scheduler, and holds the
// inlined functions of spawning.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <source_location>

#include "coroutine/base/check.h"
#include "coroutine/base/deadline.h"
#include "coroutine/base/result.h"
#include "coroutine/detail/spawn_site_record.h"
#include "coroutine/detail/switcher.h"
#include "coroutine/detail/task_control.h"
#include "coroutine/stack/detail/sanitizer.h"
#include "coroutine/stack/detail/valgrind.h"
#include "coroutine/stack/stack_pool.h"
#include "coroutine/task_info.h"
#include "coroutine/wait_queue.h"

namespace corolane::coroutine {
struct StrayException;
}

namespace corolane::coroutine::detail {

inline Result<Stack> Switcher::begin_spawn(const TaskOptions& options) {
  if (--next_create_sample_ == 0) [[unlikely]] {
    begin_create_sample();
  }
  std::size_t size_bytes = options.stack_size_bytes;
  // Only the sanitizer's addition is capped at the largest size; a task that asks for more is
  // refused.
  if (size_bytes <= StackPool::stack_size_bytes_max / stack_size_factor) {
    size_bytes *= stack_size_factor;
  } else if (size_bytes < StackPool::stack_size_bytes_max) {
    size_bytes = StackPool::stack_size_bytes_max;
  }
  auto stack = stacks_.acquire(size_bytes, options.purpose);
  if (!stack) [[unlikely]] {
    create_sample_start_ = 0;
  }
#if !defined(NDEBUG)
  // Debug builds only: even without valgrind it would cost more than a switch.
  if (stack) Valgrind::begin_use(stack->base, static_cast<std::size_t>(stack->top - stack->base));
#endif
  return stack;
}

inline void Switcher::finish_spawn(TaskControl& task, StackPool::Purpose purpose) {
  task.top().id = ++last_task_id_;
  all_tasks_.push_back(task);
  if (++task_count_ > task_count_peak_) task_count_peak_ = task_count_;
  if (newest_site_ == nullptr || !newest_site_->is_at(task.top().site)) find_site(task);
  task.site_record = newest_site_;
  if (++newest_site_->spawned_count == newest_site_->measured_next) [[unlikely]] {
    begin_measuring(task);
  }
  // Also for a task of control work: it may yield.
  ready_.reserve(task_count_ + ready_strand_count_);
  if (purpose == StackPool::Purpose::control) [[unlikely]] {
    task.is_control = true;
    make_control_ready(task);
  } else {
    ready_.push_fresh(&task);
  }
  if (create_sample_start_ != 0) [[unlikely]] {
    end_create_sample();
  }
}

inline void Switcher::drop_reference(TaskControl& task) {
  if (task.reference_count > 1) {
    --task.reference_count;
    return;
  }
  check(task.is_member || task.joiners.empty(), "no task waits for a task that is gone");
  if (task.flags != 0) --flagged_count_;
  static_cast<ListNode<AllTasksTag>&>(task).unlink();
  --task_count_;
  stacks_.release(task.stack());
}

inline TaskControl::TaskControl(Switcher& owner, const Stack& own_stack, TaskGroup* group,
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

inline void TaskControl::set_flag(std::uint8_t flag) {
  if (flags == 0) ++scheduler.flagged_count_;
  flags |= flag;
}

inline void TaskControl::clear_flag(std::uint8_t flag) {
  const bool had_flags = flags != 0;
  flags &= static_cast<std::uint8_t>(~flag);
  if (had_flags && flags == 0) --scheduler.flagged_count_;
}

// Aborts when the task, which is about to suspend, is inside a NoSuspend.
void check_may_suspend(const TaskControl& task);
// For a running task that has flags, and is about to suspend: both.
void prepare_suspension(TaskControl& task);

class TaskAccess {
 public:
  // The running task; checks that it is not the loop.
  static TaskControl& running() {
    check(Switcher::running_ != nullptr,
          "only a task may suspend, the loop may not, and a stackless coroutine co_awaits");
    return *Switcher::running_;
  }
  static TaskControl* running_or_null() { return Switcher::running_; }
  // For a thread that reads what belongs to another thread's task: as long as it lives, that task
  // is its running one. It must not suspend.
  class Borrowed {
   public:
    explicit Borrowed(const TaskControl* task)
        : own_(std::exchange(Switcher::running_, const_cast<TaskControl*>(task))) {}
    ~Borrowed() { Switcher::running_ = own_; }
    Borrowed(const Borrowed&) = delete;
    Borrowed& operator=(const Borrowed&) = delete;

   private:
    TaskControl* const own_;
  };
  static Result<Stack> begin_spawn(Switcher& scheduler, const TaskOptions& options) {
    return scheduler.begin_spawn(options);
  }
  // The running task, or the strand of the running stackless coroutine.
  static void* running_or_strand() {
    if (Switcher::running_ != nullptr) return Switcher::running_;
    check(Switcher::running_strand_ != nullptr, "a task or a stackless coroutine runs");
    return Switcher::running_strand_;
  }
  static void finish_spawn(Switcher& scheduler, TaskControl& task, StackPool::Purpose purpose) {
    scheduler.finish_spawn(task, purpose);
  }
  // Replaces finish_spawn() when the task could not be made.
  static void give_up_spawn(Switcher& scheduler, const Stack& stack) {
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
    Switcher& scheduler = *Switcher::current_;
    if (scheduler.flagged_count_ == 0 || task.flags == 0 || may_yield(task)) [[likely]] {
      scheduler.suspend(task, scheduler.ready_.push(&task, nullptr).frame);
    }
    return Switcher::current_->flagged_count_ == 0 ? std::uint8_t{0} : Switcher::running_->flags;
  }
  // For a task that has flags.
  static bool may_yield(TaskControl& task);
  static bool explores_suspensions() { return Switcher::explores_suspensions_; }
  // Implement might_suspend() in a scheduler that explores suspensions.
  static bool chooses_suspension();
  [[gnu::cold]] static void explore_suspension(Deadline deadline, Cancellation cancellation);
  static void inherit_locals(TaskControl& child) {
    const TaskControl* const parent = Switcher::running_;
    if (parent != nullptr && parent->has_locals) child.begin_locals().inherit(parent->locals());
  }

  // Suspends the running task until it is made ready.
  [[gnu::always_inline]] static void suspend(TaskControl& task, TaskState state) {
    if ((task.flags & (TaskHead::no_suspend_flag | TaskHead::late_timers_flag)) != 0) [[unlikely]] {
      prepare_suspension(task);
    }
    task.state = state;
    task.state_since = task.scheduler.turn_time_;
    task.scheduler.suspend(task, task.frame);
  }
  static void make_ready(TaskControl& task) {
    task.scheduler.check_thread(&task);
    task.state = TaskState::ready;
    task.state_since = task.scheduler.turn_time_;
    if (task.is_control) [[unlikely]] {
      task.scheduler.make_control_ready(task);
    } else {
      task.scheduler.note_woken();
      task.scheduler.ready_.push(&task, task.frame);
    }
  }

  // Null when nothing observes the waits for locks of the scheduler that runs on this thread.
  static LockObserver* lock_observer() { return Switcher::current_->lock_observer_; }
  // The live task whose control block is at that address, which is not followed. Looks at those
  // spawned last; null when it is none of them.
  static const TaskControl* find_young_task(const void* address);

  static void tell_of_stray_exception(Switcher& scheduler, const StrayException& stray);
  // Counts and reports a task that came close to the end of its stack.
  static void tell_if_deep(const TaskControl& task, std::size_t used_bytes, std::size_t size_bytes);
};

}  // namespace corolane::coroutine::detail
