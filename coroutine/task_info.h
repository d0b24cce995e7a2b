// The data that introspection returns for a task.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <source_location>
#include <string>
#include <string_view>
#include <vector>

#include "coroutine/base/clock.h"
#include "coroutine/stack/stack_trace.h"

namespace corolane::coroutine {

// Unique within its scheduler, rising with each spawn.
using TaskId = std::uint64_t;

// Identifies a task among several schedulers, such as the shards of a node: "17" for people, and
// "1.17" when its scheduler is not number 0.
struct TaskAddress {
  std::uint32_t scheduler = 0;
  TaskId id = 0;

  friend auto operator<=>(const TaskAddress&, const TaskAddress&) = default;
};

std::string to_string(const TaskAddress& address);
// Parses the output of to_string(); nothing for any other text.
std::optional<TaskAddress> parse_task_address(std::string_view text);

enum class TaskState : std::uint8_t {
  ready,  // Waits for its turn.
  running,
  suspended,  // Waits for something: see waiting_for.
  ended,      // Its result waits to be joined.
};

std::string_view to_string(TaskState state);

struct TaskInfo {
  TaskId id;
  std::string name;
  TaskState state;
  bool cancelled;
  std::string waiting_for;    // Empty unless suspended.
  Duration in_state;          // The time in this state, to a turn of the loop.
  Duration age;               // Since it was spawned.
  std::source_location site;  // Where it was spawned.
  Duration cpu{};             // Consumed: see Scheduler::Options::cpu_sample_interval.
  std::size_t stack_size_bytes = 0;
  std::size_t stack_used_bytes = 0;  // In its present wait; 0 unless suspended.
  StackTrace trace = {};             // Where it is now; empty unless asked for.
  // The number of its scheduler, set by code that shows the tasks of several ones.
  std::uint32_t scheduler = 0;

  TaskAddress address() const { return {.scheduler = scheduler, .id = id}; }
};

struct TasksOptions {
  TaskId after = 0;                  // Only tasks spawned after this one.
  std::size_t count_max = SIZE_MAX;  // The oldest of them.
  bool traces = false;               // A few microseconds for each task.
};

// One line per task, in the order given; names are escaped. For deadlock reports and the test
// watchdog.
std::string to_text(const std::vector<TaskInfo>& tasks);

}  // namespace corolane::coroutine
