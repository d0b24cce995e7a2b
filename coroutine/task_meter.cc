// SPDX-License-Identifier: MIT
#include "coroutine/task_meter.h"

#include <utility>

#include "coroutine/base/cycle_clock.h"
#include "coroutine/detail/task_access.h"

namespace corolane::coroutine {

TaskMeter::TaskMeter() {
  detail::TaskControl* const task = detail::TaskAccess::running_or_null();
  if (task == nullptr || task->scheduler.meter_of(*task) != nullptr) return;
  task_ = task;
  task->scheduler.meters_.push_back(*this);
  task->scheduler.watch_next_switch();
  go_on();
}

std::optional<TaskCost> TaskMeter::end() {
  if (std::exchange(task_, nullptr) == nullptr) return std::nullopt;
  pause();
  unlink();
  cost_.cpu = Duration(static_cast<Duration::rep>(static_cast<double>(cycles_) / cycles_per_ns()));
  return cost_;
}

void TaskMeter::pause() {
  cycles_ += cycle_count() - went_on_at_;
  cost_.allocations.count += allocations().count - allocations_then_.count;
  cost_.allocations.bytes += allocations().bytes - allocations_then_.bytes;
}

void TaskMeter::go_on() {
  allocations_then_ = allocations();
  went_on_at_ = cycle_count();
}

}  // namespace corolane::coroutine
