// Runs tasks, one at a time, on one thread.
//
//   net::EventLoop loop;
//   Scheduler scheduler(loop);
//   auto ran = scheduler.run("main", [] {
//     auto ticking = spawn("tick", [] { return sleep_for(1s); });
//     static_cast<void>(ticking.join());
//   });
//
// Ready tasks run in the order in which they became ready. A task that suspends jumps straight
// into the next ready one; after a bounded number of such jumps control returns to the loop,
// which fires timers, runs what other threads posted and looks at the outside world through its
// EventSource.
//
// All of it belongs to the thread that calls run(), except post(). A task never leaves its
// scheduler.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <source_location>
#include <string_view>
#include <type_traits>
#include <vector>

#include "coroutine/base/check.h"
#include "coroutine/base/histogram.h"
#include "coroutine/base/result.h"
#include "coroutine/base/split_mix.h"
#include "coroutine/cpu_profile.h"
#include "coroutine/detail/list.h"
#include "coroutine/detail/ready_ring.h"
#include "coroutine/detail/scheduler_entry.h"
#include "coroutine/detail/spawn_sites.h"
#include "coroutine/detail/task_control.h"
#include "coroutine/event_source.h"
#include "coroutine/interrupter.h"
#include "coroutine/stack/stack_pool.h"
#include "coroutine/stray_exception.h"
#include "coroutine/switch_trace.h"
#include "coroutine/task_info.h"
#include "coroutine/task_meter.h"
#include "coroutine/timer_wheel.h"

namespace corolane::coroutine {
namespace detail {
class CrashTasks;
class Strand;
class TaskAccess;
}  // namespace detail

class Scheduler {
 public:
  struct Options {
    StackPool::Options stacks = {};
    // One switch in this many is timed in production too; 0 switches it off.
    std::uint32_t switch_sample_interval = 1'021;
    std::uint32_t create_sample_interval = 1'019;
    // Measures the stacks of the first task of each spawn site and of one task in this many: see
    // sites(). A measured task pays for some system calls and for faulting in its stack's pages; 0
    // switches it off.
    std::uint32_t stack_sample_interval = 4'093;
    // The CPU time of the thread after which the running task is charged; 0 switches it off. One
    // task's CPU time is accurate to a few kernel ticks (1 to 10 ms each), the sum over a thousand
    // tasks much better. Uses SIGURG, unless the process handles that itself.
    Duration cpu_sample_interval = std::chrono::milliseconds(1);
    // The main task of run() does set-up work with deep frames.
    std::size_t main_stack_size_bytes = 512 * 1024;
    OnStrayException on_stray_exception = print_stray_exception;
    // Not 0: ready tasks run in a random order that follows from this seed, and now and then
    // outside events come first. For tests: a task that trusts, after a suspension, what it read
    // before fails in some order.
    std::uint64_t shuffle_seed = 0;
  };

  struct Statistics {
    Histogram switch_ns;  // From a task's suspension to the first step of the next.
    Histogram create_ns;  // Of spawn(): stack, control block, queueing.
    std::uint64_t switch_count = 0;
    std::uint64_t created_count = 0;
    std::size_t task_count = 0;  // Alive now; an ended task counts until it is joined.
    std::size_t task_count_peak = 0;
    std::size_t ready_count = 0;   // All ready ones, stackless coroutines included.
    std::uint64_t turn_count = 0;  // Turns of the loop.
    std::uint64_t stray_exception_count = 0;
    std::size_t stackless_count = 0;  // Stackless coroutines of this thread that are alive now.
    Duration loop_cpu{};              // Consumed by the loop itself: handlers, timers, posted work.
    bool measures_cpu = false;        // Whether CPU time is being measured.
  };

  // `source` outlives the scheduler.
  explicit Scheduler(EventSource& source) : Scheduler(source, Options{}) {}
  Scheduler(EventSource& source, Options options);
  ~Scheduler();
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  // Runs `main` as a task, and every task spawned meanwhile, until `main` has ended. No other task
  // may be left then: tasks have owners, and owners join. (Children of an AsyncGroup that outlives
  // `main` may be left; they continue in the next run.) May be called again. Fails when no stack is
  // available, or with internal when `main` threw.
  //
  // When every task waits for another one and nothing outside can end that, it prints all tasks
  // with what they wait for, then the deadlock details, and aborts.
  Result<void> run(std::string_view name, std::move_only_function<void()> main,
                   const std::source_location& site = std::source_location::current());
  // A result of `main` would be lost.
  template <typename F>
    requires(!std::is_void_v<std::invoke_result_t<F&>>)
  Result<void> run(std::string_view name, F&& main) = delete;

