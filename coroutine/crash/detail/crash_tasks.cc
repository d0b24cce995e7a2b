// SPDX-License-Identifier: MIT
#include "coroutine/crash/detail/crash_tasks.h"

#include <time.h>

#include <algorithm>

#include "coroutine/detail/async_strand.h"
#include "coroutine/stack/detail/unwind.h"
#include "coroutine/stack/fault_guard.h"

namespace corolane::coroutine::detail {
namespace {

// A corrupt list may be circular.
constexpr std::size_t task_count_max = 16'000'000;

std::int64_t nanoseconds_now() {
  timespec time = {};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * std::int64_t{1'000'000'000} + time.tv_nsec;
}

std::uint64_t hash_of(const CrashTasks::Group& group) {
  std::uint64_t hash = reinterpret_cast<std::uintptr_t>(group.waiting_for) + group.depth;
  for (const std::uintptr_t address : group.stack()) {
    hash = (hash ^ address) * 0x9e3779b97f4a7c15u;
  }
  return hash;
}

void note_name(CrashTasks::Group& group, const TaskControl& task) {
  const auto names = group.some();
  if (std::ranges::find(names, task.name(), &TaskControl::name) != names.end()) return;
  if (group.name_count == CrashTasks::name_count_max) {
    group.has_more_names = true;
  } else {
    group.tasks[group.name_count++] = &task;
  }
}

}  // namespace

// All zeros: takes no memory until it is used.
constinit CrashTasks CrashTasks::only_;

CrashTasks& CrashTasks::gather(const Scheduler& scheduler, Duration time_max) {
  CrashTasks& tasks = only_;
  tasks.task_count = tasks.suspended_count = tasks.ready_count = tasks.gathered_count = 0;
  tasks.group_count_ = 0;
  tasks.is_late = false;
  tasks.end_ns_ = nanoseconds_now() + time_max.count();
  const bool is_ring_whole = FaultGuard::run([&] { tasks.gather_ready(scheduler); });
  const bool is_list_whole = FaultGuard::run([&] { tasks.gather_others(scheduler); });
  tasks.is_broken = !is_ring_whole || !is_list_whole;
  return tasks;
}

// A yielded task has its frame only in the ring.
void CrashTasks::gather_ready(const Scheduler& scheduler) {
  for (const ReadyRing* const ring : {&scheduler.control_, &scheduler.ready_}) {
    ring->for_each([&](const ReadyRing::Entry& entry) {
      if (entry.is_stackless() || is_late) return;
      ++ready_count;
      add(*static_cast<const TaskControl*>(entry.owner), entry.is_fresh() ? nullptr : entry.frame);
    });
  }
}

void CrashTasks::gather_others(const Scheduler& scheduler) {
  const TaskControl* const running = Strand::task_of_stack();
  scheduler.all_tasks_.for_each_while([&](const TaskControl& task) {
    if (++task_count == task_count_max) return false;
    if (&task == running || task.state == TaskState::ready) return true;
    const bool is_suspended = task.state == TaskState::suspended;
    if (is_suspended) ++suspended_count;
    if (!is_late) add(task, is_suspended ? task.frame : nullptr);
    return true;
  });
}

void CrashTasks::add(const TaskControl& task, const void* frame) {
  next_.state = task.state;
  next_.waiting_for = task.waiting_for;
  next_.depth = 0;
  next_.is_broken = frame != nullptr && !FaultGuard::run([&] {
                      next_.depth =
                          static_cast<std::uint8_t>(unwind_suspended(frame, next_.addresses));
                    });
  next_.hash = hash_of(next_);
  ++gathered_count;
  if (gathered_count % 64 == 0) is_late = nanoseconds_now() > end_ns_;

  Group* const group = group_of(next_);
  if (group == nullptr) return;
  if (group->count++ == 0 || task.state_since < group->longest->state_since) group->longest = &task;
  note_name(*group, task);
}

// Null when no group is left.
CrashTasks::Group* CrashTasks::group_of(const Group& like) {
  const auto groups = std::span(groups_).first(group_count_);
  const auto found = std::ranges::find_if(groups, [&](const Group& group) {
    return group.hash == like.hash && group.state == like.state &&
           group.waiting_for == like.waiting_for && group.is_broken == like.is_broken &&
           std::ranges::equal(group.stack(), like.stack());
  });
  if (found != groups.end()) return &*found;
  if (group_count_ == groups_.size()) return nullptr;
  Group& added = groups_[group_count_++];
  added = like;
  added.count = 0;
  added.name_count = 0;
  added.has_more_names = false;
  return &added;
}

const CrashTasks::Group* CrashTasks::take_largest() {
  const auto groups = std::span(groups_).first(group_count_);
  const auto largest = std::ranges::max_element(groups, {}, &Group::count);
  if (largest == groups.end() || largest->count == 0) return nullptr;
  taken_ = *largest;
  largest->count = 0;
  return &taken_;
}

}  // namespace corolane::coroutine::detail
