// Finds out what the CPU time of a thread is spent on, at no cost to the switches between tasks.
//
// A timer on the thread's own CPU clock interrupts it after each interval that it has computed
// for; whatever runs then is charged. A thread that waits is not interrupted, and time that other
// processes took is nobody's. The kernel looks at such timers at its own tick, 1 to 10 ms: of
// intervals that were over by then it tells how many, and all are charged at once. So the sums are
// right in the long run, and say little of a task that computed for a few ticks.
//
// The signal is SIGURG, for Go's reasons (its proposal 24543): debuggers pass it on without a
// word, the C library does not use it, programs expect it for no reason, and where nobody handles
// it, it does nothing. System calls that it interrupts are restarted, but for those that never
// are (signal(7)); its handler runs on an alternate stack, since a task's has no room for it
// (but with AddressSanitizer: cpu_meter.cc).
#pragma once

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <ctime>

#include "coroutine/base/clock.h"

namespace corolane::coroutine::detail {

// A sum that the thread reads and its signal handler adds to.
class CpuTime {
 public:
  void add(std::uint64_t nanoseconds) {
    // No other thread adds, so it need not be one step.
    sum_ns_.store(sum_ns_.load(std::memory_order_relaxed) + nanoseconds, std::memory_order_relaxed);
  }
  Duration sum() const { return std::chrono::nanoseconds(sum_ns_.load(std::memory_order_relaxed)); }

 private:
  std::atomic<std::uint64_t> sum_ns_ = 0;
};

// Measures the thread that made it, until its end there.
class CpuMeter {
 public:
  // Called in the signal handler, so they may do next to nothing. `context` is the third argument
  // of the handler.
  using Charge = void (*)(std::uint64_t nanoseconds, const void* context);
  // Another thread may want to know what this one does: then it has sent SIGURG to it by tgkill(2).
  // Also called when none has, at each signal of the timer.
  using Interrupted = void (*)(const void* context);

  // Does nothing when the interval is zero, when this thread has a meter already, and where it
  // cannot be: in builds with the thread sanitizer, which puts signals off until they say nothing,
  // when something else handles SIGURG, and when the kernel has no timer to give.
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
