// SPDX-License-Identifier: MIT
#include "coroutine/detail/task_tracer.h"

#include <array>
#include <cstddef>
#include <cstdint>

#include "coroutine/stack/detail/unwind.h"

namespace corolane::coroutine::detail {

TaskTracer::TaskTracer(std::initializer_list<const ReadyRing*> rings, const TaskControl* running)
    : running_(running) {
  for (const ReadyRing* const ring : rings) {
    ring->for_each([this](const ReadyRing::Entry& entry) {
      if (!entry.is_stackless()) ready_frames_.emplace(entry.owner, entry.frame);
    });
  }
}

StackTrace TaskTracer::trace(const TaskControl& task) const {
  std::array<std::uintptr_t, StackTrace::depth_max> addresses;
  std::size_t depth = 0;
  if (&task == running_) {
    depth = unwind_here(addresses);
  } else if (const void* const frame = frame_of(task)) {
    depth = unwind_suspended(frame, addresses);
  }
  return {.return_addresses = {addresses.begin(), addresses.begin() + depth}};
}

const void* TaskTracer::frame_of(const TaskControl& task) const {
  if (!task.has_begun) return nullptr;
  if (task.state == TaskState::suspended) return task.frame;
  const auto ready = ready_frames_.find(&task);
  return ready == ready_frames_.end() ? nullptr : ready->second;
}

}  // namespace corolane::coroutine::detail
