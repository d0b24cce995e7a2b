// Tasks that wait for the same at the same place, taken together: of thirty thousand tasks a page
// remains that can be read.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "coroutine/base/clock.h"
#include "coroutine/symbols.h"
#include "coroutine/task_info.h"

namespace corolane::coroutine {

struct StackGroup {
  static constexpr std::size_t name_count_max = 4;

  // These are the same for all of its tasks.
  std::vector<SourceFrame> frames;  // Empty of tasks that have not begun.
  TaskState state;
  std::string waiting_for;

  std::size_t count = 0;
  std::vector<std::string> names;  // The first different ones.
  bool has_more_names = false;
  // Of the one that has been in its state for longest.
  TaskId longest_id = 0;
  Duration longest{};
};

// The largest group first, of equal ones the one that has waited for longest. `tasks` came with
// their traces. Two traces are equal when their functions and lines are: how the scheduler switched
// at the end of them does not matter.
std::vector<StackGroup> group_by_stack(const std::vector<TaskInfo>& tasks, Symbols& symbols);

// A line and the stack for each group.
std::string to_text(const std::vector<StackGroup>& groups);

}  // namespace corolane::coroutine
