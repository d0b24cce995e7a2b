// SPDX-License-Identifier: MIT
#include "coroutine/scheduler.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <thread>
#include <utility>

#include "coroutine/base/check.h"
#include "coroutine/base/cycle_clock.h"
#include "coroutine/detail/async_strand.h"
#include "coroutine/detail/cpu_meter.h"
#include "coroutine/detail/frame_chunks.h"
#include "coroutine/detail/instruments.h"
#include "coroutine/detail/lock_watch.h"
#include "coroutine/detail/overflow_watch.h"
#include "coroutine/detail/task_frame.h"
#include "coroutine/interrupter.h"
#include "coroutine/stack/detail/context_switch.h"
#include "coroutine/switch_trace.h"
#include "coroutine/task_group.h"

namespace corolane::coroutine {
namespace {

// Ten thousand connections that arrived together may time out together. Their timers and the tasks
// that these wake yield the turn after this time, and continue in the next one;
constexpr Duration firing_max = std::chrono::microseconds(25);
// but after a long turn they may take this fraction of its length.
constexpr int firing_part = 4;
// The number of timers that fire at first before the woken tasks run.
constexpr std::size_t firing_count = 8;
// The number that fires at the end of a turn that left tasks ready.
constexpr std::size_t firing_behind_count = 256;

// A race may need a suspension here and none there: some seeds suspend in half of the calls that
// need not, others in one of sixteen.
std::uint64_t suspension_one_in(std::uint64_t shuffle_seed) {
  return std::uint64_t{2} << SplitMix64(~shuffle_seed).below(4);
}

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
struct Scheduler::Posted : detail::Mail {
  explicit Posted(std::move_only_function<void()> its_work)
      : Mail{.open =
                 [](Mail& mail) {
                   static_cast<Posted&>(mail).work();
                   delete static_cast<Posted*>(&mail);
                 },
             .drop = [](Mail& mail) { delete static_cast<Posted*>(&mail); }},
        work(std::move(its_work)) {}

