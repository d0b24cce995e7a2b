// SPDX-License-Identifier: MIT
// The options of a call on another scheduler.
//
//   auto saved = call_on(storage, "save", [&] { return save(); }, deadline,
//                        {.task = {.stack_size_bytes = 256 * 1024}});
#pragma once

#include "coroutine/task_info.h"
#include "coroutine/wait_queue.h"

namespace corolane::coroutine {

class TaskGroup;

struct CallOnOptions {
  // Describes the task there.
  TaskOptions task = {};
  // Introspection shows it as what the caller waits for; it outlives the call.
  const char* waited_for = "call on another scheduler";
  // Ignored: only the deadline ends the wait. On the caller's own scheduler the function is part of
  // the caller's task, and as cancelled as that is.
  Cancellation cancellation = Cancellation::observe;
  // Owns the task there; only that scheduler's thread touches it, before its main task
  // has ended. Null: the scheduler owns it, and
  // cancels and awaits it once its main task has ended.
  TaskGroup* group = nullptr;
  // Sends the call with others that go to the same scheduler, once there are sixteen or the
  // caller's turn ends: many calls wake it once. For a scheduler that cannot end while a call to it
  // is queued.
  bool may_gather = false;
  // The call is queued even when too many are (SchedulerOptions::queued_call_count_max): for the
  // few on which the end of the program depends.
  bool may_exceed_queue = false;
  // False: the call is refused when few stacks are left there (StackPool::is_scarce()).
  bool may_take_last_stacks = true;
};

}  // namespace corolane::coroutine
