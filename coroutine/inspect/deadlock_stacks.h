// SPDX-License-Identifier: MIT
// Shows in the report of a deadlock where its tasks wait.
//
//   show_stacks_of_deadlocks();
//   scheduler.run("main", [] { serve(); });
#pragma once

namespace corolane::coroutine {

// From now on a Scheduler of this process that aborts because of a deadlock also prints the stacks
// of its tasks, grouped. Without it the report lists the tasks and what they wait for. A program
// calls it once, before it runs a scheduler; run_main() and the main of tests do.
void show_stacks_of_deadlocks();

}  // namespace corolane::coroutine
