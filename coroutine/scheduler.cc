// SPDX-License-Identifier: MIT
#include "coroutine/scheduler.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>

#include "coroutine/base/check.h"
#include "coroutine/base/cycle_clock.h"
#include "coroutine/detail/async_strand.h"
#include "coroutine/detail/cpu_meter.h"
#include "coroutine/detail/instruments.h"
#include "coroutine/detail/lock_watch.h"
#include "coroutine/detail/overflow_watch.h"
#include "coroutine/detail/task_frame.h"
#include "coroutine/interrupter.h"
#include "coroutine/stack/detail/context_switch.h"
#include "coroutine/switch_trace.h"

namespace corolane::coroutine {
namespace {

// A turn should be long compared with the system call that ends it, and too short for people to
// notice: the number of switches per turn adapts to their cost to stay between these.
constexpr Duration turn_min = std::chrono::microseconds(50);
constexpr Duration turn_max = std::chrono::microseconds(200);
constexpr std::uint32_t turn_budget_max = 4096;
// Turns with expensive switches have fewer of them, but not below this: a poll, and the packets it
// sends to all peers answered or refused meanwhile, would cost a tenth of a busy thread.
constexpr std::uint32_t turn_budget_few = 32;
// Only turns that take this long go below that number.
constexpr Duration turn_long = std::chrono::milliseconds(8);
constexpr std::uint32_t turn_budget_min = 4;

// Ten thousand connections that arrived together may time out together. Their timers and the tasks
// that these wake yield the turn after this time, and continue in the next one;
constexpr Duration firing_max = std::chrono::microseconds(25);
// but after a long turn they may take this fraction of its length.
constexpr int firing_part = 4;
// The number of timers that fire at first before the woken tasks run.
constexpr std::size_t firing_count = 8;

// Lives during run(); interruptions need a running meter to answer them.
class Interruptible {
 public:
  explicit Interruptible(Interrupter& interrupter) : interrupter_(interrupter) {
    if (detail::CpuMeter::is_running()) interrupter_.enter();
  }
  ~Interruptible() { interrupter_.leave(); }
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;

 private:
  Interrupter& interrupter_;
};

}  // namespace

// Work that another thread handed over, newest first until it is taken.
struct Scheduler::Posted {
  std::move_only_function<void()> work;
  Posted* next;
};

// Makes the scheduler the current one of this thread for the duration of run().
struct Scheduler::ThreadBinding {
  explicit ThreadBinding(Scheduler& scheduler)
      : previous_scheduler(std::exchange(Scheduler::current_, static_cast<Switcher*>(&scheduler))),
        previous_task(std::exchange(Scheduler::running_, nullptr)),
        previous_strand(std::exchange(Scheduler::running_strand_, nullptr)),
        previous_source(corolane::detail::set_thread_time_source(&scheduler.source_)) {}
  ~ThreadBinding() {
    corolane::detail::set_thread_time_source(previous_source);
    Scheduler::running_strand_ = previous_strand;
    Scheduler::running_ = previous_task;
    Scheduler::current_ = previous_scheduler;
  }

  // Initialised first: reads these before they become null.
  detail::OverflowWatch overflow_watch{detail::Strand::task_of_stack()};
  detail::LockWatch lock_watch;
  detail::Switcher* previous_scheduler;
  detail::TaskControl* previous_task;
  detail::Strand* previous_strand;
  const corolane::detail::TimeSource* previous_source;
};

// While it lives, the loop runs tasks.
class Scheduler::Activity {
 public:
  explicit Activity(std::atomic<std::uint32_t>& number) : number_(number) { next(); }
  ~Activity() { next(); }
  Activity(const Activity&) = delete;
  Activity& operator=(const Activity&) = delete;

 private:
  // No other thread writes it.
  void next() {
    number_.store(number_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }

  std::atomic<std::uint32_t>& number_;
};

class Scheduler::Main {
 public:
  using Frame = detail::TaskFrame<std::move_only_function<void()>, void>;

