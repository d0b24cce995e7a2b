// SPDX-License-Identifier: MIT
#include "coroutine/task_walk.h"

#include <cstdint>
#include <limits>
#include <utility>

#include "coroutine/detail/task_access.h"
#include "coroutine/scheduler.h"

namespace corolane::coroutine {

std::vector<TaskInfo> TaskWalk::next(TasksOptions options) {
  options.after = last_;
  detail::TaskControl* place = place_;
  auto tasks = scheduler_.tasks_behind(options, place);
  is_over_ = tasks.size() < options.count_max;
  if (!tasks.empty()) last_ = tasks.back().id;
  if (place == place_) return tasks;
  leave();
  // With very many walks at one task, the next part looks for the place by the id.
  constexpr auto reference_count_max = std::numeric_limits<std::uint8_t>::max();
  if (is_over_ || place->reference_count == reference_count_max) return tasks;
  ++place->reference_count;
  place_ = place;
  return tasks;
}

void TaskWalk::leave() {
  if (place_ != nullptr) detail::TaskAccess::drop_reference(*std::exchange(place_, nullptr));
}

}  // namespace corolane::coroutine
