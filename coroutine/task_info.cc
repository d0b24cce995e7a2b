// SPDX-License-Identifier: MIT
#include "coroutine/task_info.h"

#include <array>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <system_error>

#include "coroutine/base/text.h"
#include "coroutine/detail/task_access.h"

namespace corolane::coroutine {
namespace {

// Parses a number that is all of `text`.
template <typename Number>
std::optional<Number> parse_number(std::string_view text) {
  Number number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

TaskId current_task_id() {
  const detail::TaskControl* const task = detail::TaskAccess::running_or_null();
  return task == nullptr ? 0 : task->top().id;
}

std::string to_string(const TaskAddress& address) {
  const std::string id = std::to_string(address.id);
  return address.scheduler == 0 ? id : std::to_string(address.scheduler) + "." + id;
}

std::optional<TaskAddress> parse_task_address(std::string_view text) {
  const std::size_t point = text.find('.');
  const bool is_of_first = point == std::string_view::npos;
  const auto scheduler = is_of_first ? 0 : parse_number<std::uint32_t>(text.substr(0, point));
  const auto id = parse_number<TaskId>(is_of_first ? text : text.substr(point + 1));
  if (!scheduler || !id) return std::nullopt;
  const TaskAddress address{.scheduler = *scheduler, .id = *id};
  // A task has exactly one address: "0.17" and "017" are invalid.
  return to_string(address) == text ? std::optional(address) : std::nullopt;
}

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
    text.append("task ").append(to_string(task.address())).append(" ").append(quote(task.name));
    text.append(": ").append(to_string(task.state));
    if (!task.waiting_for.empty()) text.append(", waits for ").append(task.waiting_for);
    text.append(times.data()).append(task.cancelled ? ", cancelled" : "");
    text.append(", spawned at ").append(task.site.file_name());
    text.append(":").append(std::to_string(task.site.line())).append("\n");
  }
  return text;
}

}  // namespace corolane::coroutine
