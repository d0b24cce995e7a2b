// SPDX-License-Identifier: MIT
// The list of checks, and the listener that compares before and after.
#include "coroutine/testing/leak_checks.h"

#include <utility>
#include <vector>

#include "coroutine/scheduler.h"

namespace corolane::test {
namespace {

using coroutine::Scheduler;
using coroutine::TaskInfo;

struct LeakCheck {
  std::string what;
  std::function<std::size_t()> count;
  std::size_t count_before = 0;
};

// Constructed at the first use, which may come before main.
std::vector<LeakCheck>& leak_checks() {
  static std::vector<LeakCheck> checks = {
      {.what = "tasks", .count = [] { return Scheduler::current().statistics().task_count; }},
      {.what = "stacks in use",
       .count = [] { return Scheduler::current().stacks().statistics().in_use_count; }},
      {.what = "stackless coroutines",
       .count = [] { return Scheduler::current().statistics().stackless_count; }},
      {.what = "armed timers", .count = [] { return Scheduler::current().timers().armed_count(); }},
  };
  return checks;
}

}  // namespace

bool add_leak_check(std::string what, std::function<std::size_t()> count) {
  leak_checks().push_back({.what = std::move(what), .count = std::move(count)});
  return true;
}

void LeakListener::OnTestStart(const testing::TestInfo&) {
  for (LeakCheck& check : leak_checks()) check.count_before = check.count();
  newest_task_ = Scheduler::current().tasks().back().id;
}

void LeakListener::OnTestEnd(const testing::TestInfo& test) {
  std::string left;
  for (const LeakCheck& check : leak_checks()) {
    const std::size_t count = check.count();
    if (count <= check.count_before) continue;
    left += "  " + check.what + ": " + std::to_string(count - check.count_before) + "\n";
  }
  if (left.empty()) return;
  auto tasks = Scheduler::current().tasks();
  std::erase_if(tasks, [this](const TaskInfo& task) { return task.id <= newest_task_; });
  ADD_FAILURE_AT(test.file(), test.line()) << "left behind by this test:\n"
                                           << left << to_text(tasks);
}

}  // namespace corolane::test
