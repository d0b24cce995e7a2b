// The activity of a thread at the moment when another one interrupted it: for watchdogs of loops
// that stop turning (Scheduler::interrupt).
#pragma once

#include <cstddef>
#include <source_location>
#include <span>
#include <string>

#include "coroutine/stack/stack_trace.h"
#include "coroutine/task_info.h"

namespace corolane::coroutine {

struct Interruption {
  TaskId task = 0;  // 0: none, the loop itself was at work; then there is no name and no site.
  std::string task_name = {};
  std::source_location site = {};  // Where it was spawned.
  std::string note = {};           // By InterruptionNote.
  StackTrace trace = {};           // The innermost frame is where it was interrupted.
};

// Describes the work of the task: writes a text to `room` and returns its size. Runs in a signal
// handler of the interrupted thread: may read what belongs to the running task, and must neither
// allocate nor lock.
using InterruptionNote = std::size_t (*)(std::span<char> room);

}  // namespace corolane::coroutine
