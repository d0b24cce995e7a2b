// SPDX-License-Identifier: MIT
// The lists, statistics and recordings that a scheduler offers.
#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <source_location>
#include <span>
#include <string>
#include <unordered_map>

#include "coroutine/base/check.h"
#include "coroutine/cpu_profile.h"
#include "coroutine/detail/async_frame_pool.h"
#include "coroutine/detail/async_strand.h"
#include "coroutine/detail/cpu_meter.h"
#include "coroutine/detail/frame_chunks.h"
#include "coroutine/detail/instruments.h"
#include "coroutine/detail/task_access.h"
#include "coroutine/detail/task_tracer.h"
#include "coroutine/detail/task_wait.h"
#include "coroutine/no_suspend.h"
#include "coroutine/scheduler.h"
#include "coroutine/stack/detail/stack_depth.h"
#include "coroutine/stackless_info.h"
#include "coroutine/switch_trace.h"

namespace corolane::coroutine {
namespace {

// The distance from the top of its stack to its suspended frame; zero when that is unknown, because
// the task runs or waits for its turn.
std::size_t stack_use_of(const detail::TaskControl& task) {
  if (task.state != TaskState::suspended || &task == detail::Strand::task_of_stack()) return 0;
  return static_cast<std::size_t>(task.stack_top - static_cast<const std::byte*>(task.frame));
}

// Without the task that holds it: see Scheduler::find_holders().
std::optional<Awaited> awaited_of(const detail::TaskControl& task) {
  const detail::TaskWait* const wait = detail::TaskWait::of(task);
  if (wait == nullptr || wait->known() == nullptr) return std::nullopt;
  const detail::KnownQueue& queue = *wait->known();
  return Awaited{.site = queue.site(), .identity = &queue, .is_held = queue.holder != nullptr};
}

Deadline wait_deadline_of(const detail::TaskControl& task) {
  const detail::TaskWait* const wait = detail::TaskWait::of(task);
  return wait == nullptr ? Deadline::never() : wait->deadline();
}

// An ended task leaves these at the top of its idle stack.
struct LastTask {
  std::array<char, detail::TaskTop::name_size_max> name;
  std::size_t name_size = 0;
  std::source_location site;
};

// A sanitizer may have forbidden the reads when the task ended.
[[gnu::no_sanitize("address")]] LastTask last_task_on(const Stack& stack) {
  const auto* const top =
      reinterpret_cast<const detail::TaskTop*>(stack.top - sizeof(detail::TaskTop));
  LastTask task;
  task.name_size = std::min<std::size_t>(top->name_size, task.name.size());
  for (std::size_t i = 0; i < task.name_size; ++i) task.name[i] = top->name_text[i];
  task.site = top->site;
  return task;
}

}  // namespace

std::vector<TaskInfo> Scheduler::tasks(const TasksOptions& options) const {
  detail::TaskControl* place = nullptr;
  return tasks_behind(options, place);
}

std::vector<TaskInfo> Scheduler::tasks_behind(const TasksOptions& options,
                                              detail::TaskControl*& place) const {
  std::optional<detail::TaskTracer> tracer;
  if (options.traces)
    tracer.emplace(std::initializer_list<const detail::ReadyRing*>{&ready_, &control_},
                   detail::Strand::task_of_stack());
  std::vector<TaskInfo> infos;
  infos.reserve(std::min(task_count_, options.count_max));
  const auto list = [&](detail::TaskControl& task) {
    if (task.top().id <= options.after) return true;
    if (infos.size() == options.count_max) return false;
    infos.push_back(info_of(task));
    if (tracer) infos.back().trace = tracer->trace(task);
    place = &task;
    return true;
  };
  all_tasks_.for_each_while(list, place);
  if (options.holders) find_holders(infos);
  return infos;
}

std::optional<TaskInfo> Scheduler::task(TaskId id) const {
  std::optional<TaskInfo> info;
  all_tasks_.for_each_while([&](const detail::TaskControl& task) {
    if (task.top().id != id) return true;
    info = info_of(task);
    info->trace =
        detail::TaskTracer({&ready_, &control_}, detail::Strand::task_of_stack()).trace(task);
    return false;
  });
  if (info) find_holders({&*info, 1});
  return info;
}

std::vector<TaskInfo> Scheduler::lock_waits(const LockWaitsOptions& options) const {
  std::vector<TaskInfo> infos;
  all_tasks_.for_each_while([&](const detail::TaskControl& task) {
    if (infos.size() == options.count_max) return false;
    const detail::TaskWait* const wait = detail::TaskWait::of(task);
    const bool is_of_lock = wait != nullptr && wait->known() != nullptr;
    if (!is_of_lock || wait->known()->holder == nullptr) return true;
    if (turn_time_ - task.state_since < options.time_min) return true;
    if (task.waiting_for != nullptr && task.waiting_for == options.left_out) return true;
    infos.push_back(info_of(task));
    return true;
  });
  find_holders(infos);
  return infos;
}

// A task that has ended with a lock has left the address of its control block there: it is compared
// with those of the live tasks, and not followed.
void Scheduler::find_holders(std::span<TaskInfo> infos) const {
  std::unordered_map<const void*, const detail::TaskControl*> holders;
  for (const TaskInfo& info : infos) {
    if (!info.awaited || !info.awaited->is_held) continue;
    holders.try_emplace(static_cast<const detail::KnownQueue*>(info.awaited->identity)->holder,
                        nullptr);
  }
  if (holders.empty()) return;
  all_tasks_.for_each_while([&](const detail::TaskControl& task) {
    const auto found = holders.find(&task);
    if (found != holders.end()) found->second = &task;
    return true;
  });
  for (TaskInfo& info : infos) {
    if (!info.awaited || !info.awaited->is_held) continue;
    const auto* const queue = static_cast<const detail::KnownQueue*>(info.awaited->identity);
    const detail::TaskControl* const holder = holders.at(queue->holder);
    if (holder == nullptr) continue;
    info.awaited->holder = holder->top().id;
    info.awaited->holder_name = holder->name();
  }
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
          .stack_used_bytes = stack_use_of(task),
          .awaited = awaited_of(task),
          .wait_deadline = wait_deadline_of(task)};
}

