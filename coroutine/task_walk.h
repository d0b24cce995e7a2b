// SPDX-License-Identifier: MIT
// Lists all tasks of a scheduler in parts, so that other tasks run between two parts.
//
//   std::map<std::string, int> count;
//   TaskWalk walk(Scheduler::current());
//   do {
//     for (const TaskInfo& task : walk.next({.count_max = 1'000})) ++count[task.waiting_for];
//   } while (!walk.is_over() && yield());
//
// Each part begins where the last one ended: the whole list costs one look at each task, however
// many parts it has. Tasks come and go between the parts.
#pragma once

#include <vector>

#include "coroutine/task_info.h"

namespace corolane::coroutine {

class Scheduler;
namespace detail {
struct TaskControl;
}

// Belongs to the thread of the scheduler, and ends before it. Between two parts it keeps the memory
// of the last task that it has listed, even when that task has ended.
class TaskWalk {
 public:
  explicit TaskWalk(const Scheduler& scheduler) : scheduler_(scheduler) {}
  ~TaskWalk() { leave(); }
  TaskWalk(const TaskWalk&) = delete;
  TaskWalk& operator=(const TaskWalk&) = delete;

  // The next tasks, oldest first, as Scheduler::tasks() lists them; `after` is its own affair.
  std::vector<TaskInfo> next(TasksOptions options);
  // The last part had fewer tasks than it may have.
  bool is_over() const { return is_over_; }

 private:
  void leave();

  const Scheduler& scheduler_;
  detail::TaskControl* place_ = nullptr;  // Has one more reference.
  TaskId last_ = 0;
  bool is_over_ = false;
};

}  // namespace corolane::coroutine