  // Called inside the scheduler's binding.
  static Result<Main> spawn(std::string_view name, std::move_only_function<void()> main,
                            std::size_t stack_size_bytes, const std::source_location& site) {
    auto spawned = detail::spawn_frame<void>(name, std::move(main),
                                             {.stack_size_bytes = stack_size_bytes}, site, nullptr);
    if (!spawned) return std::move(spawned.error());
    return Main(**spawned);
  }

  bool has_ended() const { return frame_.state == TaskState::ended; }
  Frame& frame() const { return frame_; }

 private:
  explicit Main(Frame& frame) : frame_(frame) {}

  Frame& frame_;
};

Scheduler::Scheduler(EventSource& source, Options options)
    : Switcher(options, source.now()),
      source_(source),
      options_(std::move(options)),
      shuffle_(options_.shuffle_seed) {
  corolane::detail::set_task_namer([]() -> std::string_view {
    const detail::TaskControl* const task = detail::Strand::running_task();
    return task == nullptr ? std::string_view{} : task->name();
  });
}

Scheduler::~Scheduler() {
  check(all_tasks_.empty(), "every task was joined before its scheduler ends");
  for (Posted* posted = posted_.exchange(nullptr); posted != nullptr;) {
    delete std::exchange(posted, posted->next);
  }
}

Result<void> Scheduler::run(std::string_view name, std::move_only_function<void()> main,
                            const std::source_location& site) {
  // The shorter bindings of begin() and finish() change nothing inside this one.
  const ThreadBinding binding(*this);
  const detail::CpuMeter meter(options_.cpu_sample_interval, &Scheduler::charge_cpu,
                               &Scheduler::answer_interruption);
  const Interruptible interruptible(instruments_->interrupter);
  if (auto begun = begin(name, std::move(main), site); !begun) return begun;
  for (;;) {
    turn();
    if (main_->has_ended()) break;
    wait_outside();
  }
  return finish();
}

Result<void> Scheduler::begin(std::string_view name, std::move_only_function<void()> main,
                              const std::source_location& site) {
  check(main_ == nullptr, "run() is not called while it runs");
  const ThreadBinding binding(*this);
  detail::ThreadState::find();
  turn_time_ = source_.now();
  auto spawned = Main::spawn(name, std::move(main), options_.main_stack_size_bytes, site);
  if (!spawned) return std::move(spawned.error());
  main_ = std::make_unique<Main>(*spawned);
  return {};
}

bool Scheduler::step() {
  const ThreadBinding binding(*this);
  detail::ThreadState::find();
  turn_time_ = source_.now();
  turn();
  if (main_->has_ended()) return false;
  tend_stacks();
  return true;
}

void Scheduler::cancel() { main_->frame().cancel(); }

Deadline Scheduler::next_step() const {
  if (!ready_.empty() || posted_.load(std::memory_order_relaxed) != nullptr) {
    return Deadline::passed();
  }
  return timers_.next();
}

Result<void> Scheduler::finish() {
  const ThreadBinding binding(*this);
  const std::unique_ptr<Main> main = std::move(main_);
  Result<void> result = main->frame().result.take();
  drop_reference(main->frame());
  if (!all_tasks_.empty()) {
    std::fputs(to_text(tasks()).c_str(), stderr);
    check(false, "no task is left when the main task ends: tasks have owners that join them");
  }
  source_.run_ended();
  return result;
}

void Scheduler::post(std::move_only_function<void()> work) {
  Posted* newest = posted_.load(std::memory_order_relaxed);
  auto* const posted = new Posted{.work = std::move(work), .next = newest};
  while (!posted_.compare_exchange_weak(newest, posted, std::memory_order_release,
                                        std::memory_order_relaxed)) {
    posted->next = newest;
  }
  // The first post to an empty list wakes the loop, which then takes all that follow. `posted` may
  // be gone already.
  if (newest == nullptr) source_.wake();
}

// Runs posted work, ready tasks and due timers.
void Scheduler::turn() {
  const Activity active(activity_);
  ++turn_count_;
  run_posted();
  run_ready();
  timers_.collect_due(turn_time_);
  // Others are still ready: tasks woken by timers queue behind them and must not overtake.
  if (!ready_.empty()) {
    timers_.fire_due(turn_budget_);
    return;
  }
  std::size_t count = firing_count;
  bool is_more_due = timers_.fire_due(count);
  const TimePoint start = is_more_due ? source_.now() : turn_time_;
  const TimePoint end = start + std::max(firing_max, (start - turn_time_) / firing_part);
  run_ready();
  while (is_more_due && ready_.empty() && source_.now() <= end) {
    count *= 2;
    is_more_due = timers_.fire_due(count);
    run_ready();
  }
}

void Scheduler::wait_outside() {
  // Posted work need not be checked here: post() has woken the source.
  Deadline until = Deadline::passed();
  if (ready_.empty()) until = earlier(timers_.next(), tend_stacks());
  if (!source_.wait(until)) report_deadlock();
  turn_time_ = source_.now();
}

// Returns when to call it again.
Deadline Scheduler::tend_stacks() {
  const bool was_at_rest = stacks_.is_at_rest();
  const Deadline upkeep = stacks_.tend(turn_time_);
  // A burst that made the pool grow made the ring grow, too.
  if (upkeep.is_never() && !was_at_rest) ready_.fit(task_count_);
  return upkeep;
}

void Scheduler::run_posted() {
  Posted* newest = posted_.exchange(nullptr, std::memory_order_acquire);
  Posted* oldest = nullptr;
  while (newest != nullptr) {
    Posted* const next = newest->next;
    newest->next = std::exchange(oldest, newest);
    newest = next;
  }
  while (oldest != nullptr) {
    oldest->work();
    delete std::exchange(oldest, oldest->next);
  }
}

void Scheduler::run_ready() {
  if (options_.shuffle_seed != 0) return run_ready_shuffled();
  turn_left_ = turn_budget_;
  plan_steps();
  while (turn_left_ > 0 && !ready_.empty()) run_next();
  if (turn_left_ == 0) adapt_turn_budget(source_.now() - turn_time_);
}

// Runs one at a time, so that each returns here, and only a few, so that outside events come
// between.
void Scheduler::run_ready_shuffled() {
  for (std::uint64_t count = 1 + shuffle_.below(8); count > 0 && !ready_.empty(); --count) {
    ready_.bring_to_front(shuffle_.below(ready_.size()));
    turn_left_ = 1;
    plan_steps();
    run_next();
  }
}

void Scheduler::run_next() {
  if (!has_next_task()) return run_next_strand();
  const detail::ReadyRing::Entry first = take_next_task();
  trace_running();
  detail::ContextSwitch::switch_to(loop_context_, loop_context_.frame, *running_, first.frame);
  trace_loop();
  count_steps();
}

void Scheduler::run_ready_tasks() {
  check(current_ == this && running_ == nullptr && running_strand_ == nullptr,
        "tasks are not run by a task");
  const Activity active(activity_);
  turn_time_ = source_.now();
  run_ready();
}

// Counts as a switch in the turn's budget, but is never timed.
void Scheduler::run_next_strand() {
  const detail::ReadyRing::Entry next = ready_.pop();
  --ready_strand_count_;
  if (trace_ != nullptr) trace_->note(cycle_count(), 0, "stackless coroutine");
  detail::Strand::go_on(next);
  trace_loop();
  --turn_left_;
  plan_steps();
}

void Scheduler::adapt_turn_budget(Duration turn) {
  const bool is_few = turn_budget_ <= turn_budget_few;
  if (turn < turn_min || (turn_budget_ < turn_budget_few && turn < turn_long / 4)) {
    turn_budget_ = std::min(turn_budget_ * 2, turn_budget_max);
  } else if (turn > (is_few ? turn_long : turn_max)) {
    turn_budget_ = std::max(turn_budget_ / 2, is_few ? turn_budget_min : turn_budget_few);
  }
}

}  // namespace corolane::coroutine
