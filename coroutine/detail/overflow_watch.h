// SPDX-License-Identifier: MIT
// Reports which task overflowed its stack, before the process dies.
//
// Below each stack lies a guard, so an overflow is a SIGSEGV. That alone shows neither that a stack
// was too small nor which one. With a watch on the thread the report names the task, where it was
// spawned and how large its stack is:
//
//   stack overflow: task 7 "bottomless" needs more than its 65536 bytes of stack
//     at address 0x7f3a5c2fbff8, 8 bytes below the end
//     spawned at services/duel/duel.cc:31
//
// and how to give it a stack that is large enough for the frame that did not fit; or that it was a
// recursion, when the same calls repeat down the stack.
//
// Then the signal is passed on to the handler that was installed before the first watch. The
// default one ends the process by SIGSEGV, with a core that shows the fault itself. Every other
// fault is passed on without a report.
#pragma once

#include <csignal>

#include "coroutine/stack/report_text.h"

namespace corolane::coroutine::detail {

struct TaskControl;

// Watches this thread for the duration of a Scheduler::run(). Watches end in reverse order.
class OverflowWatch {
 public:
  // `around` is the task on whose stack run() was called, null when there is none: its stack is in
  // use as long as the inner loop runs.
  explicit OverflowWatch(const TaskControl* around);
  ~OverflowWatch();
  OverflowWatch(const OverflowWatch&) = delete;
  OverflowWatch& operator=(const OverflowWatch&) = delete;

  // The address that a SIGSEGV could not use, null when it was sent. The kernel also sends one when
  // the frame of another signal has no room on the interrupted stack: then the end of that frame.
  // Async-signal-safe.
  static const void* missing_address(const siginfo_t& info, const void* context);
  // The task in use on this thread whose stack has `address` in its guard, if there is one.
  // Async-signal-safe.
  static const TaskControl* overflowed(const void* address);
  // Writes the text above; `context` is the third argument of the signal handler. Async-signal-safe
  // as unwind_crashed() is.
  static void describe(const TaskControl& task, const void* address, void* context,
                       ReportText& text);

 private:
  static inline constinit thread_local const OverflowWatch* innermost_ = nullptr;

  const OverflowWatch* const outer_;
  const TaskControl* const around_;
};

}  // namespace corolane::coroutine::detail
