// SPDX-License-Identifier: MIT
// The options and the statistics of a Scheduler.
//
//   Scheduler scheduler(loop, {.stacks = {.stack_count_max = 10'000}});
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "coroutine/base/clock.h"
#include "coroutine/base/histogram.h"
#include "coroutine/deep_stack.h"
#include "coroutine/stack/stack_pool.h"
#include "coroutine/stray_exception.h"

namespace corolane::coroutine {

struct SchedulerOptions {
  StackPool::Options stacks = {};
  // One switch in this many is timed in production too; 0 switches it off.
  std::uint32_t switch_sample_interval = 1'021;
  std::uint32_t create_sample_interval = 1'019;
  // Measures the stacks of the first task of each spawn site and of one task in this many: see
  // Scheduler::sites(). A measured task pays for some system calls and for faulting in its stack's
  // pages; 0 switches it off.
  std::uint32_t stack_sample_interval = 4'093;
  // The CPU time of the thread after which the running task is charged; 0 switches it off. One
  // task's CPU time is accurate to a few kernel ticks (1 to 10 ms each), the sum over a thousand
  // tasks much better. Uses SIGURG, unless the process handles that itself.
  Duration cpu_sample_interval = std::chrono::milliseconds(1);
  // Called with the nanoseconds that the running task is charged, in the signal handler: between
  // any two instructions of the task, so it must be async-signal-safe. May be null.
  void (*on_cpu_charge)(std::uint64_t nanoseconds) = nullptr;
  // The main task of run() does set-up work with deep frames.
  std::size_t main_stack_size_bytes = 512 * 1024;
  // The most calls from other schedulers (call_on.h) that wait here for the next turn: a thread
  // that hangs refuses more, instead of keeping what its callers take back.
  std::uint32_t queued_call_count_max = 65'536;
  OnStrayException on_stray_exception = print_stray_exception;
  OnDeepStack on_deep_stack = {};  // May be empty.
  // Not 0: ready tasks run in a random order that follows from this seed, and now and then outside
  // events come first. For tests: a task that trusts, after a suspension, what it read before fails
  // in some order. coroutine/testing/README.md shows how a test uses it.
  std::uint64_t shuffle_seed = 0;
  // With a shuffle seed: a call that may suspend does so now and then although it need not, as if
  // the mutex had been held or the channel full; the seed says when. Never inside a NoSuspend.
  bool explores_suspensions = true;
};

struct SchedulerStatistics {
  Histogram switch_ns;  // From a task's suspension to the first step of the next.
  Histogram create_ns;  // Of spawn(): stack, control block, queueing.
  std::uint64_t switch_count = 0;
  std::uint64_t created_count = 0;
  std::size_t task_count = 0;  // Alive now; an ended task counts until it is joined.
  std::size_t task_count_peak = 0;
  std::size_t ready_count = 0;   // All ready ones, stackless coroutines included.
  std::uint64_t turn_count = 0;  // Turns of the loop.
  std::uint64_t stray_exception_count = 0;
  std::uint64_t deep_stack_count = 0;  // Measured stacks of which at most a tenth was left.
  std::size_t stackless_count = 0;     // Stackless coroutines of this thread that are alive now,
  std::size_t stackless_bytes = 0;     // and the memory that is kept for them and for timers.
  Duration loop_cpu{};        // Consumed by the loop itself: handlers, timers, posted work.
  bool measures_cpu = false;  // Whether CPU time is being measured.
};

}  // namespace corolane::coroutine
