// SPDX-License-Identifier: MIT
// Attributes the CPU time of a thread, at no cost to the switches between tasks.
//
// A timer on the thread's own CPU clock interrupts it after each interval of computation, and the
// running task is charged. A waiting thread is not interrupted, and time that other processes took
// is not charged. The kernel checks such timers only at its own tick, 1 to 10 ms; it reports how
// many intervals have passed, and all are charged at once. So the sums are right in the long run,
// and say little about a task that computed for a few ticks.
//
// The signal is SIGURG, for Go's reasons (its proposal 24543): debuggers pass it on silently, the C
// library does not use it, programs tolerate it at any time, and by default it is ignored.
// Interrupted system calls are restarted, except for those that never are (signal(7)). The handler
// runs on an alternate stack, since a task's stack has no room for it (except with
// AddressSanitizer: cpu_meter.cc).
#pragma once

#include <csignal>
#include <cstdint>
#include <ctime>

#include "coroutine/base/clock.h"

namespace corolane::coroutine::detail {

// Measures the thread that made it, until it is destroyed there.
class CpuMeter {
 public:
  // Called in the signal handler, so it must be async-signal-safe. `context` is the third argument
  // of the handler.
  using Charge = void (*)(std::uint64_t nanoseconds, const void* context);
  // Called at each SIGURG: another thread may have sent it by tgkill(2) to ask what this one does,
  // or it is the timer's.
  using Interrupted = void (*)(const void* context);

  // Does nothing when the interval is zero, when this thread has a meter already, and where none is
  // possible: with the thread sanitizer, which delays signals until they are useless, when another
  // handler owns SIGURG, and when the kernel has no timer left.
  CpuMeter(Duration interval, Charge charge, Interrupted interrupted);
  ~CpuMeter();
  CpuMeter(const CpuMeter&) = delete;
  CpuMeter& operator=(const CpuMeter&) = delete;

  // Whether this thread has a meter.
  static bool is_running() { return running_ != nullptr; }

 private:
  static bool claim_signal();
  static void handle(int signal, siginfo_t* info, void* context);
  bool start_timer();

  static inline constinit thread_local CpuMeter* running_ = nullptr;

  const std::uint64_t interval_ns_;
  const Charge charge_;
  const Interrupted interrupted_;
  timer_t timer_{};
};

}  // namespace corolane::coroutine::detail
