// SPDX-License-Identifier: MIT
#include "coroutine/detail/switcher.h"

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

#include "coroutine/base/check.h"
#include "coroutine/base/cycle_clock.h"
#include "coroutine/base/text.h"
#include "coroutine/detail/instruments.h"
#include "coroutine/detail/lock_watch.h"
#include "coroutine/detail/spawn_sites.h"
#include "coroutine/detail/task_access.h"
#include "coroutine/marked_section.h"
#include "coroutine/scheduler_options.h"
#include "coroutine/switch_trace.h"
#include "coroutine/task_meter.h"

namespace corolane::coroutine::detail {

Switcher::Switcher(const SchedulerOptions& options, const corolane::detail::TimeSource& time)
    : stacks_(options.stacks),
      timers_(time.now(), *this),
      sample_left_(options.switch_sample_interval == 0 ? never_sample
                                                       : options.switch_sample_interval),
      next_create_sample_(options.create_sample_interval),
      switch_sample_interval_(options.switch_sample_interval),
      create_sample_interval_(options.create_sample_interval),
      time_(time),
      turn_time_(time.now()),
      instruments_(std::make_unique<Instruments>(options.stack_sample_interval)) {}

Switcher::~Switcher() = default;

Switcher::Destination Switcher::find_destination(TaskControl& running, void*& frame) {
  LockWatch::check_none_is_held();
  TaskMeter* const meter = meter_of(running);
  MarkedSection* const section = MarkedSection::of(running);
  if (meter != nullptr || section != nullptr) {
    suspend_watched(running, frame, meter, section);
    return {};
  }
  const bool timed = steps_left_ == 0 && is_switch_timed();
  const Destination destination = choose_destination(running);
  if (!timed) return destination;
  if (destination.context == nullptr) {
    switch_sample_start_ = 0;  // It is no switch.
    return {};
  }
  // A fresh task ends the sample itself.
  if (!running_->has_begun) return destination;
  ContextSwitch::switch_to_below<&Switcher::end_switch_sample>(running, frame, *destination.context,
                                                               destination.frame);
  return {};
}

[[gnu::always_inline]] inline Switcher::Destination Switcher::choose_destination(
    const TaskControl& running) {
  if (turn_left_ == 0 || !has_next_task()) {
    running_ = nullptr;
    return {.context = &loop_context_, .frame = loop_context_.frame};
  }
  const ReadyRing::Entry next = take_next_task();
  if (next.owner == &running) return {};
  trace_running();
  return {.context = running_, .frame = next.frame};
}

// Never timed: it does more than a switch.
void Switcher::suspend_watched(TaskControl& running, void*& frame, TaskMeter* meter,
                               MarkedSection* section) {
  if (section != nullptr) section->suspends();
  if (meter != nullptr) {
    meter->pause();
    ++meter->cost_.suspension_count;
  }
  if (steps_left_ == 0 && is_switch_timed()) switch_sample_start_ = 0;
  if (const Destination destination = choose_destination(running); destination.context != nullptr) {
    ContextSwitch::switch_to(running, frame, *destination.context, destination.frame);
  }
  watch_next_switch();
  if (meter != nullptr) meter->go_on();
  if (section != nullptr) section->resumed();
}

// Not done at spawn: with tens of thousands of tasks waiting for their turn, it would fetch one
// more line of each.
[[gnu::always_inline]] inline void* Switcher::make_first_frame(TaskControl& task) {
  task.prepare<&Switcher::enter_task>(task.stack().base, reinterpret_cast<std::byte*>(&task));
  return task.frame;
}

void* Switcher::begin_stack(TaskControl& task) { return make_first_frame(task); }

// In a function of its own: see enter_task().
[[gnu::noinline]] void Switcher::end_running() { current_->end(*running_); }

// Inlined, down to the first frame of the next task: with tasks that end and begin by the thousand,
// a stack should be touched little.
[[gnu::always_inline]] inline void Switcher::end(TaskControl& running) {
  SpawnSites::ended(running);
  const bool is_last_step = --steps_left_ == 0;
  if (is_last_step) [[unlikely]] {
    LockWatch::check_none_is_held();
  }
  running.state = TaskState::ended;  // Read through a TaskRef that outlives the task.
  if (!running.is_member) {          // A group's child has no joiner.
    running.state_since = turn_time_;
    if (!running.joiners.empty()) running.joiners.notify_all();
  }
  // From here on the stack may be handed out again, but to no task that runs before we have left
  // it.
  drop_reference(running);
  const bool timed = is_last_step && is_switch_timed();
  if (turn_left_ == 0 || !has_next_task()) {
    running_ = nullptr;
    ContextSwitch::leave_to(running, loop_context_, loop_context_.frame);
  }
  ReadyRing::Entry next = take_next();
  trace_running();
  if (next.is_fresh()) {
    next.frame = make_first_frame(*running_);
  } else if (timed) {
    ContextSwitch::leave_to_below<&Switcher::end_switch_sample>(running, *running_, next.frame);
  }
  ContextSwitch::leave_to(running, *running_, next.frame);
}

void Switcher::begin_steps(TimePoint now, TimePoint end) {
  turn_left_ = turn_clock_.begin(now, end);
  fresh_.seen = woken_.seen = false;
  plan_steps();
}

void Switcher::look_at_clock() {
  turn_left_ = turn_clock_.look(time_.now(), !fresh_.seen && !woken_.seen);
  fresh_.look();
  woken_.look();
}

// Keeps `kept` steps when the last look saw no such task.
void Switcher::note_first(StepKind& kind, std::uint32_t kept) {
  kind.seen = true;
  if (kind.seen_before || steps_left_ <= kept) return;
  count_steps();
  if (turn_left_ <= kept) return;
  turn_clock_.cut(turn_left_, kept);
  turn_left_ = kept;
  plan_steps();
}

void Switcher::begin_single_step() {
  turn_left_ = turn_clock_.begin_single();
  plan_steps();
}

void Switcher::make_control_ready(TaskControl& task) {
  control_.reserve(control_.size() + 1);
  if (task.has_begun) {
    control_.push(&task, task.frame);
  } else {
    control_.push_fresh(&task);
  }
}

void Switcher::woken_by_another_thread(const TaskControl* woken) const {
  std::string claim =
      woken == nullptr ? "a stackless coroutine" : "task \"" + escaped(woken->name()) + "\"";
  claim +=
      " is woken by the thread of its scheduler; another thread calls Scheduler::post(), and the "
      "work that it posts may wake tasks";
  check(false, claim);
  std::abort();
}

TaskMeter* Switcher::meter_of(const TaskControl& task) const {
  TaskMeter* found = nullptr;
  meters_.for_each_while([&](TaskMeter& meter) {
    if (meter.task_ == &task) found = &meter;
    return found == nullptr;
  });
  return found;
}

[[gnu::noinline, gnu::cold]] void Switcher::note_running() const {
  trace_->note(cycle_count(), running_->top().id, running_->name());
}

void Switcher::trace_loop() const {
  if (trace_ != nullptr) trace_->note(cycle_count(), 0, "loop");
}

bool Switcher::is_switch_timed() {
  count_steps();
  if (sample_left_ > 0) return false;
  sample_left_ = switch_sample_interval_;
  plan_steps();
  // A switch through the loop is not one from task to task.
  if (turn_left_ == 0 || !has_next_task()) return false;
  // A dry run loads the measuring code into the cache, so that its misses are not measured.
  end_switch_sample();
  switch_sample_start_ = cycle_count();
  return true;
}

// Runs first in the task that was switched to, on top of its stack.
void Switcher::end_switch_sample() {
  const std::uint64_t end = cycle_count();
  Switcher& scheduler = *current_;
  const std::uint64_t start = std::exchange(scheduler.switch_sample_start_, 0);
  if (start == 0) return;
  Instruments& instruments = *scheduler.instruments_;
  instruments.switch_intervals.add(end - start, instruments.switch_ns);
}

// Inlined, and keeps nothing in registers while the task runs, which it would have to save: the
// outermost frame of each task's stack should be small.
[[gnu::always_inline]] inline void Switcher::enter_task() {
  *ThreadState::error_number = 0;
  // A fresh task had no stack on which to run it.
  if (current_->switch_sample_start_ != 0) end_switch_sample();
  current_->note_fresh();
  running_->has_begun = true;
  running_->run(*running_);
#if defined(COROLANE_ASAN)
  // Inlined: before a call that does not return, AddressSanitizer clears its marks on the stack, by
  // code that runs on this stack and trips over those of deeper frames.
  current_->end(*running_);
#else
  end_running();
#endif
}

void Switcher::give_up_spawn(const Stack& stack) {
  create_sample_start_ = 0;
  stacks_.release(stack);
}

void Switcher::find_site(TaskControl& task) { newest_site_ = &instruments_->sites.find(task); }

void Switcher::begin_measuring(TaskControl& task) { instruments_->sites.begin_measuring(task); }

void Switcher::begin_create_sample() {
  next_create_sample_ = create_sample_interval_;
  if (next_create_sample_ != 0) create_sample_start_ = cycle_count();
}

void Switcher::end_create_sample() {
  const std::uint64_t end = cycle_count();
  const std::uint64_t start = std::exchange(create_sample_start_, 0);
  instruments_->create_intervals.add(end - start, instruments_->create_ns);
}

}  // namespace corolane::coroutine::detail
