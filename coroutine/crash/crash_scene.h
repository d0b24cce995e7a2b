// SPDX-License-Identifier: MIT
// Tells a handler of a fatal signal about the thread that it interrupts: the running task, its
// stack, and where all other tasks of this thread wait.
//
//   CrashScene::prepare();  // At the start of the program; what follows is in its handler.
//
//   ReportText text(STDERR_FILENO);
//   CrashScene::add_running_task(interrupted, text);
//   CrashScene::add_stack(interrupted, text);
//   CrashScene::add_task_stacks(2s, text);
//   text.flush();
//
// Lists and stacks may be corrupt: FaultGuard catches the faults of reading them, and a time limit
// ends endless walks. Allocates nothing and takes no lock. Code addresses are those of
// ReportText::add_code_address(); name_stacks() gives them names, later and elsewhere.
#pragma once

#include <csignal>
#include <string_view>

#include "coroutine/base/clock.h"
#include "coroutine/stack/report_text.h"
#include "coroutine/task_info.h"

namespace corolane::coroutine {

// `interrupted` is the third argument of the handler, `info` the second.
class CrashScene {
 public:
  struct RunningTask {
    TaskId id;
    std::string_view name;
  };

  // Call it once, before any signal: it forces the initialisations that happen at a first use.
  static void prepare();

  // Whether this thread runs a scheduler.
  static bool has_scheduler();
  // The task on whose behalf this thread runs; id 0 when there is none.
  static RunningTask running_task();

  // Lines "task ..", and "stack .." with its size and how much of it the interrupted code uses.
  static void add_running_task(const void* interrupted, ReportText& text);
  // The check() that failed, if one has ended the process.
  static void add_failed_check(ReportText& text);
  // The task whose stack overflowed and how to enlarge its stack, if a SIGSEGV is an overflow.
  static void add_overflow(const siginfo_t& info, void* interrupted, ReportText& text);
  // One line with the addresses of the interrupted code, innermost first. A "=" marks the first
  // address when it is that of the instruction itself; all others follow a call.
  static void add_stack(void* interrupted, ReportText& text);
  // All tasks that are not running, grouped by equal stacks, the largest group first. Two threads
  // must not call it at the same time. Stops after `time_max`.
  static void add_task_stacks(Duration time_max, ReportText& text);

  // The prefix of a line of addresses.
  static constexpr std::string_view addresses_begin = "    addresses:";
};

}  // namespace corolane::coroutine
