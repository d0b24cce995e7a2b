// SPDX-License-Identifier: MIT
// Runs tasks, one at a time, on one thread.
//
//   net::EventLoop loop;
//   Scheduler scheduler(loop);
//   auto ran = scheduler.run("main", [] {
//     auto ticking = spawn("tick", [] { return sleep_for(1s); });
//     static_cast<void>(ticking.join(Deadline::never()));
//   });
//
// Ready tasks run in the order in which they became ready. A task that suspends jumps straight
// into the next ready one; after 200 us, or the one task that takes longer, control returns to the
// loop, which fires timers, runs what other threads posted and looks at the outside world through
// its EventSource.
//
// All of it belongs to the thread that calls run(), except post(). A task never leaves its
// scheduler.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <source_location>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "coroutine/base/deadline.h"
#include "coroutine/base/result.h"
#include "coroutine/base/split_mix.h"
#include "coroutine/detail/mail.h"
#include "coroutine/detail/scheduler_entry.h"
#include "coroutine/detail/switcher.h"
#include "coroutine/event_source.h"
#include "coroutine/scheduler_options.h"
#include "coroutine/stack/stack_pool.h"
#include "coroutine/task_info.h"
#include "coroutine/timer_wheel.h"

namespace corolane::coroutine {
class CpuProfile;
class LockObserver;
class SwitchTrace;
class TaskGroup;
class TaskWalk;
struct Interruption;
struct StacklessInfo;

// The scope of a recording: Scheduler::record().
template <typename Recorder>
class [[nodiscard]] Recording {
 public:
  ~Recording();
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  explicit operator bool() const { return scheduler_ != nullptr; }

 private:
  friend class Scheduler;
  Recording(Scheduler* scheduler, Recorder& recorder)
      : scheduler_(scheduler), recorder_(recorder) {}

  Scheduler* const scheduler_;  // Null when another recording was active.
  Recorder& recorder_;
};

class Scheduler : private detail::Switcher {
 public:
  using Options = SchedulerOptions;
  using Statistics = SchedulerStatistics;

  // `source` outlives the scheduler.
  explicit Scheduler(EventSource& source) : Scheduler(source, Options{}) {}
  Scheduler(EventSource& source, Options options);
  ~Scheduler();
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  // Runs `main` as a task, and every task spawned meanwhile, until `main` has ended. No other task
  // may be left then: tasks have owners, and owners join. (Children of an AsyncGroup that outlives
  // `main` may be left; they continue in the next run.) May be called again. Fails when no stack is
  // available, or with internal when `main` threw. Calls of other schedulers (call_on.h)
  // that still run when `main` has ended are cancelled, and awaited.
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
  Deadline next_step();

  // Runs `work` on the loop's stack at its next turn, in order of posting per thread; it must not
  // suspend. Callable from any thread, before, during or after run(). Work that is still queued at
  // the end of run() waits for the next one.
  //
  // The queue has no bound. A thread that posts again and again waits for answers, or counts what
  // is on its way; call_on() does both.
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
  std::size_t ready_count() const { return ready_.size() + control_.size(); }

  // The scheduler that runs on this thread; current() checks that there is one.
  static Scheduler& current() { return static_cast<Scheduler&>(Switcher::current()); }
  static Scheduler* current_or_null() { return static_cast<Scheduler*>(current_); }

  // The time at the start of this turn of the loop: for time stamps that need no precision.
  using Switcher::turn_time;
  // Counts every switch away from a task. A task that reads a count one higher than another task
  // read just before its end runs directly after that task, and need not read the clock again.
  std::uint64_t switch_count() const { return switch_count_ + (steps_ - steps_left_); }
  using Switcher::timers;
  const StackPool& stacks() const { return stacks_; }

