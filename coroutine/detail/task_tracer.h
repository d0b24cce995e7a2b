// SPDX-License-Identifier: MIT
// Finds the saved registers of tasks, wherever they are stored at the moment, and walks from there.
#pragma once

#include <initializer_list>
#include <unordered_map>

#include "coroutine/detail/ready_ring.h"
#include "coroutine/detail/task_control.h"
#include "coroutine/task_info.h"

namespace corolane::coroutine::detail {

// Valid until a task is resumed.
class TaskTracer {
 public:
  // The rings are those of the scheduler; `running` is the task that asks, null when it is the
  // loop.
  TaskTracer(std::initializer_list<const ReadyRing*> rings, const TaskControl* running);

  // Empty for a task that has not begun, has ended, or runs a scheduler of its own: that task is
  // not suspended.
  StackTrace trace(const TaskControl& task) const;

 private:
  // Null when it has no saved registers.
  const void* frame_of(const TaskControl& task) const;

  // A yielded task has its frame only in the ring.
  std::unordered_map<const void*, const void*> ready_frames_;
  const TaskControl* running_;
};

}  // namespace corolane::coroutine::detail
