// SPDX-License-Identifier: MIT
// The description of a task: the options it is spawned with, its id, and the data of introspection.
//
//   auto parsed = spawn("parse", [&] { return parse(text); }, {.stack_size_bytes = 256 * 1024});
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
#include "coroutine/base/deadline.h"
#include "coroutine/stack/stack_pool.h"

namespace corolane::coroutine {

struct TaskOptions {
  // Rounded up to the next size class of the pool; StackPool::stack_size_bytes_max at the most.
  std::size_t stack_size_bytes = StackPool::stack_size_bytes_default;
  // Control work gets a stack even when all others are in use: StackPool::Options::control_count.
  StackPool::Purpose purpose = StackPool::Purpose::ordinary;
};

// Unique within its scheduler, rising with each spawn.
using TaskId = std::uint64_t;

// The running task of this thread, for code that records which task did or awaits something. 0 when
// no task runs: the loop itself or a stackless coroutine is at work.
TaskId current_task_id();

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

// The place of a flow of control: the return addresses on its stack, innermost first.
//
// A task's trace is read from outside while it is suspended (Scheduler::tasks), in a few
// microseconds; nothing is recorded in advance. Symbols translates the addresses.
struct StackTrace {
  // The outermost frames of deeper stacks are left out.
  static constexpr std::size_t depth_max = 128;

  // Empty when unknown: the task has not begun or has ended.
  std::vector<std::uintptr_t> return_addresses;

  bool empty() const { return return_addresses.empty(); }
  bool operator==(const StackTrace&) const = default;
};

// What a task waits for, when that knows more than its name: a lock, a channel, an event, a future.
struct Awaited {
  std::source_location site;       // Where it was made.
  const void* identity = nullptr;  // Equal for all that wait for the same.
  bool is_held = false;            // A lock, which one task or stackless coroutine holds.
  // The task that holds it; 0 when none does. Valid in what Scheduler::task() and lock_waits()
  // return, and with TasksOptions::holders. So is its name.
  TaskId holder = 0;
  std::string holder_name = {};
};

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
  std::optional<Awaited> awaited = {};
  Deadline wait_deadline = Deadline::never();  // When its present wait ends at the latest.
  // The number of its scheduler, set by code that shows the tasks of several ones.
  std::uint32_t scheduler = 0;

  TaskAddress address() const { return {.scheduler = scheduler, .id = id}; }
};

struct TasksOptions {
  TaskId after = 0;                  // Only tasks spawned after this one.
  std::size_t count_max = SIZE_MAX;  // The oldest of them.
  bool traces = false;               // A few microseconds for each task.
  bool holders = false;              // Fills in Awaited::holder: looks at all tasks once more.
};

struct LockWaitsOptions {
  std::size_t count_max = 1'000;   // The oldest tasks.
  Duration time_min{};             // Only waits that have lasted for so long.
  std::string_view left_out = "";  // Not those for locks of this name.
};

// Sums up all tasks that were spawned at one place: one row for each handler or bot, not one for
// each call.
struct SpawnSite {
  std::source_location place;  // Line 0: all places beyond the limit.
  std::string task_name;       // The name of the first task spawned there.
  std::uint64_t spawned_count = 0;
  std::uint64_t alive_count = 0;  // Not ended yet.
  // Consumed by all its tasks so far: see Scheduler::Options::cpu_sample_interval.
  Duration cpu{};
  // Over the measured tasks: the largest stack, and the deepest use of any, counted from the top
  // with control block, captures and result. It falls short by less than a page when the lowest
  // bytes of a stack were never written, and never exceeds the true value by more. Zero until a
  // measured task has ended.
  std::size_t stack_size_bytes = 0;
  std::size_t stack_used_bytes_max = 0;
  std::uint64_t measured_count = 0;
};

// One line per task, in the order given; names are escaped. For deadlock reports and the test
// watchdog.
std::string to_text(const std::vector<TaskInfo>& tasks);

}  // namespace corolane::coroutine