  // Every live task, oldest first; TaskWalk lists them in parts. The scheduler's tasks and its loop
  // may ask for traces; a signal handler may not.
  std::vector<TaskInfo> tasks(const TasksOptions& options = {}) const;
  // The live task with this id, with its trace and the holder of the lock that it waits for.
  std::optional<TaskInfo> task(TaskId id) const;
  // The tasks that wait for a lock that is held, oldest first, with its holder. Looks at all tasks,
  // in some nanoseconds each.
  std::vector<TaskInfo> lock_waits(const LockWaitsOptions& options = {}) const;
  Statistics statistics() const;
  // Tells what the children of groups wait for (stackless_info.h); those that a task awaits belong
  // to the task. Looks at `count_max` of them, in some 10 ns each.
  StacklessInfo stackless(std::size_t count_max = 10'000) const;
  // Reports idle stacks of which the last tenth was used (deep_stack.h), each use once. Looks at
  // the 16 of each size that were used last, in some 0.2 us each.
  void look_for_deep_stacks();
  // Every place that has spawned a task here, in order of their first spawn: up to a thousand, and
  // one entry for all further ones.
  std::vector<SpawnSite> sites() const;

  // Called by a task of this scheduler, which records what its thread computes, which task runs
  // when, or which tasks wait for locks (sync/lock_observer.h), while the result lives. The result
  // is false when another recording is active. The recorder outlives it.
  [[nodiscard]] Recording<CpuProfile> record(CpuProfile& profile);
  [[nodiscard]] Recording<SwitchTrace> record(SwitchTrace& trace);
  [[nodiscard]] Recording<LockObserver> record(LockObserver& observer);

  // For a watchdog on another thread, while run() lasts. The number changes whenever the loop
  // begins or stops running tasks, and is odd while it runs them: a loop that shows the same odd
  // number for long does not turn.
  std::uint32_t activity() const { return activity_.load(std::memory_order_relaxed); }
  // Asks what the thread is doing at this moment (interrupter.h; `note` is an InterruptionNote).
  // Blocks until the thread answers; nothing when it does not answer within `patience`, or where
  // CPU time is not measured either (Options::cpu_sample_interval).
  std::optional<Interruption> interrupt(Duration patience,
                                        std::size_t (*note)(std::span<char> room) = nullptr);

 private:
  friend class detail::CrashTasks;
  friend class detail::Letter;
  friend class detail::OutgoingMail;
  friend class detail::TaskAccess;
  friend class TaskWalk;
  template <typename Recorder>
  friend class Recording;

  struct Posted;
  struct ThreadBinding;
  class Activity;
  // The main task, until it is joined.
  class Main;

  void end(CpuProfile& profile);
  void end(SwitchTrace& trace);
  void end(LockObserver& observer);
  // Whether `main` and, after it, all visitors have ended.
  bool has_ended();
  // The tasks of calls from other schedulers. Null outside of a run, and once `main` has ended.
  TaskGroup* visitors() const;
  // Count the calls in the queue of posted work, on any thread. False: there are too many, and the
  // call may not exceed them.
  bool call_enters_queue(bool may_exceed);
  void call_left_queue() { queued_call_count_.fetch_sub(1, std::memory_order_relaxed); }

  // Queues mail for this scheduler, from any thread.
  void receive(const detail::MailBag& bag);
  void receive(detail::Mail& mail) { receive({.newest = &mail, .oldest = &mail}); }
  // Sends mail to another scheduler, which lives until then, at the end of this one's turn.
  void send_with_turn(Scheduler& to, detail::Mail& mail) { outgoing_.add(to, mail); }

  void turn();
  void work();
  void wait_outside();
  Deadline tend_stacks();
  void run_posted();
  void run_control();
  void run_ready(TimePoint now, TimePoint end);
  void run_ready_shuffled();
  bool explores_suspensions() const {
    return options_.shuffle_seed != 0 && options_.explores_suspensions;
  }
  // Whether a call that need not suspend does so this time.
  bool chooses_suspension() { return shuffle_.below(suspension_one_in_) == 0; }
  void run_next();
  void run_task(const detail::ReadyRing::Entry& entry);
  void run_next_strand();
  [[noreturn]] void report_deadlock() const;
  TaskInfo info_of(const detail::TaskControl& task) const;
  // Those behind `place`, which becomes the last of them; null: all tasks.
  std::vector<TaskInfo> tasks_behind(const TasksOptions& options,
                                     detail::TaskControl*& place) const;
  void find_holders(std::span<TaskInfo> infos) const;
  static void charge_cpu(std::uint64_t nanoseconds, const void* context);
  static void answer_interruption(const void* context);

  static inline constinit DeadlockDetails deadlock_details_ = nullptr;

  detail::SchedulerEntry entry_{*this};
  EventSource& source_;
  Options options_;
  std::uint64_t turn_count_ = 0;
  bool is_at_rest_ = true;           // Its pools had nothing to give back.
  std::unique_ptr<Main> main_;       // From begin() to finish(), or while run() lasts.
  SplitMix64 shuffle_;               // By Options::shuffle_seed.
  std::uint64_t suspension_one_in_;  // See chooses_suspension().
  detail::OutgoingMail outgoing_;
  std::atomic<detail::Mail*> posted_ = nullptr;  // Newest first.
  // Threads inside post(), after they have published their work or shortly before.
  std::atomic<std::uint32_t> poster_count_ = 0;
  std::atomic<std::uint32_t> queued_call_count_ = 0;
  const std::unique_ptr<TaskGroup> visitors_;
  std::atomic<std::uint32_t> activity_ = 0;
};

template <typename Recorder>
Recording<Recorder>::~Recording() {
  if (scheduler_ != nullptr) scheduler_->end(recorder_);
}

}  // namespace corolane::coroutine
