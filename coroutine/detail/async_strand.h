// SPDX-License-Identifier: MIT
// A line of execution without a stack: a stackless coroutine and the chain of those that it awaits;
// the innermost one runs or waits.
//
// The scheduler treats it like a task: it queues in the ready ring, waits, is cancelled, holds a
// mutex. At most one of its coroutines waits at any time, so the state of a wait is here, once, and
// not in the frame of each.
#pragma once

#include <atomic>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <span>
#include <utility>

#include "coroutine/base/deadline.h"
#include "coroutine/base/error.h"
#include "coroutine/detail/list.h"
#include "coroutine/detail/ready_ring.h"
#include "coroutine/detail/running_place.h"
#include "coroutine/detail/switcher.h"
#include "coroutine/detail/wait.h"
#include "coroutine/stack/detail/sanitizer.h"
#include "coroutine/wait_queue.h"

namespace corolane::coroutine::detail {

struct StrandGroup;

class Strand : public Wait {
 public:
  // The running strand. Only a strand resumes a coroutine, so every running coroutine has one.
  static Strand& running() { return *Switcher::running_strand_; }
  // The running task, or the one that awaits the running strand; null when there is neither.
  // Async-signal-safe, as is the next function.
  static TaskControl* running_task() {
    if (Switcher::running_ != nullptr) return Switcher::running_;
    return Switcher::running_strand_ == nullptr ? nullptr : Switcher::running_strand_->task();
  }
  // Where the calling thread keeps them, and what runs on the thread of such a place, which sleeps.
  static RunningPlace running_place() {
    return {.task = &Switcher::running_, .strand = &Switcher::running_strand_};
  }
  static TaskControl* running_task_of(const RunningPlace& place) {
    if (*place.task != nullptr) return *place.task;
    return *place.strand == nullptr ? nullptr : (*place.strand)->task();
  }
  // The same, but only if the thread is now on that task's stack.
  static TaskControl* task_of_stack() {
    if (Switcher::running_ != nullptr) return Switcher::running_;
    const Strand* const strand = Switcher::running_strand_;
    return strand == nullptr || !strand->is_on_stack_of_task_ ? nullptr : strand->task();
  }

  // Resumes a strand; called by the scheduler for an entry of the ring.
  static void go_on(const ReadyRing::Entry& entry);

  // Each suspends `leaf`, which runs in this strand. When it returns false, the strand continues at
  // once and wake() tells why. The deadline is the planned() one.
  bool wait_in(WaitQueue& queue, void* slot, std::coroutine_handle<> leaf);
  // `enqueue` queues the places.
  template <typename F>
  bool wait_at(std::span<Place> places, const char* waited_for, std::coroutine_handle<> leaf,
               F&& enqueue) {
    if (!may_wait(waited_for)) return false;
    stand_at(places);
    enqueue();
    begin_wait(leaf);
    return true;
  }
  // Without a deadline and whether or not it is cancelled. The strand must be cancelled already:
  // nothing but the notifier ends the wait.
  bool wait_to_end_in(WaitQueue& queue, std::coroutine_handle<> leaf);
  bool let_others_run(std::coroutine_handle<> leaf);

  // Suspends `leaf` in a scheduler that explores suspensions (might_suspend.h): awaits `awaitable`,
  // and lets others run before or after the moment at which it completes, although it need not
  // wait. Returns false as the functions above do.
  template <typename W>
  bool explore(W& awaitable, std::coroutine_handle<> leaf) {
    if (awaitable.can_complete() && chooses_detour()) {
      begin_detour(leaf, &awaitable, [](void* its_awaitable, std::coroutine_handle<> its_leaf) {
        W& again = *static_cast<W*>(its_awaitable);
        return !again.try_complete() && again.wait(its_leaf);
      });
      return true;
    }
    if (!awaitable.try_complete()) return awaitable.wait(leaf);
    return explore_after(leaf);
  }
  // The same after the awaitable has completed.
  bool explore_after(std::coroutine_handle<> leaf);

  void plan(Deadline deadline) { Timer::plan(deadline); }
  // Records for await_resume() that no wait was needed.
  void note_complete() { wake_as(Wake::notified); }
  Error wait_error() const { return wake_error(wake(), waited_for_); }

  // Leaves the running coroutine for `next` of the same strand: the return value of
  // await_suspend().
  //
  // A tail call where the compiler makes one, so that the stack stays flat however long the chain.
  // Elsewhere the coroutine returns to run(), which resumes the next. Each file decides by its own
  // flags: run() may be compiled with others, and handles both.
  [[gnu::always_inline]] std::coroutine_handle<> transfer_to(std::coroutine_handle<> next) {
    if constexpr (has_tail_calls) return next;
    leaf_ = next;
    goes_on_ = true;
    return std::noop_coroutine();
  }

