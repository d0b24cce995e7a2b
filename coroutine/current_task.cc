#include "coroutine/current_task.h"

#include "coroutine/detail/task_access.h"

namespace corolane::coroutine {

TaskId current_task_id() {
  const detail::TaskControl* const task = detail::TaskAccess::running_or_null();
  return task == nullptr ? 0 : task->top().id;
}

}  // namespace corolane::coroutine
