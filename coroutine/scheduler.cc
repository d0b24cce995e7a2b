#include "coroutine/scheduler.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>
#include <utility>

#include "coroutine/base/check.h"
#include "coroutine/base/cycle_clock.h"
#include "coroutine/detail/async_frame_pool.h"
#include "coroutine/detail/async_strand.h"
#include "coroutine/detail/overflow_watch.h"
#include "coroutine/detail/task_frame.h"
#include "coroutine/detail/task_tracer.h"
#include "coroutine/marked_section.h"
#include "coroutine/stack/detail/context_switch.h"

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

constexpr std::uint32_t never_sample = std::numeric_limits<std::uint32_t>::max();

std::uint64_t nanoseconds_between(std::uint64_t start_cycles, std::uint64_t end_cycles) {
  const std::uint64_t elapsed = end_cycles - start_cycles;
  const std::uint64_t overhead = cycle_count_overhead();
  const std::uint64_t cycles = elapsed > overhead ? elapsed - overhead : 0;
  return static_cast<std::uint64_t>(static_cast<double>(cycles) / cycles_per_ns());
}

// The distance from the top of its stack to its suspended frame; zero when that is unknown, because
// the task runs or waits for its turn.
std::size_t stack_use_of(const detail::TaskControl& task) {
  if (task.state != TaskState::suspended || &task == detail::Strand::task_of_stack()) return 0;
  return static_cast<std::size_t>(task.stack_top - static_cast<const std::byte*>(task.frame));
}

}  // namespace

// Work that another thread handed over, newest first until it is taken.
struct Scheduler::Posted {
  std::move_only_function<void()> work;
  Posted* next;
};

