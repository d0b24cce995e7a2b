// The id of the running task, for code that records which task did or awaits something.
#pragma once

#include "coroutine/task_info.h"

namespace corolane::coroutine {

// On this thread. 0 when no task runs: the loop itself or a stackless coroutine is at work.
TaskId current_task_id();

}  // namespace corolane::coroutine
