// SPDX-License-Identifier: MIT
// Leaves one task for the next: the part of a scheduler that every spawn, switch and end of a task
// passes through. Code that uses tasks compiles this part only.
//
// Inlined into the function that waits: see coroutine/README.md. The loop around it is Scheduler.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>

#include "coroutine/base/check.h"
#include "coroutine/base/clock.h"
#include "coroutine/base/result.h"
#include "coroutine/detail/list.h"
#include "coroutine/detail/ready_ring.h"
#include "coroutine/detail/task_control.h"
#include "coroutine/detail/turn_clock.h"
#include "coroutine/stack/detail/context_switch.h"
#include "coroutine/stack/stack_pool.h"
#include "coroutine/task_info.h"
#include "coroutine/timer_wheel.h"

namespace corolane::coroutine {
class LockObserver;
class MarkedSection;
class Scheduler;
class SwitchTrace;
class TaskMeter;
struct SchedulerOptions;
struct TaskMeterTag;
}  // namespace corolane::coroutine

namespace corolane::coroutine::detail {

class CrashTasks;
class Letter;
class LockWatch;
class Strand;
class Switcher;
class TaskAccess;
struct Instruments;
struct SpawnSiteRecord;

// The wheel of a scheduler leads back to it.
struct SchedulerTimers : TimerWheel {
  SchedulerTimers(TimePoint start, Switcher& its_scheduler)
      : TimerWheel(start), scheduler(its_scheduler) {}

  Switcher& scheduler;
};

class Switcher {
 public:
  // `time` outlives it.
  Switcher(const SchedulerOptions& options, const corolane::detail::TimeSource& time);
  ~Switcher();
  Switcher(const Switcher&) = delete;
  Switcher& operator=(const Switcher&) = delete;

  // That of the scheduler which runs on this thread; there must be one.
  static Switcher& current() {
    check(current_ != nullptr, "this thread runs a scheduler");
    return *current_;
  }

  TimePoint turn_time() const { return turn_time_; }
  SchedulerTimers& timers() { return timers_; }

 private:
  friend class CrashTasks;
  friend class LockWatch;
  friend class Strand;
  friend class TaskAccess;
  friend struct TaskControl;
  friend class coroutine::Scheduler;
  friend class coroutine::TaskMeter;

  // Where a switch leads: to a task or the loop, and there to a frame.
  struct Destination {
    Context* context = nullptr;
    void* frame = nullptr;
  };

  // Leaves the running task for the next ready one, or for the loop; `frame` is where the running
  // task's frame is stored. One jump serves the common switch and the rare ones, so that the tasks
  // that wait at one place have equal stacks.
  void suspend(TaskControl& running, void*& frame);
  // Steps of tasks that begin, or that were woken.
  struct StepKind {
    bool seen = false;         // Since the last look at the clock.
    bool seen_before = false;  // Between the last two looks.

    void look() { seen_before = std::exchange(seen, false); }
  };

  // Looks at locks, meters and the time, and finds the destination; none when `running` was
  // suspended and resumed meanwhile, or need not be.
  Destination find_destination(TaskControl& running, void*& frame);
  // The next ready task, or the loop; none when `running` is next.
  Destination choose_destination(const TaskControl& running);
  void suspend_watched(TaskControl& running, void*& frame, TaskMeter* meter,
                       MarkedSection* section);
  [[noreturn]] void end(TaskControl& running);
  [[noreturn]] static void end_running();
  bool has_next_task() const { return !ready_.empty() && !ready_.front().is_stackless(); }
  // The task that runs next; its first frame may not exist yet.
  ReadyRing::Entry take_next() { return take(ready_.pop()); }
  ReadyRing::Entry take_next_task() { return take_task(ready_.pop()); }
  ReadyRing::Entry take(const ReadyRing::Entry& next);
  ReadyRing::Entry take_task(const ReadyRing::Entry& next);
  bool is_idle() const { return ready_.empty() && control_.empty(); }
  // The entry point of a fresh task; begin_stack() is out of line, since fresh tasks are rare
  // there.
  static void* make_first_frame(TaskControl& task);
  static void* begin_stack(TaskControl& task);
  static void enter_task();

  Result<Stack> begin_spawn(const TaskOptions& options);
  void finish_spawn(TaskControl& task, StackPool::Purpose purpose);
  void give_up_spawn(const Stack& stack);
  void drop_reference(TaskControl& task);
  // Makes the place of `task` the newest site.
  void find_site(TaskControl& task);
  void begin_measuring(TaskControl& task);

  // At the end of the planned steps: whether a switch to be timed comes before the end of the turn.
  bool is_switch_timed();
  static void end_switch_sample();
  void begin_create_sample();
  void end_create_sample();
  void count_steps();
  void plan_steps();
  // Ends the turn, or grants it more steps.
  void look_at_clock();
  // Called when a task begins or is woken: after steps of another kind, the clock is looked at
  // soon.
  void note_fresh() {
    if (!fresh_.seen) [[unlikely]] {
      note_first(fresh_, 1);
    }
  }
  void note_woken() {
    if (!woken_.seen) [[unlikely]] {
      note_first(woken_, woken_steps);
    }
  }
  void note_first(StepKind& kind, std::uint32_t kept);
  // Called when a task or strand becomes ready. Another thread than the scheduler's would corrupt
  // the ring; between two runs there is none.
  void check_thread(const TaskControl* woken) const {
    if (thread_ != pthread_self() && thread_ != no_thread) [[unlikely]] {
      woken_by_another_thread(woken);
    }
  }
  [[noreturn]] void woken_by_another_thread(const TaskControl* woken) const;
  // Plan the steps of a turn that lasts from `now` until `end`; and one step.
  void begin_steps(TimePoint now, TimePoint end);
  void begin_single_step();
  // Makes a task of control work ready; a fresh one has no frame.
  void make_control_ready(TaskControl& task);
  // Lets the next switch away from the running task, or its end, take the way that looks at meters,
  // locks and the time.
  void watch_next_switch();
  TaskMeter* meter_of(const TaskControl& task) const;
  // Inline, since a call would touch another line of an ending task's stack.
  void trace_running() const {
    if (trace_ != nullptr) [[unlikely]] {
      note_running();
    }
  }
  void note_running() const;
  void trace_loop() const;

