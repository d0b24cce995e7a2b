// SPDX-License-Identifier: MIT
// Groups tasks that wait for the same thing at the same place, so that thirty thousand tasks shrink
// to a readable page.
//
//   Symbols symbols;
//   const auto groups = group_by_stack(scheduler.tasks({.traces = true}), symbols);
//   std::cout << to_text(groups);
#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>
#include <vector>

#include "coroutine/base/clock.h"
#include "coroutine/inspect/symbols.h"
#include "coroutine/task_info.h"

namespace corolane::coroutine {

struct StackGroup {
  static constexpr std::size_t name_count_max = 4;

  // Equal for all tasks of the group.
  std::vector<SourceFrame> frames;  // Empty for tasks that have not begun.
  TaskState state;
  std::string waiting_for;

  std::size_t count = 0;
  std::vector<std::string> names;  // The first distinct ones.
  bool has_more_names = false;
  // The task that has been in its state longest.
  TaskAddress longest_task = {};
  Duration longest{};
};

// Takes tasks in portions, so that nothing has to keep all of them: even a great many tasks have
// few distinct traces. Not thread-safe; groups that other threads have collected can be added.
class StackGroups {
 public:
  // `task` must have its trace.
  void add(const TaskInfo& task);
  void add(const StackGroups& others);

  std::size_t task_count() const { return task_count_; }

  // The largest group first; of equal ones, the one whose task has waited longest. Two traces are
  // equal when their functions and lines are: how the scheduler switched at the end of them does
  // not matter. Blocks, as Symbols does.
  std::vector<StackGroup> named(Symbols& symbols) const;

 private:
  struct Traced {
    StackTrace trace;
    StackGroup group;  // Without frames.
  };

  void add(const StackTrace& trace, const StackGroup& group);

  std::size_t task_count_ = 0;
  std::vector<Traced> groups_;
  std::unordered_multimap<std::size_t, std::size_t> by_hash_;  // Indices of groups_.
};

// `tasks` must have their traces.
std::vector<StackGroup> group_by_stack(const std::vector<TaskInfo>& tasks, Symbols& symbols);

// A line and the stack for each group.
std::string to_text(const std::vector<StackGroup>& groups);

}  // namespace corolane::coroutine
