// SPDX-License-Identifier: MIT
#include "coroutine/inspect/deadlock_stacks.h"

#include <cstdio>

#include "coroutine/inspect/stack_group.h"
#include "coroutine/inspect/symbols.h"
#include "coroutine/scheduler.h"

namespace corolane::coroutine {
namespace {

void print_stacks(const Scheduler& scheduler) {
  Symbols symbols;
  const auto groups = group_by_stack(scheduler.tasks({.traces = true}), symbols);
  std::fprintf(stderr, "where they wait:\n%s", to_text(groups).c_str());
}

}  // namespace

void show_stacks_of_deadlocks() { Scheduler::set_deadlock_details(&print_stacks); }

}  // namespace corolane::coroutine