  static constexpr std::uint32_t never_sample = std::numeric_limits<std::uint32_t>::max();
  static constexpr pthread_t no_thread = 0;
  // A task that is woken within a turn begins behind others that were ready before.
  static constexpr std::uint32_t woken_steps = 16;

  static inline constinit thread_local Switcher* current_ = nullptr;
  // Null while the loop itself runs.
  static inline constinit thread_local TaskControl* running_ = nullptr;
  // Null while no stackless coroutine runs; while one does, running_ is null.
  static inline constinit thread_local Strand* running_strand_ = nullptr;
  // Whether calls that need not suspend do so now and then, as SchedulerOptions say.
  static inline constinit thread_local bool explores_suspensions_ = false;

  // The members that a switch touches come first.
  ReadyRing ready_;
  // Switches left until the turn is over or one has to be timed.
  std::uint32_t steps_left_ = 0;
  std::uint32_t steps_ = 0;  // The value of steps_left_ when they were last counted.
  // Tasks that have flags: while it is zero, no flag needs to be looked at.
  std::uint32_t flagged_count_ = 0;
  StepKind fresh_;
  StepKind woken_;
  pthread_t thread_ = no_thread;  // The one that is in run() or step().
  Context loop_context_;

  StackPool stacks_;
  SchedulerTimers timers_;
  // Switches until the clock is looked at when steps were last counted; zero once the turn is over.
  std::uint32_t turn_left_ = 0;
  std::uint32_t sample_left_;  // Switches until the next timed one, likewise.
  std::uint32_t next_create_sample_;
  const std::uint32_t switch_sample_interval_;
  const std::uint32_t create_sample_interval_;
  std::uint64_t switch_sample_start_ = 0;  // In cycles.
  std::uint64_t create_sample_start_ = 0;  // In cycles; zero when none is being timed.
  const corolane::detail::TimeSource& time_;
  TurnClock turn_clock_;
  ReadyRing control_;  // Ready tasks of control work: they run before those of ready_.
  TimePoint turn_time_;
  TaskId last_task_id_ = 0;
  std::uint64_t switch_count_ = 0;  // When steps were last counted.
  std::size_t task_count_ = 0;
  std::size_t task_count_peak_ = 0;
  std::size_t ready_strand_count_ = 0;  // Strands in the ring, beside the tasks.
  List<TaskControl, AllTasksTag> all_tasks_;
  SpawnSiteRecord* newest_site_ = nullptr;  // The place of the last spawn.
  List<TaskMeter, TaskMeterTag> meters_;
  SwitchTrace* trace_ = nullptr;
  LockObserver* lock_observer_ = nullptr;
  const std::unique_ptr<Instruments> instruments_;
};

[[gnu::always_inline]] inline void Switcher::suspend(TaskControl& running, void*& frame) {
  Destination destination;
  if (__builtin_expect(--steps_left_ == 0, 0) || __builtin_expect(!has_next_task(), 0)) {
    destination = find_destination(running, frame);
    if (destination.context == nullptr) return;
  } else {
    const ReadyRing::Entry next = take_next_task();
    if (next.owner == &running) return;
    destination = {.context = running_, .frame = next.frame};
  }
  ContextSwitch::switch_to(running, frame, *destination.context, destination.frame);
}

[[gnu::always_inline]] inline ReadyRing::Entry Switcher::take(const ReadyRing::Entry& next) {
  // The signal handler of the CPU meter may look at it from here on.
  std::atomic_signal_fence(std::memory_order_release);
  running_ = static_cast<TaskControl*>(next.owner);
  return next;
}

[[gnu::always_inline]] inline ReadyRing::Entry Switcher::take_task(const ReadyRing::Entry& next) {
  ReadyRing::Entry taken = take(next);
  if (taken.is_fresh()) [[unlikely]] {
    taken.frame = begin_stack(*running_);
  }
  return taken;
}

inline void Switcher::count_steps() {
  const std::uint32_t done = steps_ - steps_left_;
  switch_count_ += done;
  turn_left_ -= done;
  if (sample_left_ != never_sample) sample_left_ -= done;
  if (turn_left_ == 0 && done > 0) look_at_clock();
  plan_steps();
}

// While a trace is active, every switch is inspected.
inline void Switcher::plan_steps() {
  steps_left_ = turn_left_ < sample_left_ ? turn_left_ : sample_left_;
  if (trace_ != nullptr && steps_left_ > 1) steps_left_ = 1;
  steps_ = steps_left_;
}

inline void Switcher::watch_next_switch() {
  count_steps();
  steps_ = steps_left_ = 1;
}

}  // namespace corolane::coroutine::detail