Scheduler::Statistics Scheduler::statistics() const {
  return {.switch_ns = instruments_->switch_ns,
          .create_ns = instruments_->create_ns,
          .switch_count = switch_count(),
          .created_count = last_task_id_,
          .task_count = task_count_,
          .task_count_peak = task_count_peak_,
          .ready_count = ready_count(),
          .turn_count = turn_count_,
          .stray_exception_count = instruments_->stray_exception_count,
          .deep_stack_count = instruments_->deep_stack_count,
          .stackless_count = detail::AsyncFramePool::frame_count(),
          .stackless_bytes = detail::FrameChunks::memory_bytes(),
          .loop_cpu = instruments_->loop_cpu.sum(),
          .measures_cpu = current_ == this && detail::CpuMeter::is_running()};
}

std::vector<SpawnSite> Scheduler::sites() const { return instruments_->sites.all(); }

std::optional<Interruption> Scheduler::interrupt(Duration patience, InterruptionNote note) {
  return instruments_->interrupter.interrupt(patience, note);
}

void detail::TaskAccess::tell_of_stray_exception(Switcher& scheduler, const StrayException& stray) {
  ++scheduler.instruments_->stray_exception_count;
  static_cast<Scheduler&>(scheduler).options_.on_stray_exception(stray);
}

void detail::TaskAccess::tell_if_deep(const TaskControl& task, std::size_t used_bytes,
                                      std::size_t size_bytes) {
  if (!is_deep(used_bytes, size_bytes)) return;
  auto& scheduler = static_cast<Scheduler&>(task.scheduler);
  ++scheduler.instruments_->deep_stack_count;
  if (!scheduler.options_.on_deep_stack) return;
  const NoSuspend indivisible;
  scheduler.options_.on_deep_stack({.task_name = task.name(),
                                    .spawn_site = task.top().site,
                                    .used_bytes = used_bytes,
                                    .size_bytes = size_bytes});
}

