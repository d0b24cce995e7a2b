#include "coroutine/detail/task_tracer.h"

#include "coroutine/stack/detail/unwind.h"

namespace corolane::coroutine::detail {

TaskTracer::TaskTracer(const ReadyRing& ready, const TaskControl* running) : running_(running) {
  ready_frames_.reserve(ready.size());
  ready.for_each([this](const ReadyRing::Entry& entry) {
    if (!entry.is_stackless()) ready_frames_.emplace(entry.owner, entry.frame);
  });
}

StackTrace TaskTracer::trace(const TaskControl& task) const {
  if (&task == running_) return unwind_here();
  if (!task.has_begun) return {};
  if (task.state == TaskState::suspended) return unwind_suspended(task.frame);
  const auto ready = ready_frames_.find(&task);
  return ready == ready_frames_.end() ? StackTrace{} : unwind_suspended(ready->second);
}

}  // namespace corolane::coroutine::detail