  // run() in pieces, for a thread that drives several schedulers, such as a simulation. begin()
  // makes `main`; each step() is one turn of the loop, and does not wait. It returns false when
  // `main` has ended; finish() then returns the outcome, as run() does. Neither may be called
  // inside another one of the same scheduler, nor by its tasks.
  Result<void> begin(std::string_view name, std::move_only_function<void()> main,
                     const std::source_location& site = std::source_location::current());
  bool step();
  Result<void> finish();
  // Cancels `main`.
  void cancel();

  // Prints more about the tasks of a deadlock: inspect/deadlock_stacks.h shows their stacks. Set
  // for the whole process, before any scheduler runs.
  using DeadlockDetails = void (*)(const Scheduler& scheduler);
  static void set_deadlock_details(DeadlockDetails details) { deadlock_details_ = details; }

  // The time at which step() has work, as far as is known now: at once when something is ready.
  Deadline next_step() const;

  // Runs `work` on the loop's stack at its next turn, in order of posting per thread; it must not
  // suspend. Callable from any thread, before, during or after run(). Work that is still queued at
  // the end of run() waits for the next one.
  void post(std::move_only_function<void()> work);
  // A result of `work` would be lost.
  template <typename F>
    requires(!std::is_void_v<std::invoke_result_t<F&>>)
  void post(F&& work) = delete;

  // For the handlers inside EventSource::wait(): runs the tasks that a handler made ready before
  // the next handler runs, while their data is in the cache. Tasks that are still ready after a
  // turn's worth of switches wait for the next turn. Must not be called from a task.
  void run_ready_tasks();
  // Tasks and stackless coroutines together.
  std::size_t ready_count() const { return ready_.size(); }

  // The scheduler that runs on this thread; current() checks that there is one.
  static Scheduler& current();
  static Scheduler* current_or_null() { return current_; }

  // The time at the start of this turn of the loop: for time stamps that need no precision.
  TimePoint turn_time() const { return turn_time_; }
  // Counts every switch away from a task. A task that reads a count one higher than another task
  // read just before its end runs directly after that task, and need not read the clock again.
  std::uint64_t switch_count() const { return statistics_.switch_count + (steps_ - steps_left_); }
  TimerWheel& timers() { return timers_; }
  const StackPool& stacks() const { return stacks_; }

  // Every live task, oldest first. The scheduler's tasks and its loop may ask for traces; a signal
  // handler may not.
  std::vector<TaskInfo> tasks(const TasksOptions& options = {}) const;
  // The live task with this id, with its trace.
  std::optional<TaskInfo> task(TaskId id) const;
  Statistics statistics() const;
  // Every place that has spawned a task here, in order of their first spawn: up to a thousand, and
  // one entry for all further ones.
  std::vector<SpawnSite> sites() const { return sites_.all(); }

  // Called by a task of this scheduler: from begin() to end() the scheduler records what its thread
  // computes, or which task runs when. begin() returns false when a recording is already active.
  // The recorder must live until its end().
  bool begin(CpuProfile& profile);
  void end(CpuProfile& profile);
  bool begin(SwitchTrace& trace);
  void end(SwitchTrace& trace);

  // For a watchdog on another thread, while run() lasts. The number changes whenever the loop
  // begins or stops running tasks, and is odd while it runs them: a loop that shows the same odd
  // number for long does not turn.
  std::uint32_t activity() const { return activity_.load(std::memory_order_relaxed); }
  // Asks what the thread is doing at this moment. Blocks until the thread answers; nothing when it
  // does not answer within `patience`, or where CPU time is not measured either
  // (Options::cpu_sample_interval).
  std::optional<Interruption> interrupt(Duration patience, InterruptionNote note = nullptr) {
    return interrupter_.interrupt(patience, note);
  }

 private:
  friend class detail::CrashTasks;
  friend class detail::Strand;
  friend class detail::TaskAccess;
  friend struct detail::TaskControl;
  friend class detail::Wait;
  friend class TaskMeter;

  struct Posted;
  struct ThreadBinding;
  class Activity;
  struct Interruptible;

  // The main task, until it is joined.
  class Main;

