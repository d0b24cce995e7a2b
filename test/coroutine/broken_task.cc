// SPDX-License-Identifier: MIT
// Breaks the parts of a task that only the scheduler knows.
#include "test/coroutine/broken_task.h"

#include <cstring>

#include "coroutine/detail/task_access.h"

namespace corolane::test {

using coroutine::detail::TaskControl;

BreakableTask::BreakableTask() : task_(&coroutine::detail::TaskAccess::running()) {}

void BreakableTask::break_by(Breach breach) const {
  auto& task = *static_cast<TaskControl*>(task_);
  if (breach == Breach::task) {
    task.waiting_for = reinterpret_cast<const char*>(std::uintptr_t{0x11});
  } else if (breach == Breach::list) {
    auto& node = static_cast<coroutine::detail::ListNode<coroutine::detail::AllTasksTag>&>(task);
    std::memset(static_cast<void*>(&node), 0x11, sizeof(node));
  } else if (breach == Breach::stack) {
    task.frame = reinterpret_cast<void*>(std::uintptr_t{0x11});
  }
}

}  // namespace corolane::test
