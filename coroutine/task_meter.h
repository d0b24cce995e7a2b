// SPDX-License-Identifier: MIT
// Measures exactly what the running task consumes between two points: for samples of what a handler
// costs.
//
//   TaskMeter meter;
//   handle(request);
//   if (const auto cost = meter.end()) sum.add(*cost);
//
// Each switch from and to its task is timed meanwhile; other tasks pay nothing. For sums over a
// great many calls use the scheduler's CPU meter, which is free.
#pragma once

#include <cstdint>
#include <optional>

#include "coroutine/base/allocations.h"
#include "coroutine/base/clock.h"
#include "coroutine/detail/list.h"

namespace corolane::coroutine {

namespace detail {
class Switcher;
struct TaskControl;
}  // namespace detail

struct TaskCost {
  Duration cpu{};  // While the task ran; includes time in which the system ran something else.
  std::uint64_t suspension_count = 0;
  Allocations allocations;
};

// Must live on the stack of the task.
class TaskMeter : detail::ListNode<struct TaskMeterTag> {
 public:
  // Begins. Does nothing in a task that has a meter already, and where no task runs.
  TaskMeter();
  ~TaskMeter() { end(); }
  TaskMeter(const TaskMeter&) = delete;
  TaskMeter& operator=(const TaskMeter&) = delete;

  // Must be called in the same task. Nothing the second time, or when nothing was begun.
  std::optional<TaskCost> end();

 private:
  friend class detail::Switcher;
  friend class detail::List<TaskMeter, TaskMeterTag>;

  // Called when the task is left, and when it resumes.
  void pause();
  void go_on();

  const detail::TaskControl* task_ = nullptr;  // Null when there is nothing to end.
  std::uint64_t went_on_at_ = 0;               // In cycles.
  std::uint64_t cycles_ = 0;
  Allocations allocations_then_;
  TaskCost cost_;
};

}  // namespace corolane::coroutine
