#include "coroutine/scheduler.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

#include "coroutine/base/check.h"
#include "coroutine/base/cycle_clock.h"
#include "coroutine/detail/context_switch.h"
#include "coroutine/detail/task_frame.h"

namespace corolane::coroutine {
namespace {

thread_local Scheduler* current_scheduler = nullptr;

// A turn should be long against the system call that ends it, and short against what people
// notice: the number of switches in it follows their cost to stay between these.
constexpr Duration turn_min = std::chrono::microseconds(50);
constexpr Duration turn_max = std::chrono::microseconds(200);
constexpr std::uint32_t turn_budget_min = 16;
constexpr std::uint32_t turn_budget_max = 4096;

std::uint64_t nanoseconds_since(std::uint64_t start_cycles) {
  const std::uint64_t elapsed = cycle_count() - start_cycles;
  const std::uint64_t overhead = cycle_count_overhead();
  const std::uint64_t cycles = elapsed > overhead ? elapsed - overhead : 0;
  return static_cast<std::uint64_t>(static_cast<double>(cycles) / cycles_per_ns());
}

}  // namespace

// Work that another thread handed over, newest first until it is taken.
struct Scheduler::Posted {
  std::move_only_function<void()> work;
  Posted* next;
};

// Makes the scheduler the current one of this thread for the length of run().
struct Scheduler::ThreadBinding {
  explicit ThreadBinding(Scheduler& scheduler)
      : previous_scheduler(std::exchange(current_scheduler, &scheduler)),
        previous_source(corolane::detail::set_thread_time_source(&scheduler.source_)) {}
  ~ThreadBinding() {
    corolane::detail::set_thread_time_source(previous_source);
    current_scheduler = previous_scheduler;
  }

