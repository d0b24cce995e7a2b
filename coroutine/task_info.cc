#include "coroutine/task_info.h"

#include <array>
#include <chrono>
#include <cstdio>

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
    std::array<char, 512> line;
    std::snprintf(line.data(), line.size(),
                  "task %llu \"%s\": %s%s%s for %.3f s, age %.3f s%s, spawned at %s:%u\n",
                  static_cast<unsigned long long>(task.id), task.name.c_str(),
                  to_string(task.state).data(), task.waiting_for.empty() ? "" : ", waits for ",
                  task.waiting_for.c_str(), in_state, age, task.cancelled ? ", cancelled" : "",
                  task.site.file_name(), static_cast<unsigned>(task.site.line()));
    text += line.data();
  }
  return text;
}

}  // namespace corolane::coroutine