// Makes the scheduler the current one of this thread for the duration of run().
struct Scheduler::ThreadBinding {
  explicit ThreadBinding(Scheduler& scheduler)
      : previous_scheduler(std::exchange(Scheduler::current_, &scheduler)),
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
  Scheduler* previous_scheduler;
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
    : source_(source),
      options_(std::move(options)),
      stacks_(options_.stacks),
      timers_(source.now()),
      sample_left_(options_.switch_sample_interval == 0 ? never_sample
                                                        : options_.switch_sample_interval),
      next_create_sample_(options_.create_sample_interval),
      turn_time_(source.now()),
      sites_(options_.stack_sample_interval),
      shuffle_(options_.shuffle_seed) {
  // Measured now rather than inside the first sample.
  cycles_per_ns();
  cycle_count_overhead();
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

// Lives during run(); interruptions need a running meter to answer them.
struct Scheduler::Interruptible {
  explicit Interruptible(Interrupter& it) : interrupter(it) {
    if (detail::CpuMeter::is_running()) interrupter.enter();
  }
  ~Interruptible() { interrupter.leave(); }
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;

  Interrupter& interrupter;
};

Result<void> Scheduler::run(std::string_view name, std::move_only_function<void()> main,
                            const std::source_location& site) {
  // The shorter bindings of begin() and finish() change nothing inside this one.
  const ThreadBinding binding(*this);
  const detail::CpuMeter meter(options_.cpu_sample_interval, &Scheduler::charge_cpu,
                               &Scheduler::answer_interruption);
  const Interruptible interruptible(interrupter_);
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

std::vector<TaskInfo> Scheduler::tasks(const TasksOptions& options) const {
  std::optional<detail::TaskTracer> tracer;
  if (options.traces) tracer.emplace(ready_, detail::Strand::task_of_stack());
  std::vector<TaskInfo> infos;
  infos.reserve(std::min(statistics_.task_count, options.count_max));
  all_tasks_.for_each_while([&](const detail::TaskControl& task) {
    if (task.top().id <= options.after) return true;
    if (infos.size() == options.count_max) return false;
    infos.push_back(info_of(task));
    if (tracer) infos.back().trace = tracer->trace(task);
    return true;
  });
  return infos;
}

std::optional<TaskInfo> Scheduler::task(TaskId id) const {
  std::optional<TaskInfo> info;
  all_tasks_.for_each_while([&](const detail::TaskControl& task) {
    if (task.top().id != id) return true;
    info = info_of(task);
    info->trace = detail::TaskTracer(ready_, detail::Strand::task_of_stack()).trace(task);
    return false;
  });
  return info;
}

TaskInfo Scheduler::info_of(const detail::TaskControl& task) const {
  const detail::TaskTop& top = task.top();
  return {.id = top.id,
          .name = std::string(task.name()),
          .state = &task == detail::Strand::task_of_stack() ? TaskState::running : task.state,
          .cancelled = task.is_cancelled(),
          .waiting_for = task.waiting_for == nullptr ? "" : task.waiting_for,
          .in_state = turn_time_ - task.state_since,
          .age = turn_time_ - top.spawned_at,
          .site = top.site,
          .cpu = top.cpu.sum(),
          .stack_size_bytes = StackPool::stack_size_bytes_min << task.stack_size_class,
          .stack_used_bytes = stack_use_of(task)};
}

Scheduler::Statistics Scheduler::statistics() const {
  Statistics statistics = statistics_;
  statistics.created_count = last_task_id_;
  statistics.ready_count = ready_.size();
  statistics.switch_count += steps_ - steps_left_;
  statistics.stackless_count = detail::AsyncFramePool::frame_count();
  statistics.loop_cpu = loop_cpu_.sum();
  statistics.measures_cpu = current_ == this && detail::CpuMeter::is_running();
  return statistics;
}

// Runs posted work, ready tasks and due timers.
void Scheduler::turn() {
  const Activity active(activity_);
  ++statistics_.turn_count;
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
  if (upkeep.is_never() && !was_at_rest) ready_.fit(statistics_.task_count);
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

void Scheduler::report_deadlock() const {
  std::fprintf(stderr, "deadlock: every task waits and nothing can end a wait\n%s",
               to_text(tasks()).c_str());
  const std::size_t stackless_count = statistics().stackless_count;
  if (stackless_count > 0) {
    std::fprintf(stderr, "every stackless coroutine waits too, %zu\n", stackless_count);
  }
  if (deadlock_details_ != nullptr) deadlock_details_(*this);
  std::abort();
}

void Scheduler::suspend_slowly(detail::TaskControl& running, void*& frame) {
  TaskMeter* const meter = meter_of(running);
  MarkedSection* const section = MarkedSection::of(running);
  if (meter == nullptr && section == nullptr) return switch_slowly(running, frame);
  if (section != nullptr) section->suspends();
  if (meter != nullptr) {
    meter->pause();
    ++meter->cost_.suspension_count;
  }
  switch_slowly(running, frame);
  watch_next_switch();
  if (meter != nullptr) meter->go_on();
  if (section != nullptr) section->resumed();
}

[[gnu::always_inline]] inline void Scheduler::switch_slowly(detail::TaskControl& running,
                                                            void*& frame) {
  const bool timed = steps_left_ == 0 && is_switch_timed();
  if (turn_left_ == 0 || !has_next_task()) {
    running_ = nullptr;
    detail::ContextSwitch::switch_to(running, frame, loop_context_, loop_context_.frame);
    return;
  }
  const detail::ReadyRing::Entry next = take_next_task();
  if (next.owner == &running) {
    switch_sample_start_ = 0;  // It was no switch.
    return;
  }
  trace_running();
  if (timed && running_->has_begun) {
    detail::ContextSwitch::switch_to_below<&Scheduler::end_switch_sample>(running, frame, *running_,
                                                                          next.frame);
  } else {
    detail::ContextSwitch::switch_to(running, frame, *running_, next.frame);
  }
}

// Not done at spawn: with tens of thousands of tasks waiting for their turn, it would fetch one
// more line of each.
[[gnu::always_inline]] inline void* Scheduler::make_first_frame(detail::TaskControl& task) {
  task.prepare<&Scheduler::enter_task>(task.stack().base, reinterpret_cast<std::byte*>(&task));
  return task.frame;
}

void* Scheduler::begin_stack(detail::TaskControl& task) { return make_first_frame(task); }

// Inlined, down to the first frame of the next task: with tasks that end and begin by the thousand,
// a stack should be touched little.
[[gnu::always_inline]] inline void Scheduler::end(detail::TaskControl& running) {
  detail::SpawnSites::ended(running);
  detail::LockWatch::check_none_is_held();
  if (!running.is_member) {  // A group's child has no joiner.
    running.state = TaskState::ended;
    running.state_since = turn_time_;
    if (!running.joiners.empty()) running.joiners.notify_all();
  }
  // From here on the stack may be handed out again, but to no task that runs before we have left
  // it.
  drop_reference(running);
  const bool timed = --steps_left_ == 0 && is_switch_timed();
  if (turn_left_ == 0 || !has_next_task()) {
    running_ = nullptr;
    detail::ContextSwitch::leave_to(running, loop_context_, loop_context_.frame);
  }
  detail::ReadyRing::Entry next = take_next();
  trace_running();
  if (next.is_fresh()) {
    next.frame = make_first_frame(*running_);
  } else if (timed) {
    detail::ContextSwitch::leave_to_below<&Scheduler::end_switch_sample>(running, *running_,
                                                                         next.frame);
  }
  detail::ContextSwitch::leave_to(running, *running_, next.frame);
}

void Scheduler::count_steps() {
  const std::uint32_t done = steps_ - steps_left_;
  statistics_.switch_count += done;
  turn_left_ -= done;
  if (sample_left_ != never_sample) sample_left_ -= done;
  plan_steps();
}

// While a trace is active, every switch is inspected.
void Scheduler::plan_steps() {
  steps_ = steps_left_ = std::min({turn_left_, sample_left_, trace_ == nullptr ? never_sample : 1});
}

void Scheduler::watch_next_switch() {
  count_steps();
  steps_ = steps_left_ = 1;
}

TaskMeter* Scheduler::meter_of(const detail::TaskControl& task) const {
  TaskMeter* found = nullptr;
  meters_.for_each_while([&](TaskMeter& meter) {
    if (meter.task_ == &task) found = &meter;
    return found == nullptr;
  });
  return found;
}

void Scheduler::trace_running() const {
  if (trace_ == nullptr) return;
  trace_->note(cycle_count(), running_->top().id, running_->name());
}

void Scheduler::trace_loop() const {
  if (trace_ != nullptr) trace_->note(cycle_count(), 0, "loop");
}

bool Scheduler::begin(SwitchTrace& trace) {
  if (trace_ != nullptr) return false;
  trace_ = &trace;
  trace_running();
  watch_next_switch();
  return true;
}

void Scheduler::end(SwitchTrace& trace) {
  check(trace_ == &trace, "a trace that was begun is ended");
  trace_loop();
  trace_ = nullptr;
}

bool Scheduler::begin(CpuProfile& profile) {
  if (profile_ != nullptr) return false;
  profile_ = &profile;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  return true;
}

void Scheduler::end(CpuProfile& profile) {
  check(profile_ == &profile, "a profile that was begun is ended");
  profile_ = nullptr;
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

bool Scheduler::is_switch_timed() {
  count_steps();
  if (sample_left_ > 0) return false;
  sample_left_ = options_.switch_sample_interval;
  plan_steps();
  // A switch through the loop is not one from task to task.
  if (turn_left_ == 0 || !has_next_task()) return false;
  // A dry run loads the measuring code into the cache, so that its misses are not measured.
  end_switch_sample();
  switch_sample_start_ = cycle_count();
  return true;
}

// Runs first in the task that was switched to, on top of its stack.
void Scheduler::end_switch_sample() {
  const std::uint64_t end = cycle_count();
  Scheduler& scheduler = *current_;
  const std::uint64_t start = std::exchange(scheduler.switch_sample_start_, 0);
  if (start != 0) scheduler.statistics_.switch_ns.record(nanoseconds_between(start, end));
}

// Inlined: the outermost frame of each task's stack should be small.
[[gnu::always_inline]] inline void Scheduler::enter_task() {
  Scheduler& scheduler = *current_;
  *detail::ThreadState::here.error_number = 0;
  // A fresh task had no stack on which to run it.
  if (scheduler.switch_sample_start_ != 0) end_switch_sample();
  detail::TaskControl& task = *scheduler.running_;
  task.has_begun = true;
  task.run(task);
  scheduler.end(task);
}

// Runs in a signal handler, between any two instructions of this thread. The computation of a
// stackless coroutine is charged to the awaiting task.
void Scheduler::charge_cpu(std::uint64_t nanoseconds, const void* context) {
  detail::TaskControl* const task = detail::Strand::running_task();
  if (CpuProfile* const profile = current_->profile_) {
    profile->add(std::chrono::nanoseconds(nanoseconds), context, task);
  }
  if (task != nullptr) {
    task->top().cpu.add(nanoseconds);
    task->site_record->cpu.add(nanoseconds);
  } else {
    current_->loop_cpu_.add(nanoseconds);
  }
}

// Runs in a signal handler as well.
void Scheduler::answer_interruption(const void* context) {
  if (current_ != nullptr) {
    current_->interrupter_.answer(context, detail::Strand::running_task());
  }
}

void Scheduler::give_up_spawn(const Stack& stack) {
  create_sample_start_ = 0;
  stacks_.release(stack);
}

void Scheduler::begin_create_sample() {
  next_create_sample_ = options_.create_sample_interval;
  if (next_create_sample_ != 0) create_sample_start_ = cycle_count();
}

void Scheduler::end_create_sample() {
  const std::uint64_t end = cycle_count();
  statistics_.create_ns.record(nanoseconds_between(std::exchange(create_sample_start_, 0), end));
}

void detail::TaskControl::set_flag(std::uint8_t flag) {
  if (flags == 0) ++scheduler.flagged_count_;
  flags |= flag;
}

void detail::TaskControl::clear_flag(std::uint8_t flag) {
  const bool had_flags = flags != 0;
  flags &= static_cast<std::uint8_t>(~flag);
  if (had_flags && flags == 0) --scheduler.flagged_count_;
}

void detail::TaskControl::cancel() {
  if (state == TaskState::ended) return;
  set_flag(cancelled_flag);
  if (wait != nullptr) wait->end(Wake::cancelled);
}

void detail::TaskControl::cancel_part() {
  check(flags < 256 - cancelled_part_unit, "at most 63 parts of a task are cancelled at once");
  if (flags == 0) ++scheduler.flagged_count_;
  flags = static_cast<std::uint8_t>(flags + cancelled_part_unit);
  if (wait != nullptr) wait->end(Wake::cancelled);
}

void detail::TaskControl::end_cancelled_part() {
  flags = static_cast<std::uint8_t>(flags - cancelled_part_unit);
  if (flags == 0) --scheduler.flagged_count_;
}

}  // namespace corolane::coroutine