  Scheduler* previous_scheduler;
  const corolane::detail::TimeSource* previous_source;
};

Scheduler::Scheduler(EventSource& source, Options options)
    : source_(source),
      options_(options),
      stacks_(options.stacks),
      timers_(source.now()),
      next_switch_sample_(options.switch_sample_interval),
      next_create_sample_(options.create_sample_interval),
      turn_time_(source.now()) {
  // Measured now rather than inside the first sample.
  cycles_per_ns();
  cycle_count_overhead();
  corolane::detail::set_task_namer([]() -> std::string_view {
    Scheduler* const scheduler = current_scheduler;
    return scheduler == nullptr || scheduler->running_ == nullptr ? std::string_view{}
                                                                  : scheduler->running_->name();
  });
}

Scheduler::~Scheduler() {
  check(all_tasks_.empty(), "every task was joined before its scheduler ends");
  for (Posted* posted = posted_.exchange(nullptr); posted != nullptr;) {
    delete std::exchange(posted, posted->next);
  }
}

Scheduler& Scheduler::current() {
  check(current_scheduler != nullptr, "this thread runs a scheduler");
  return *current_scheduler;
}

Scheduler* Scheduler::current_or_null() { return current_scheduler; }

Result<void> Scheduler::run(std::string_view name, std::move_only_function<void()> main) {
  check(exceptions_ == nullptr, "run() is not called while it runs");
  const ThreadBinding binding(*this);
  exceptions_ = &detail::thread_exception_state();
  turn_time_ = source_.now();

  Result<void> result;
  auto frame = detail::spawn_frame<void>(name, std::move(main), options_.main_stack_size_bytes,
                                         std::source_location::current(), nullptr);
  if (frame) {
    for (;;) {
      turn();
      if ((*frame)->state == TaskState::ended) break;
      wait_outside();
    }
    result = std::move(*(*frame)->result);
    (*frame)->result.reset();
    drop_reference(**frame);
    if (!all_tasks_.empty()) {
      std::fputs(to_text(tasks()).c_str(), stderr);
      check(false, "no task is left when the main task ends: tasks have owners that join them");
    }
  } else {
    result = frame.error();
  }
  exceptions_ = nullptr;
  return result;
}

void Scheduler::post(std::move_only_function<void()> work) {
  Posted* newest = posted_.load(std::memory_order_relaxed);
  auto* const posted = new Posted{.work = std::move(work), .next = newest};
  while (!posted_.compare_exchange_weak(newest, posted, std::memory_order_release,
                                        std::memory_order_relaxed)) {
    posted->next = newest;
  }
  // Whoever posts onto an empty list wakes the loop, for all that come until it looks. `posted`
  // may be gone already.
  if (newest == nullptr) source_.wake();
}

std::vector<TaskInfo> Scheduler::tasks(std::size_t count_max) const {
  std::vector<TaskInfo> infos;
  infos.reserve(std::min(statistics_.task_count, count_max));
  all_tasks_.for_each_while([&](const detail::TaskControl& task) {
    if (infos.size() == count_max) return false;
    infos.push_back({.id = task.id,
                     .name = std::string(task.name()),
                     .state = task.state,
                     .cancelled = task.cancelled,
                     .waiting_for = task.waiting_for == nullptr ? "" : task.waiting_for,
                     .in_state = turn_time_ - task.state_since,
                     .age = turn_time_ - task.spawned_at,
                     .site = task.site});
    return true;
  });
  return infos;
}

Scheduler::Statistics Scheduler::statistics() const { return statistics_; }

// What others sent, what became due, what is ready.
void Scheduler::turn() {
  ++statistics_.turn_count;
  run_posted();
  timers_.advance(turn_time_);
  run_ready();
}

void Scheduler::wait_outside() {
  // What was posted needs no look here: post() woke the source.
  if (!source_.wait(ready_.empty() ? timers_.next() : Deadline::passed())) report_deadlock();
  turn_time_ = source_.now();
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
  if (ready_.empty()) return;
  switches_left_ = turn_budget_;
  detail::Context& first = pick_next();
  detail::ContextSwitch::switch_to(loop_context_, first, *exceptions_);
  end_switch_sample();
  if (switches_left_ == 0) adapt_turn_budget(source_.now() - turn_time_);
}

void Scheduler::adapt_turn_budget(Duration turn) {
  if (turn < turn_min) turn_budget_ = std::min(turn_budget_ * 2, turn_budget_max);
  if (turn > turn_max) turn_budget_ = std::max(turn_budget_ / 2, turn_budget_min);
}

void Scheduler::report_deadlock() const {
  std::fprintf(stderr, "deadlock: every task waits and nothing can end a wait\n%s",
               to_text(tasks()).c_str());
  std::abort();
}

// The next ready task, or the loop when none is ready or the turn is over.
inline detail::Context& Scheduler::pick_next() {
  if (switches_left_ == 0 || ready_.empty()) {
    running_ = nullptr;
    return loop_context_;
  }
  --switches_left_;
  ++statistics_.switch_count;
  detail::TaskControl& next = ready_.pop();
  next.state = TaskState::running;
  next.state_since = turn_time_;
  running_ = &next;
  return next.context;
}

inline void Scheduler::begin_switch_sample() {
  if (--next_switch_sample_ == 0) [[unlikely]] {
    next_switch_sample_ = options_.switch_sample_interval;
    if (next_switch_sample_ != 0) switch_sample_start_ = cycle_count();
  }
}

inline void Scheduler::end_switch_sample() {
  if (switch_sample_start_ != 0) [[unlikely]] {
    // Ways through the loop are no switches from task to task.
    const std::uint64_t start = std::exchange(switch_sample_start_, 0);
    if (running_ != nullptr) statistics_.switch_ns.record(nanoseconds_since(start));
  }
}

void Scheduler::suspend_running() {
  detail::TaskControl& task = *running_;
  if (task.state == TaskState::running) {
    task.state = TaskState::suspended;
    task.state_since = turn_time_;
  }
  begin_switch_sample();
  detail::Context& next = pick_next();
  if (&next != &task.context) {
    detail::ContextSwitch::switch_to(task.context, next, *exceptions_);
  }
  end_switch_sample();
}

void Scheduler::end_running() {
  detail::TaskControl& task = *running_;
  task.state = TaskState::ended;
  task.state_since = turn_time_;
  task.joiners.notify_all();
  // From here on the stack may be handed out again, but to nobody who runs before we left it.
  drop_reference(task);
  begin_switch_sample();
  detail::ContextSwitch::leave_to(task.context, pick_next(), *exceptions_);
}

void Scheduler::enter_task(detail::Context& context) {
  Scheduler& scheduler = *current_scheduler;
  scheduler.end_switch_sample();
  detail::TaskControl& task = *scheduler.running_;
  check(&task.context == &context, "the task that was picked is the one that runs");
  task.run(task);
  scheduler.end_running();
}

Result<Stack> Scheduler::begin_spawn(std::size_t stack_size_bytes) {
  if (--next_create_sample_ == 0) [[unlikely]] {
    next_create_sample_ = options_.create_sample_interval;
    if (next_create_sample_ != 0) create_sample_start_ = cycle_count();
  }
  // Only what a sanitizer adds is cut to the largest size; a task that asks for more is refused.
  const std::size_t instrumented_size_bytes =
      std::min(stack_size_bytes * detail::stack_size_factor, StackPool::stack_size_bytes_max);
  auto stack = stacks_.acquire(std::max(stack_size_bytes, instrumented_size_bytes));
  if (!stack) create_sample_start_ = 0;
  return stack;
}

void Scheduler::finish_spawn(detail::TaskControl& task, std::byte* frame_begin) {
  task.id = ++last_task_id_;
  all_tasks_.push_back(task);
  ++statistics_.created_count;
  statistics_.task_count_peak = std::max(statistics_.task_count_peak, ++statistics_.task_count);
  task.context.prepare(task.stack.base, frame_begin, &Scheduler::enter_task);
  ready_.push(task);
  if (create_sample_start_ != 0) [[unlikely]] {
    statistics_.create_ns.record(nanoseconds_since(std::exchange(create_sample_start_, 0)));
  }
}

void Scheduler::drop_reference(detail::TaskControl& task) {
  if (--task.reference_count > 0) return;
  check(task.joiners.empty(), "nobody waits for a task that is gone");
  static_cast<detail::ListNode<detail::AllTasksTag>&>(task).unlink();
  --statistics_.task_count;
  stacks_.release(task.stack);
}

detail::TaskControl::TaskControl(Scheduler& owner, const Stack& own_stack,
                                 std::string_view task_name, const std::source_location& spawn_site)
    : scheduler(owner),
      state_since(owner.turn_time()),
      stack(own_stack),
      id(0),
      spawned_at(owner.turn_time()),
      site(spawn_site),
      name_size(static_cast<std::uint8_t>(std::min(task_name.size(), name_size_max))) {
  std::copy_n(task_name.begin(), name_size, name_text.begin());
}

void detail::TaskControl::cancel() {
  if (state == TaskState::ended) return;
  cancelled = true;
  if (waiter != nullptr) waiter->end(Wake::cancelled);
}

void detail::TaskControl::make_ready() {
  state = TaskState::ready;
  state_since = scheduler.turn_time();
  scheduler.ready_.push(*this);
}

detail::TaskControl& detail::TaskAccess::running() {
  Scheduler& scheduler = Scheduler::current();
  check(scheduler.running_ != nullptr, "only a task may suspend, the loop may not");
  return *scheduler.running_;
}

void detail::TaskAccess::yield_running() {
  TaskControl& task = running();
  task.make_ready();
  task.scheduler.suspend_running();
}

Error detail::stray_exception_error(TaskControl& task, const std::exception* exception) {
  TaskAccess::count_stray_exception(task);
  std::string message = "task \"" + std::string(task.name()) + "\" ended with a stray exception";
  if (exception != nullptr) message.append(": ").append(exception->what());
  return Error(Code::internal, std::move(message));
}

}  // namespace corolane::coroutine