  std::move_only_function<void()> work;
};

// Makes the scheduler the current one of this thread for the duration of run().
struct Scheduler::ThreadBinding {
  explicit ThreadBinding(Scheduler& scheduler)
      : previous_scheduler(std::exchange(Scheduler::current_, static_cast<Switcher*>(&scheduler))),
        previous_task(std::exchange(Scheduler::running_, nullptr)),
        previous_strand(std::exchange(Scheduler::running_strand_, nullptr)),
        previous_exploration(
            std::exchange(Scheduler::explores_suspensions_, scheduler.explores_suspensions())),
        previous_source(corolane::detail::set_thread_time_source(&scheduler.source_)),
        bound(scheduler),
        previous_thread(std::exchange(scheduler.thread_, pthread_self())) {}
  ~ThreadBinding() {
    bound.thread_ = previous_thread;
    detail::ThreadState::set(previous_arithmetic);
    corolane::detail::set_thread_time_source(previous_source);
    Scheduler::explores_suspensions_ = previous_exploration;
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
  bool previous_exploration;
  const corolane::detail::TimeSource* previous_source;
  Scheduler& bound;
  pthread_t previous_thread;
  detail::ThreadState::Arithmetic previous_arithmetic = detail::ThreadState::find();
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
    : Switcher(options, source),
      source_(source),
      options_(std::move(options)),
      shuffle_(options_.shuffle_seed),
      suspension_one_in_(suspension_one_in(options_.shuffle_seed)),
      visitors_(std::make_unique<TaskGroup>()) {
  corolane::detail::set_task_namer([]() -> std::string_view {
    const detail::TaskControl* const task = detail::Strand::running_task();
    return task == nullptr ? std::string_view{} : task->name();
  });
}

Scheduler::~Scheduler() {
  check(all_tasks_.empty(), "every task was joined before its scheduler ends");
  // The work that ended the last run may be faster than the thread that posted it.
  while (poster_count_.load(std::memory_order_acquire) > 0) std::this_thread::yield();
  for (detail::Mail* mail = posted_.exchange(nullptr); mail != nullptr;) {
    detail::Mail& dropped = *std::exchange(mail, mail->next);
    dropped.drop(dropped);
  }
}

Result<void> Scheduler::run(std::string_view name, std::move_only_function<void()> main,
                            const std::source_location& site) {
  // The shorter bindings of begin() and finish() change nothing inside this one.
  const ThreadBinding binding(*this);
  instruments_->on_cpu_charge = options_.on_cpu_charge;
  const detail::CpuMeter meter(options_.cpu_sample_interval, &Scheduler::charge_cpu,
                               &Scheduler::answer_interruption);
  const Interruptible interruptible(instruments_->interrupter);
  if (auto begun = begin(name, std::move(main), site); !begun) return begun;
  for (;;) {
    turn();
    if (has_ended()) break;
    wait_outside();
  }
  return finish();
}

Result<void> Scheduler::begin(std::string_view name, std::move_only_function<void()> main,
                              const std::source_location& site) {
  check(main_ == nullptr, "run() is not called while it runs");
  const ThreadBinding binding(*this);
  turn_time_ = source_.now();
  auto spawned = Main::spawn(name, std::move(main), options_.main_stack_size_bytes, site);
  if (!spawned) return std::move(spawned.error());
  main_ = std::make_unique<Main>(*spawned);
  return {};
}

bool Scheduler::step() {
  const ThreadBinding binding(*this);
  turn_time_ = source_.now();
  turn();
  if (has_ended()) return false;
  tend_stacks();
  return true;
}

bool Scheduler::has_ended() {
  if (!main_->has_ended()) return false;
  visitors_->cancel();
  return visitors_->size() == 0;
}

TaskGroup* Scheduler::visitors() const {
  return main_ == nullptr || main_->has_ended() ? nullptr : visitors_.get();
}

void Scheduler::cancel() { main_->frame().cancel(); }

Deadline Scheduler::next_step() {
  if (!is_idle() || posted_.load(std::memory_order_relaxed) != nullptr) {
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
  receive(*new Posted(std::move(work)));
}

void Scheduler::receive(const detail::MailBag& bag) {
  // Once the mail is published, the loop may open it, and this scheduler may end: its destructor
  // waits for the last access below.
  poster_count_.fetch_add(1, std::memory_order_relaxed);
  detail::Mail* newest = posted_.load(std::memory_order_relaxed);
  do {
    bag.oldest->next = newest;
  } while (!posted_.compare_exchange_weak(newest, bag.newest, std::memory_order_release,
                                          std::memory_order_relaxed));
  // Also when the list was not empty: the thread that posted first may be preempted before this.
  source_.wake();
  poster_count_.fetch_sub(1, std::memory_order_release);
}

bool Scheduler::call_enters_queue(bool may_exceed) {
  const std::uint32_t before = queued_call_count_.fetch_add(1, std::memory_order_relaxed);
  if (may_exceed || before < options_.queued_call_count_max) return true;
  call_left_queue();
  return false;
}

void Scheduler::turn() {
  work();
  outgoing_.send();
}

// Runs posted work, ready tasks and due timers.
void Scheduler::work() {
  const Activity active(activity_);
  ++turn_count_;
  run_posted();
  run_control();
  run_ready(turn_time_, turn_time_ + detail::TurnClock::turn_max);
  timers_.collect_due(std::max(turn_time_, turn_clock_.last_look()));
  // Others are still ready: tasks woken by timers queue behind them and must not overtake.
  if (!ready_.empty()) {
    timers_.fire_due(firing_behind_count);
    return;
  }
  std::size_t count = firing_count;
  bool is_more_due = timers_.fire_due(count);
  const TimePoint start = is_more_due ? source_.now() : turn_time_;
  const TimePoint end = start + std::max(firing_max, (start - turn_time_) / firing_part);
  run_ready(start, end);
  while (is_more_due && ready_.empty()) {
    const TimePoint now = source_.now();
    if (now > end) break;
    count *= 2;
    is_more_due = timers_.fire_due(count);
    run_ready(now, end);
  }
}

void Scheduler::wait_outside() {
  // A thread that posts may be preempted before it wakes the source.
  Deadline until = Deadline::passed();
  if (is_idle() && posted_.load(std::memory_order_relaxed) == nullptr) {
    until = earlier(timers_.next(), tend_stacks());
  }
  if (!source_.wait(until)) report_deadlock();
  turn_time_ = source_.now();
}

// Returns when to call it again.
Deadline Scheduler::tend_stacks() {
  const Deadline upkeep = earlier(stacks_.tend(turn_time_), detail::FrameChunks::tend(turn_time_));
  // A burst that made the pools grow made the ring grow, too.
  if (upkeep.is_never() && !is_at_rest_) ready_.fit(task_count_ + ready_strand_count_);
  is_at_rest_ = upkeep.is_never();
  return upkeep;
}

void Scheduler::run_posted() {
  detail::Mail* newest = posted_.exchange(nullptr, std::memory_order_acquire);
  detail::Mail* oldest = nullptr;
  while (newest != nullptr) {
    detail::Mail* const next = newest->next;
    newest->next = std::exchange(oldest, newest);
    newest = next;
  }
  while (oldest != nullptr) {
    detail::Mail& mail = *std::exchange(oldest, oldest->next);
    mail.open(mail);
  }
}

void detail::OutgoingMail::send_early(MailBag& bag) {
  bag.to->receive(bag);
  bag = {.to = bag.to};
}

void detail::OutgoingMail::send_all() {
  for (const MailBag& bag : bags_) {
    if (bag.count > 0) bag.to->receive(bag);
  }
  bags_.clear();
}

// Those that are ready now, one step each, until the time of a turn is over; the others of the turn
// come after them.
void Scheduler::run_control() {
  for (std::size_t count = control_.size(); count > 0; --count) {
    if (options_.shuffle_seed != 0) control_.bring_to_front(shuffle_.below(control_.size()));
    begin_single_step();
    run_task(control_.pop());
    // The clock was read when the step ended.
    if (turn_clock_.last_look() >= turn_time_ + detail::TurnClock::turn_max) return;
  }
}

void Scheduler::run_ready(TimePoint now, TimePoint end) {
  if (options_.shuffle_seed != 0) return run_ready_shuffled();
  begin_steps(now, end);
  while (turn_left_ > 0 && !ready_.empty()) run_next();
}

// Runs one at a time, so that each returns here, and only a few, so that outside events come
// between.
void Scheduler::run_ready_shuffled() {
  for (std::uint64_t count = 1 + shuffle_.below(8); count > 0 && !ready_.empty(); --count) {
    ready_.bring_to_front(shuffle_.below(ready_.size()));
    begin_single_step();
    run_next();
  }
}

void Scheduler::run_next() {
  if (!has_next_task()) return run_next_strand();
  run_task(ready_.pop());
}

void Scheduler::run_task(const detail::ReadyRing::Entry& entry) {
  const detail::ReadyRing::Entry first = take_task(entry);
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
  run_control();
  run_ready(turn_time_, turn_time_ + detail::TurnClock::turn_max);
}

// Counts as a switch in the turn's budget, but is never timed.
void Scheduler::run_next_strand() {
  const detail::ReadyRing::Entry next = ready_.pop();
  --ready_strand_count_;
  if (trace_ != nullptr) trace_->note(cycle_count(), 0, "stackless coroutine");
  detail::Strand::go_on(next);
  trace_loop();
  if (--turn_left_ == 0) look_at_clock();
  plan_steps();
}

}  // namespace corolane::coroutine
