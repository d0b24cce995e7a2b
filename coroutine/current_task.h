// Which task runs, for those who write down who did or waits for something.
#pragma once

#include "coroutine/task_info.h"

namespace corolane::coroutine {

// Of this thread. 0: none, the loop itself or a stackless coroutine is at work.
TaskId current_task_id();

}  // namespace corolane::coroutine
