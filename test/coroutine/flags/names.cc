// SPDX-License-Identifier: MIT
// A program that prints where a task of its own waits: the function, and whether the line is known.
#include <chrono>
#include <cstdio>

#include "coroutine/inspect/symbols.h"
#include "coroutine/scheduler.h"
#include "coroutine/task.h"
#include "coroutine/virtual_time.h"

namespace {

using namespace corolane;
using namespace corolane::coroutine;

[[gnu::noinline]] Result<void> wait_here() {
  auto slept = sleep_for(std::chrono::seconds(1));
  asm volatile("");
  return slept;
}

void print_waiting_function() {
  auto task = spawn("task", [] { return wait_here(); });
  if (!yield()) return;
  const auto trace = Scheduler::current().tasks({.traces = true}).back().trace;
  Symbols symbols;
  for (const SourceFrame& frame : symbols.frames(trace)) {
    if (!frame.function.ends_with("wait_here")) continue;
    std::printf("%s %s\n", frame.function.c_str(), frame.line > 0 ? "with its line" : "alone");
  }
  static_cast<void>(task.join(Deadline::never()));
}

}  // namespace

int main() {
  VirtualTime time;
  Scheduler scheduler(time);
  return scheduler.run("main", print_waiting_function) ? 0 : 1;
}
