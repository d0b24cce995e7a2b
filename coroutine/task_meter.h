// What the running task consumes between two points, exactly: for samples of what a handler costs.
//
//   TaskMeter meter;
//   handle(request);
//   if (const auto cost = meter.end()) sum.add(*cost);
//
// Each switch from and to its task is timed meanwhile, which no other task pays for. The CPU meter
// of the scheduler, which costs nobody anything, is right for the sums of very many.
#pragma once

#include <cstdint>
#include <optional>

#include "coroutine/base/allocations.h"
#include "coroutine/base/clock.h"
#include "coroutine/detail/list.h"

namespace corolane::coroutine {

class Scheduler;

namespace detail {
struct TaskControl;
}

struct TaskCost {
  Duration cpu{};  // While the task ran; when the system ran something else, that is in it.
  std::uint64_t suspension_count = 0;
  Allocations allocations;
};

// Lives on the stack of the task.
class TaskMeter : detail::ListNode<struct TaskMeterTag> {
 public:
  // Begins. In a task that has a meter already, and where no task runs, there is nothing to begin.
  TaskMeter();
  ~TaskMeter() { end(); }
  TaskMeter(const TaskMeter&) = delete;
  TaskMeter& operator=(const TaskMeter&) = delete;

  // In the same task. Nothing the second time, and if nothing was begun.
  std::optional<TaskCost> end();

 private:
  friend class Scheduler;
  friend class detail::List<TaskMeter, TaskMeterTag>;

  // When the task is left, and when it goes on.
  void pause();
  void go_on();

  const detail::TaskControl* task_ = nullptr;  // Null when there is nothing to end.
  std::uint64_t went_on_at_ = 0;               // In cycles.
  std::uint64_t cycles_ = 0;
  Allocations allocations_then_;
  TaskCost cost_;
};

}  // namespace corolane::coroutine
