// SPDX-License-Identifier: MIT
// A sample of a node: its pages /stats, /methods and /tasks, parsed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "coroutine/base/result.h"

namespace corolane::tools::cli::top {

// The counts of a histogram, as upper bounds and counts.
struct Buckets {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> counts;  // Sorted by bound.

  std::uint64_t count() const;
  // Zero when the histogram is empty.
  std::uint64_t quantile(double q) const;
  // The counts since `before`, an earlier state of the same histogram.
  Buckets since(const Buckets& before) const;
  void add(const Buckets& more);
};

// Calls are totals since the start of the node.
struct MethodSample {
  std::string name;
  // Calls of objects that this process has served, whoever made them: this process, another node or
  // a client. False: calls that have come over the wire, of which those for objects are routed.
  bool is_of_objects = false;
  std::uint64_t calls = 0;
  std::uint64_t errors = 0;    // By the server's fault.
  std::uint64_t refusals = 0;  // By the caller's.
  std::uint64_t running = 0;
  Buckets latency_us = {};  // Empty for those of objects.
};

// The page /methods?format=json&buckets=yes.
struct MethodsSample {
  std::vector<MethodSample> methods;
  bool is_whole = true;  // No shard is left out.
};

// Fails with invalid_argument when `json` is not that page.
Result<MethodsSample> read_methods(std::string_view json);

struct ShardSample {
  std::uint64_t number = 0;
  double cpu_seconds = 0;
};

// The page /stats?format=json&buckets=yes. Counts are totals since the start of the node.
struct StatsSample {
  std::string name;
  std::string version;
  std::uint64_t pid = 0;
  double uptime_seconds = 0;
  bool is_stopping = false;

  std::uint64_t tasks = 0;
  std::uint64_t ready = 0;
  std::uint64_t created = 0;
  std::uint64_t switches = 0;
  Buckets switch_ns;
  Buckets create_ns;
  std::uint64_t stack_hits = 0;
  std::uint64_t stack_misses = 0;
  std::uint64_t stack_bytes = 0;

  std::uint64_t connections = 0;
  std::uint64_t running_calls = 0;
  std::uint64_t waiting_calls = 0;
  Buckets queue_delay_us;

  std::uint64_t objects = 0;
  std::uint64_t stalls = 0;
  double stall_seconds = 0;
  std::vector<ShardSample> shards;
  std::optional<double> control_cpu_seconds = {};  // Of the control thread; nothing without one.
  std::vector<std::string> silent_shards = {};     // A line for each shard that is left out.
};

// Fails with invalid_argument when `json` is not that page.
Result<StatsSample> read_stats(std::string_view json);

struct TaskSample {
  std::string id = {};  // "17", "1.17".
  std::string name = {};
  std::string state = {};
  std::string waiting_for = {};
  double in_state_seconds = 0;
  double age_seconds = 0;
  double cpu_seconds = 0;
  std::string spawned_at = {};
  std::vector<std::string> stack = {};  // A line per frame; only from read_task().
};

// The page /tasks?format=json.
struct TasksSample {
  std::uint64_t count = 0;  // The count of all tasks; not all are listed.
  std::vector<TaskSample> tasks;
};

Result<TasksSample> read_tasks(std::string_view json);
// The page /tasks/{id}?format=json.
Result<TaskSample> read_task(std::string_view json);

struct StackSample {
  std::uint64_t count = 0;  // The number of tasks with this stack.
  std::string state;
  std::string waiting_for;
  double longest_seconds = 0;
  std::string names;
  std::vector<std::string> stack;
};

// The page /tasks?group=stack&format=json.
Result<std::vector<StackSample>> read_stacks(std::string_view json);

}  // namespace corolane::tools::cli::top