  // Counts and reports it; `what` is null when it is not a std::exception.
  static void tell_of_stray_exception(const char* what);
  bool is_cancelled() const;
  // The name of what it waits for now, or null.
  const char* waiting_for() const { return is_waiting_ ? waited_for_ : nullptr; }
  // How long it has waited, to a second or so. Wraps around after 19 hours: a longer memory would
  // take a word of each strand.
  Duration waiting_since(TimePoint now) const {
    return Duration(Duration::rep{static_cast<std::uint16_t>(tick_of(now) - wait_tick_)}
                    << wait_tick_bits);
  }
  // Returns an address in the function of the coroutine that is resumed next; 0 while one runs.
  std::uintptr_t code() const;

 protected:
  enum class Kind : std::uint8_t { of_task, of_group };

  Strand(Kind kind, Switcher& scheduler, std::coroutine_handle<> first = nullptr)
      : Wait(&woken),
        is_on_stack_of_task_(kind == Kind::of_task),
        kind_is_task_(kind == Kind::of_task),
        leaf_(first) {
    belong_to(scheduler.timers());
  }

  // Runs `next` and its transfers, until one waits or the first of them has ended.
  [[gnu::always_inline]] void run(std::coroutine_handle<> next) {
    // A signal handler may look at the strand from here on.
    std::atomic_signal_fence(std::memory_order_release);
    Switcher::running_strand_ = this;
    next.resume();
    // The flag alone would do. But has_ended() reads the leaf anyway, and reading the flag after
    // each return takes a third of an await.
    while (leaf_ != nullptr && goes_on_) {
      goes_on_ = false;
      std::exchange(leaf_, nullptr).resume();
    }
    Switcher::running_strand_ = nullptr;
  }
  // Valid after run(): without a suspended coroutine the strand has ended.
  bool has_ended() const { return leaf_ == nullptr; }

  void make_ready() { make_ready_at(leaf_tag); }
  // Adds a group to the list of the running scheduler.
  static void list(StrandGroup& group);

  static void set_running_task(TaskControl* task) { Switcher::running_ = task; }

  bool is_on_stack_of_task_ : 1;  // Runs there, not on the loop's.
  bool is_waiting_ : 1 = false;
  bool is_cancelled_ : 1 = false;  // For a group's child; a task has its own flag.

 private:
#if defined(__OPTIMIZE__) && !defined(COROLANE_ASAN) && !defined(COROLANE_TSAN)
  static constexpr bool has_tail_calls = true;
#else
  static constexpr bool has_tail_calls = false;
#endif

  // Called when the detour is over; returns whether the strand waits.
  using TryAgain = bool (*)(void* awaitable, std::coroutine_handle<> leaf);
  struct Detour;

  bool chooses_detour() const;
  void begin_detour(std::coroutine_handle<> leaf, void* awaitable, TryAgain try_again);
  bool end_detour(std::coroutine_handle<> leaf);

  // The lowest bit distinguishes a ring entry from that of a task; the next one marks a detour.
  static constexpr std::size_t leaf_tag = 1;
  static constexpr std::size_t detour_tag = 3;

  void make_ready_at(std::size_t tag);

  static constexpr int wait_tick_bits = 30;
  static std::uint16_t tick_of(TimePoint time) {
    return static_cast<std::uint16_t>(time.time_since_epoch().count() >> wait_tick_bits);
  }
  bool may_wait(const char* waited_for);
  void begin_wait(std::coroutine_handle<> leaf);
  static void woken(Timer& timer);
  // Null for a strand of a group's child.
  TaskControl* task() const;
  // Its own, which need not be the one that runs: a wait may be ended from anywhere on the thread.
  Switcher& scheduler() const { return static_cast<SchedulerTimers&>(wheel()).scheduler; }

  bool kind_is_task_ : 1;
  bool goes_on_ : 1 = false;
  std::uint16_t wait_tick_ = 0;  // When its last wait began. Fits in what would be padding.
  Place place_;
  std::coroutine_handle<> leaf_;  // The coroutine to resume; null while it runs.
  const char* waited_for_ = nullptr;
};

// The strand of a child that a task awaits: lives on the stack of the task and shares its
// cancellation.
class TaskStrand : public Strand {
 public:
  explicit TaskStrand(TaskControl& task) : Strand(Kind::of_task, task.scheduler), task_(task) {
    // The child may arm its timers before the task suspends.
    if ((task.flags & TaskHead::late_timers_flag) != 0) [[unlikely]] {
      arm_late_timers(task);
    }
  }

  // Runs `child` to its end: up to its first wait on the stack of the task, then on the loop's.
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

// The strand of a group's child: owns itself until the child has ended.
class GroupStrand : public Strand, public ListNode<struct GroupStrandTag> {
 public:
  // Queues the child, whose end is reported by async_child_ended(), in the running scheduler.
  GroupStrand(std::coroutine_handle<> child, StrandGroup& group);
  void cancel();
  // The child has ended.
  void leave(StrandGroup& group);

  static void* operator new(std::size_t size_bytes);
  static void operator delete(void* place, std::size_t size_bytes);
};

// The children of an AsyncGroup. Their scheduler lists it while there are any.
struct StrandGroup : ListNode<struct StrandGroupTag> {
  List<GroupStrand, GroupStrandTag> strands;
  std::size_t count = 0;
  std::source_location site;  // Where the group was made.
};

}  // namespace corolane::coroutine::detail