  void turn();
  void wait_outside();
  Deadline tend_stacks();
  void run_posted();
  void run_ready();
  void run_ready_shuffled();
  void run_next();
  void run_next_strand();
  void adapt_turn_budget(Duration turn);
  [[noreturn]] void report_deadlock() const;
  TaskInfo info_of(const detail::TaskControl& task) const;

  // Leave the running task for the next ready one, or for the loop; `frame` is where the running
  // task's frame is stored.
  void suspend(detail::TaskControl& running, void*& frame);
  void suspend_slowly(detail::TaskControl& running, void*& frame);
  void switch_slowly(detail::TaskControl& running, void*& frame);
  [[noreturn]] void end(detail::TaskControl& running);
  bool has_next_task() const;
  // The task that runs next; its first frame may not exist yet.
  detail::ReadyRing::Entry take_next();
  detail::ReadyRing::Entry take_next_task();
  // At the end of the planned steps: whether a switch to be timed comes before the end of the turn.
  bool is_switch_timed();
  void count_steps();
  void plan_steps();
  // Arms the timing of the next switch away from the running task.
  void watch_next_switch();
  TaskMeter* meter_of(const detail::TaskControl& task) const;
  void trace_running() const;
  void trace_loop() const;
  static void end_switch_sample();
  // The entry point of a fresh task; begin_stack() is out of line, since fresh tasks are rare
  // there.
  static void* make_first_frame(detail::TaskControl& task);
  static void* begin_stack(detail::TaskControl& task);
  static void enter_task();
  static void charge_cpu(std::uint64_t nanoseconds, const void* context);
  static void answer_interruption(const void* context);

  Result<Stack> begin_spawn(const TaskOptions& options);
  void finish_spawn(detail::TaskControl& task);
  void give_up_spawn(const Stack& stack);
  void drop_reference(detail::TaskControl& task);
  void begin_create_sample();
  void end_create_sample();

  static inline constinit DeadlockDetails deadlock_details_ = nullptr;
  static inline constinit thread_local Scheduler* current_ = nullptr;
  // Null while the loop itself runs.
  static inline constinit thread_local detail::TaskControl* running_ = nullptr;
  // Null while no stackless coroutine runs; while one does, running_ is null.
  static inline constinit thread_local detail::Strand* running_strand_ = nullptr;

  // The members that a switch touches come first.
  detail::ReadyRing ready_;
  // Switches left until the turn is over or one has to be timed.
  std::uint32_t steps_left_ = 0;
  std::uint32_t steps_ = 0;  // The value of steps_left_ when they were last counted.
  // Tasks that have flags: while it is zero, no flag needs to be looked at.
  std::uint32_t flagged_count_ = 0;
  detail::Context loop_context_;

  detail::SchedulerEntry entry_{*this};
  EventSource& source_;
  Options options_;
  StackPool stacks_;
  TimerWheel timers_;
  std::uint32_t turn_budget_ = 256;  // Switches per turn; follows their cost.
  std::uint32_t turn_left_ = 0;      // Switches left in this turn when steps were last counted.
  std::uint32_t sample_left_;        // Switches until the next timed one, likewise.
  std::uint32_t next_create_sample_;
  std::uint64_t switch_sample_start_ = 0;  // In cycles.
  std::uint64_t create_sample_start_ = 0;  // In cycles; zero when none is being timed.
  TimePoint turn_time_;
  TaskId last_task_id_ = 0;
  std::size_t ready_strand_count_ = 0;  // Strands in the ring, beside the tasks.
  detail::List<detail::TaskControl, detail::AllTasksTag> all_tasks_;
  Statistics statistics_;
  detail::SpawnSites sites_;
  detail::List<TaskMeter, TaskMeterTag> meters_;
  SwitchTrace* trace_ = nullptr;
  CpuProfile* profile_ = nullptr;  // Read by the signal handler.
  detail::CpuTime loop_cpu_;
  std::unique_ptr<Main> main_;             // From begin() to finish(), or while run() lasts.
  SplitMix64 shuffle_;                     // By Options::shuffle_seed.
  std::atomic<Posted*> posted_ = nullptr;  // Newest first.
  std::atomic<std::uint32_t> activity_ = 0;
  Interrupter interrupter_;
};

inline Scheduler& Scheduler::current() {
  check(current_ != nullptr, "this thread runs a scheduler");
  return *current_;
}

}  // namespace corolane::coroutine
