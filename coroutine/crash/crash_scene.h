// What a handler of a fatal signal finds out about the thread it interrupts: the task that ran, its
// stack, and where all other tasks of this thread wait.
//
// Reads lists and stacks that may be broken: FaultGuard catches it where that ends in a fault, and
// the time is bounded where it does not end. Allocates nothing and takes no lock. Code addresses
// are those of ReportText::add_code_address(); name_stacks() gives them names, later and elsewhere.
#pragma once

#include <string_view>

#include "coroutine/base/clock.h"
#include "coroutine/stack/report_text.h"
#include "coroutine/task_info.h"

namespace corolane::coroutine {

class CrashScene {
 public:
  struct RunningTask {
    TaskId id;
    std::string_view name;
  };

  // Once, before a signal comes: what is made at its first use is made then.
  static void prepare();

  // Whether this thread runs a scheduler.
  static bool has_scheduler();
  // The task on whose behalf this thread runs; id 0 when there is none.
  static RunningTask running_task();

  // Lines "task ..", and "stack .." with its size and, from `stack_pointer`, its use.
  static void add_running_task(const void* stack_pointer, ReportText& text);
  // What failed in check(), if that has ended the process.
  static void add_failed_check(ReportText& text);
  // Whose stack is too small and how to make it larger, if `address` lies in its guard.
  static void add_overflow(const void* address, ReportText& text);
  // One line of addresses, innermost first, of what was interrupted: the third argument of the
  // handler. The first has a "=" when it is that of the instruction itself; all others are those
  // behind a call.
  static void add_stack(void* interrupted, ReportText& text);
  // Of all tasks that do not run, those with equal stacks together, the largest group first. Not by
  // two threads at the same time. Looks no further when `time_max` is over.
  static void add_task_stacks(Duration time_max, ReportText& text);

  // What a line of addresses begins with.
  static constexpr std::string_view addresses_begin = "    addresses:";
};

}  // namespace corolane::coroutine