void Scheduler::look_for_deep_stacks() {
  constexpr std::size_t looked_at_max = 16;
  // The lowest page of a smaller one is more than a tenth of it.
  constexpr std::size_t size_min = 32 * 1024;
  stacks_.for_each_warm(looked_at_max, [this](const Stack& stack) {
    const auto size = std::bit_floor(static_cast<std::size_t>(stack.top - stack.base));
    const std::byte* const tenth = stack.base + size / 10;
    if (size < size_min || !detail::take_use_of_page(stack.base, tenth)) return;
    ++instruments_->deep_stack_count;
    if (!options_.on_deep_stack) return;
    const LastTask task = last_task_on(stack);
    options_.on_deep_stack({.task_name = {task.name.data(), task.name_size},
                            .spawn_site = task.site,
                            .used_bytes = static_cast<std::size_t>(stack.top - tenth),
                            .size_bytes = size,
                            .is_measured = false});
  });
}

void Scheduler::report_deadlock() const {
  std::fprintf(stderr, "deadlock: every task waits and nothing can end a wait\n%s",
               to_text(tasks()).c_str());
  const std::size_t stackless_count = statistics().stackless_count;
  if (stackless_count > 0) {
    std::fprintf(stderr, "every stackless coroutine waits too, %zu\n%s", stackless_count,
                 to_text(stackless()).c_str());
  }
  if (deadlock_details_ != nullptr) deadlock_details_(*this);
  std::abort();
}

Recording<SwitchTrace> Scheduler::record(SwitchTrace& trace) {
  if (trace_ != nullptr) return {nullptr, trace};
  trace_ = &trace;
  trace_running();
  watch_next_switch();
  return {this, trace};
}

void Scheduler::end(SwitchTrace& trace) {
  check(trace_ == &trace, "a recording ends once");
  trace_loop();
  trace_ = nullptr;
}

Recording<CpuProfile> Scheduler::record(CpuProfile& profile) {
  if (instruments_->profile != nullptr) return {nullptr, profile};
  instruments_->profile = &profile;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  return {this, profile};
}

void Scheduler::end(CpuProfile& profile) {
  check(instruments_->profile == &profile, "a recording ends once");
  instruments_->profile = nullptr;
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

Recording<LockObserver> Scheduler::record(LockObserver& observer) {
  if (lock_observer_ != nullptr) return {nullptr, observer};
  lock_observer_ = &observer;
  return {this, observer};
}

void Scheduler::end(LockObserver& observer) {
  check(lock_observer_ == &observer, "a recording ends once");
  lock_observer_ = nullptr;
}

const detail::TaskControl* detail::TaskAccess::find_young_task(const void* address) {
  constexpr std::size_t looked_at_max = 4'096;  // Some 100 us when none is in the cache.
  const TaskControl* found = nullptr;
  std::size_t count = 0;
  Switcher::current().all_tasks_.for_each_back_while([&](const TaskControl& task) {
    if (&task == address) found = &task;
    return found == nullptr && ++count < looked_at_max;
  });
  return found;
}

// Runs in a signal handler, between any two instructions of this thread. The computation of a
// stackless coroutine is charged to the awaiting task.
void Scheduler::charge_cpu(std::uint64_t nanoseconds, const void* context) {
  detail::TaskControl* const task = detail::Strand::running_task();
  detail::Instruments& instruments = *current_->instruments_;
  if (CpuProfile* const profile = instruments.profile) {
    profile->add(std::chrono::nanoseconds(nanoseconds), context, task);
  }
  if (task != nullptr) {
    task->top().cpu.add(nanoseconds);
    task->site_record->cpu.add(nanoseconds);
    if (instruments.on_cpu_charge != nullptr) instruments.on_cpu_charge(nanoseconds);
  } else {
    instruments.loop_cpu.add(nanoseconds);
  }
}

// Runs in a signal handler as well.
void Scheduler::answer_interruption(const void* context) {
  if (current_ != nullptr) {
    current_->instruments_->interrupter.answer(context, detail::Strand::running_task());
  }
}

}  // namespace corolane::coroutine
