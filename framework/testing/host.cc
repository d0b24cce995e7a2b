// SPDX-License-Identifier: MIT
// Steps a scheduler, and runs clocks that drift.
#include "framework/testing/host.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "coroutine/base/check.h"
#include "coroutine/inspect/stack_group.h"
#include "coroutine/inspect/symbols.h"
#include "framework/testing/simulation.h"

namespace corolane::sim {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t million = 1'000'000;
// The longest uptime of a machine when the simulation begins.
constexpr Duration uptime_max = 1h;
// A killed host that takes more steps has a task that ignores its cancellation.
constexpr int last_steps_max = 1'000'000;
// 2026-01-01.
constexpr std::chrono::sys_time<Duration> first_day{
    std::chrono::sys_days{std::chrono::year_month_day{std::chrono::year(2026), std::chrono::January,
                                                      std::chrono::day(1)}}};

}  // namespace

Host::Host(Simulation& simulation, std::string name, std::size_t index, Host* process)
    : simulation_(simulation),
      name_(std::move(name)),
      index_(index),
      process_(process == nullptr ? this : process),
      chance_(simulation.dice(1'000 + index)),
      shown_(TimePoint(chance_.up_to(uptime_max))),
      shown_at_(simulation.now()) {}

Host::~Host() { kill(); }

Host& Host::thread(std::size_t number) {
  check(process_ == this, "threads belong to a process");
  while (threads_.size() < number) {
    threads_.push_back(
        &simulation_.add_thread(*this, name_ + "/" + std::to_string(threads_.size() + 1)));
  }
  return *threads_[number - 1];
}

Host& Host::running() {
  const auto found = std::ranges::find_if(threads_, &Host::runs_itself);
  return found == threads_.end() ? *this : **found;
}

void Host::start(std::function<void()> main, std::function<void()> on_end) {
  check(!is_alive_ && scheduler_ == nullptr, "a host lives one life at a time");
  on_end_ = std::move(on_end);
  is_alive_ = true;
  ++life_;
  paused_until_ = {};
  stale_time_.reset();
  coroutine::StackPool::Options stacks;
  if (process_->stack_count_max_ != 0) stacks.stack_count_max = process_->stack_count_max_;
  scheduler_ = std::make_unique<coroutine::Scheduler>(
      *this, coroutine::Scheduler::Options{
                 .stacks = stacks,
                 // Samples measure real time, which must not influence a simulation.
                 .switch_sample_interval = 0,
                 .create_sample_interval = 0,
                 .stack_sample_interval = 0,
                 .cpu_sample_interval = Duration::zero(),
                 .shuffle_seed = simulation_.shuffles() ? chance_.any() | 1 : 0});
  auto begun = scheduler_->begin(name_, [this, main = std::move(main)] {
    coroutine::TaskGroup tasks;
    tasks_ = &tasks;
    for (auto& [name, work] : std::exchange(to_spawn_, {})) spawn(name, std::move(work));
    main();
    tasks_ = nullptr;
    tasks.cancel_and_join();
  });
  check(begun.has_value(), "a host has memory for its main task");
}

void Host::kill() {
  if (!is_alive_ || process_ != this) return;
  // The process has no visible effect from here on, and its time advances by itself.
  afterlife_ = local(simulation_.now());
  end_life();
  for (Host* const thread : threads_) {
    if (thread->is_alive_) thread->end_life();
  }
  scheduler_->cancel();
  unwind();
  for (Host* const thread : threads_) {
    check(thread->scheduler_ == nullptr, "the threads of a process end before it");
  }
  static_cast<void>(finish());
}

// Steps all threads until the main function has returned.
void Host::unwind() {
  for (int steps = 0; scheduler_->step(); ++steps) {
    check(steps < last_steps_max, "the tasks of a killed host end when they are cancelled");
    Deadline next = Deadline::never();
    for (Host* const thread : threads_) {
      if (thread->scheduler_ == nullptr) continue;
      if (thread->scheduler_->step()) {
        next = std::min(next, thread->scheduler_->next_step());
      } else {
        static_cast<void>(thread->finish());
      }
    }
    next = std::min(next, scheduler_->next_step());  // A thread may have woken it.
    check(!next.is_never(), "a killed host has no task that waits forever");
    if (next > Deadline::at(afterlife_)) afterlife_ = next.time();
  }
}

Result<void> Host::finish() {
  auto result = scheduler_->finish();
  bury();
  return result;
}

// Frees all resources of a life.
void Host::bury() {
  after_step_.clear();
  to_spawn_.clear();
  check(scheduler_->timers().armed_count() == 0, "no timer is left when a host has ended");
  check(scheduler_->stacks().statistics().in_use_count == 0,
        "no stack is in use when a host has ended");
  scheduler_.reset();
  for (const auto& on_burial : on_burial_) on_burial();
  if (const auto on_end = std::exchange(on_end_, nullptr)) on_end();
}

void Host::end_life() {
  is_alive_ = false;
  for (const auto& on_death : on_death_) on_death();
}

bool Host::runs_itself() const {
  return scheduler_ != nullptr && coroutine::Scheduler::current_or_null() == scheduler_.get();
}

bool Host::is_running() const {
  return runs_itself() || std::ranges::any_of(threads_, &Host::runs_itself);
}

void Host::pause_until(TimePoint time) {
  paused_until_ = std::max(paused_until_, time);
  const TimePoint now = local(simulation_.now());
  if (!stale_time_) stale_time_ = now;
  for (Host* const thread : threads_) {
    if (!thread->stale_time_) thread->stale_time_ = now;
  }
}

void Host::set_drift(std::int64_t parts_per_million) {
  shown_ = local(simulation_.now());
  shown_at_ = simulation_.now();
  drift_ = parts_per_million;
}

void Host::spawn(std::string_view name, std::function<void()> work) {
  if (tasks_ == nullptr) {
    // The life is just beginning or ending.
    to_spawn_.emplace_back(name, std::move(work));
    return;
  }
  auto spawned = tasks_->spawn(name, std::move(work));
  check(spawned.has_value(), "a host has memory for a task");
}

std::string Host::tasks_text() const {
  if (!is_alive_) return "";
  coroutine::Symbols symbols;
  std::string text = to_text(group_by_stack(scheduler_->tasks({.traces = true}), symbols));
  for (const Host* const thread : threads_) {
    if (thread->is_alive_) text += thread->name_ + ":\n" + thread->tasks_text();
  }
  return text;
}

TimePoint Host::next_step() const {
  if (!is_alive_) return TimePoint::max();
  const Deadline next = scheduler_->next_step();
  if (next.is_never()) return TimePoint::max();
  return std::max(process_->global(next.time()), process_->paused_until_);
}

void Host::step() {
  const bool goes_on = scheduler_->step();
  simulation_.trace().mix(index_ << 56 | scheduler_->switch_count());
  run_after_step();
  if (goes_on || !is_alive_) return;
  end_life();
  check(finish().has_value(), "the main function of a host throws nothing");
}

void Host::run_after_step() {
  // A function may add another one.
  for (auto works = std::exchange(after_step_, {}); !works.empty();
       works = std::exchange(after_step_, {})) {
    for (auto& work : works) work();
  }
}

TimePoint Host::now() const {
  if (!process_->is_alive_) return process_->afterlife_;
  // The scheduler is the first caller: it reads the time of its turn.
  if (stale_time_) return *std::exchange(stale_time_, std::nullopt);
  return process_->local(simulation_.now());
}

std::chrono::sys_time<Duration> Host::time_of_day() const {
  return first_day + simulation_.elapsed() + process_->wall_offset_;
}

bool Host::draw(std::span<std::byte> bytes) const {
  while (!bytes.empty()) {
    const std::uint64_t word = chance_.any();
    const std::size_t size = std::min(bytes.size(), sizeof(word));
    std::memcpy(bytes.data(), &word, size);
    bytes = bytes.subspan(size);
  }
  return true;
}

bool Host::wait(Deadline) {
  check(false, "the simulation steps a host, which never waits by itself");
  return false;
}

TimePoint Host::local(TimePoint time) const {
  const Duration elapsed = time - shown_at_;
  return shown_ + elapsed + elapsed * drift_ / million;
}

// The first time at which its clock shows `local_time` or more.
TimePoint Host::global(TimePoint local_time) const {
  if (local_time <= shown_) return shown_at_;
  // Such a late time would overflow the calculation.
  if (local_time > shown_ + std::chrono::hours(24 * 365)) return TimePoint::max();
  const Duration shown = local_time - shown_;
  TimePoint time = shown_at_ + shown / (million + drift_) * million +
                   shown % (million + drift_) * million / (million + drift_);
  while (local(time) < local_time) ++time;
  return time;
}

}  // namespace corolane::sim
