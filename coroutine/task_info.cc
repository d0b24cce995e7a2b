#include "coroutine/task_info.h"

#include <array>
#include <chrono>
#include <cstdio>

#include "coroutine/base/text.h"

namespace corolane::coroutine {

std::string_view to_string(TaskState state) {
  switch (state) {
    case TaskState::ready:
      return "ready";
    case TaskState::running:
      return "running";
    case TaskState::suspended:
      return "suspended";
    case TaskState::ended:
      return "ended";
  }
  return "unknown";
}

std::string to_text(const std::vector<TaskInfo>& tasks) {
  std::string text;
  for (const TaskInfo& task : tasks) {
    const auto in_state = std::chrono::duration<double>(task.in_state).count();
    const auto age = std::chrono::duration<double>(task.age).count();
    std::array<char, 128> times;
    std::snprintf(times.data(), times.size(), " for %.3f s, age %.3f s", in_state, age);
    text.append("task ").append(std::to_string(task.id)).append(" ").append(quote(task.name));
    text.append(": ").append(to_string(task.state));
    if (!task.waiting_for.empty()) text.append(", waits for ").append(task.waiting_for);
    text.append(times.data()).append(task.cancelled ? ", cancelled" : "");
    text.append(", spawned at ").append(task.site.file_name());
    text.append(":").append(std::to_string(task.site.line())).append("\n");
  }
  return text;
}

}  // namespace corolane::coroutine
