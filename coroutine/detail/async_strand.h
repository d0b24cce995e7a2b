// A line of execution without a stack: a stackless coroutine and those that it awaits, one below
// the other, of which the lowest runs or waits.
//
// To the scheduler it is what a task is: it stands in the ready ring, waits, is cancelled, holds
// a mutex. At most one of its coroutines waits at any time, so what that needs is here, once, and
// not in the frame of each.
#pragma once

#include <atomic>
#include <coroutine>
#include <cstdint>
#include <span>
#include <utility>

#include "coroutine/base/deadline.h"
#include "coroutine/base/error.h"
#include "coroutine/detail/list.h"
#include "coroutine/detail/ready_ring.h"
#include "coroutine/detail/wait.h"
#include "coroutine/scheduler.h"
#include "coroutine/stack/detail/sanitizer.h"
#include "coroutine/wait_queue.h"

namespace corolane::coroutine::detail {

class Strand : public Wait {
 public:
  // The one that runs: only a strand resumes a coroutine, so to whoever is one there is one.
  static Strand& running() { return *Scheduler::running_strand_; }
  // The task that runs, or that awaits the strand which does; null on behalf of nobody.
  // Async-signal-safe, as is the next.
  static TaskControl* running_task() {
    if (Scheduler::running_ != nullptr) return Scheduler::running_;
    return Scheduler::running_strand_ == nullptr ? nullptr : Scheduler::running_strand_->task();
  }
  // The same, if it is its stack on which the thread is now.
  static TaskControl* task_of_stack() {
    if (Scheduler::running_ != nullptr) return Scheduler::running_;
    const Strand* const strand = Scheduler::running_strand_;
    return strand == nullptr || !strand->is_on_stack_of_task_ ? nullptr : strand->task();
  }

  // Called by the scheduler for an entry of the ring.
  static void go_on(const ReadyRing::Entry& entry);

  // Each suspends `leaf`, which runs in this strand, unless it returns false: then wake() tells
  // why it goes on at once. The deadline is the planned() one.
  bool wait_in(WaitQueue& queue, void* slot, std::coroutine_handle<> leaf);
  // The places are not yet queued; `enqueue` does that.
  template <typename F>
  bool wait_at(std::span<Place> places, const char* waited_for, std::coroutine_handle<> leaf,
               F&& enqueue) {
    if (!may_wait(waited_for)) return false;
    stand_at(places);
    enqueue();
    begin_wait(leaf);
    return true;
  }
  bool let_others_run(std::coroutine_handle<> leaf);

  void plan(Deadline deadline) { Timer::plan(deadline); }
  // What await_resume() finds when there was nothing to wait for.
  void note_complete() { wake_as(Wake::notified); }
  Error wait_error() const { return wake_error(wake(), waited_for_); }

  // Leaves the running coroutine for `next` of the same strand: what await_suspend() returns.
  //
  // A tail call where the compiler makes one, so that no stack grows however long the chain.
  // Elsewhere the coroutine returns to run(), which resumes the next. Each file has its own flags
  // and decides for itself: run() may be compiled with others, and is ready for both.
  [[gnu::always_inline]] std::coroutine_handle<> transfer_to(std::coroutine_handle<> next) {
    if constexpr (has_tail_calls) return next;
    leaf_ = next;
    goes_on_ = true;
    return std::noop_coroutine();
  }

  // Counts it and tells of it; `what` is null when it is no std::exception.
  static void tell_of_stray_exception(const char* what);
  bool is_cancelled() const;
  // What it waits for now, or null.
  const char* waiting_for() const { return is_waiting_ ? waited_for_ : nullptr; }

 protected:
  enum class Kind : std::uint8_t { of_task, of_group };

  explicit Strand(Kind kind, std::coroutine_handle<> first = nullptr)
      : Wait(&woken),
        is_on_stack_of_task_(kind == Kind::of_task),
        kind_is_task_(kind == Kind::of_task),
        leaf_(first) {}

  // Runs `next` and what it transfers to, until one waits or the first of them has ended.
  [[gnu::always_inline]] void run(std::coroutine_handle<> next) {
    // A signal handler may look at it from here on.
    std::atomic_signal_fence(std::memory_order_release);
    Scheduler::running_strand_ = this;
    next.resume();
    // The flag alone would do. But has_ended() reads the leaf anyway, and to read the flag behind
    // each return takes a third of an await.
    while (leaf_ != nullptr && goes_on_) {
      goes_on_ = false;
      std::exchange(leaf_, nullptr).resume();
    }
    Scheduler::running_strand_ = nullptr;
  }
  // After run(): one that left nobody suspended is through.
  bool has_ended() const { return leaf_ == nullptr; }

  void make_ready();

  static void set_running_task(TaskControl* task) { Scheduler::running_ = task; }

  bool is_on_stack_of_task_ : 1;  // Runs there, rather than on the loop's.
  bool is_waiting_ : 1 = false;
  bool is_cancelled_ : 1 = false;  // Of a group's; a task has its own.

 private:
#if defined(__OPTIMIZE__) && !defined(COROLANE_ASAN) && !defined(COROLANE_TSAN)
  static constexpr bool has_tail_calls = true;
#else
  static constexpr bool has_tail_calls = false;
#endif

  bool may_wait(const char* waited_for);
  void begin_wait(std::coroutine_handle<> leaf);
  static void woken(Timer& timer);
  // Null for a group's.
  TaskControl* task() const;

  bool kind_is_task_ : 1;
  bool goes_on_ : 1 = false;
  Place place_;
  std::coroutine_handle<> leaf_;  // Where it goes on; null while it runs.
  const char* waited_for_ = nullptr;
};

// That of a child which a task awaits: lives on the stack of the task, whose cancellation is its.
class TaskStrand : public Strand {
 public:
  explicit TaskStrand(TaskControl& task) : Strand(Kind::of_task), task_(task) {}

  // Runs `child` until it has ended: on the stack of the task until it first waits, then on that
  // of the loop.
  [[gnu::always_inline]] void run_to_end(std::coroutine_handle<> child) {
    set_running_task(nullptr);
    run(child);
    set_running_task(&task_);
    if (!has_ended()) [[unlikely]] {
      suspend_task();
    }
  }

 private:
  friend class Strand;

  void suspend_task();

  TaskControl& task_;
};

inline TaskControl* Strand::task() const {
  return kind_is_task_ ? &static_cast<const TaskStrand*>(this)->task_ : nullptr;
}

// That of a group's child: lives by itself until the child has ended.
class GroupStrand : public Strand, public ListNode<struct GroupStrandTag> {
 public:
  // Queues the child, which will end through AsyncGroup::child_ended().
  explicit GroupStrand(std::coroutine_handle<> child);
  void cancel();

  static void* operator new(std::size_t size_bytes);
  static void operator delete(void* place, std::size_t size_bytes);
};

}  // namespace corolane::coroutine::detail
