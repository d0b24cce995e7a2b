// What introspection tells of a task.
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

// A task among those of several schedulers, as the shards of a node are: "17" for people, and
// "1.17" when its scheduler is not number 0.
struct TaskAddress {
  std::uint32_t scheduler = 0;
  TaskId id = 0;

  friend auto operator<=>(const TaskAddress&, const TaskAddress&) = default;
};

std::string to_string(const TaskAddress& address);
// What to_string() has written; nothing when it is anything else.
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
  Duration in_state;          // How long it has been in this state, to a turn of the loop.
  Duration age;               // Since it was spawned.
  std::source_location site;  // Where it was spawned.
  Duration cpu{};             // Consumed: see Scheduler::Options::cpu_sample_interval.
  std::size_t stack_size_bytes = 0;
  std::size_t stack_used_bytes = 0;  // Where it waits now; 0 unless suspended.
  StackTrace trace = {};             // Where it is now; empty unless asked for.
  // Whoever shows those of several schedulers together says which one's it is.
  std::uint32_t scheduler = 0;

  TaskAddress address() const { return {.scheduler = scheduler, .id = id}; }
};

struct TasksOptions {
  TaskId after = 0;                  // Only what was spawned after this one.
  std::size_t count_max = SIZE_MAX;  // Of them the oldest.
  bool traces = false;               // A few microseconds for each task.
};

// One line per task, in the order given, whatever their names hold: what a deadlock report and the
// test watchdog print.
std::string to_text(const std::vector<TaskInfo>& tasks);

}  // namespace corolane::coroutine
