// Tasks that wait for the same at the same place, taken together: of thirty thousand tasks a page
// remains that can be read.
#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>
#include <vector>

#include "coroutine/base/clock.h"
#include "coroutine/inspect/symbols.h"
#include "coroutine/stack/stack_trace.h"
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
  TaskAddress longest_task = {};
  Duration longest{};
};

// Takes tasks in a part at a time, so that nothing has to keep all of them: of very many tasks few
// traces are different. Not thread-safe; what other threads have grouped is added to it.
class StackGroups {
 public:
  // `task` came with its trace.
  void add(const TaskInfo& task);
  void add(const StackGroups& others);

  std::size_t task_count() const { return task_count_; }

  // The largest group first, of equal ones the one that has waited for longest. Two traces are
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
  std::unordered_multimap<std::size_t, std::size_t> by_hash_;  // Their indices.
};

// `tasks` came with their traces.
std::vector<StackGroup> group_by_stack(const std::vector<TaskInfo>& tasks, Symbols& symbols);

// A line and the stack for each group.
std::string to_text(const std::vector<StackGroup>& groups);

}  // namespace corolane::coroutine
