// SPDX-License-Identifier: MIT
// SIGINT and SIGTERM, and SIGHUP where it has a meaning, taken by a thread of their own: a process
// must end on a signal, even if a handler never returns to its loop.
//
//   StopSignal stop(scheduler, 6s, log);
//   scheduler.run("main", [&] { stop.wait(); ... });  // From the signal on, 6s are left.
//
// One per process at a time. Its signals stay blocked until it is destroyed, in the constructing
// thread and in all threads that this one starts meanwhile.
#pragma once

#include <atomic>
#include <chrono>
#include <csignal>
#include <functional>
#include <thread>

#include "coroutine/base/clock.h"
#include "coroutine/base/result.h"
#include "coroutine/scheduler.h"
#include "coroutine/sync/event.h"
#include "framework/telemetry/log.h"

namespace corolane::framework::detail {

// The time for cancelled calls to unwind after node.stop_time_max.
constexpr Duration unwind_time_max = std::chrono::seconds(1);

class StopSignal {
 public:
  struct Arrival {
    int number;
    TimePoint time;
  };

  // Constructed on the thread of `scheduler`, before or after its run(). After the first signal the
  // process has `time_max` to destroy this. Then an error is logged and the process exits with 0, a
  // second later if stderr blocks. A second signal makes it exit with 130 at once. No destructors
  // run in these cases. `on_hangup` is called on the loop's stack for each SIGHUP before the first
  // stop signal; without `on_hangup` SIGHUP is not handled.
  StopSignal(coroutine::Scheduler& scheduler, Duration time_max, Log& log,
             std::function<void()> on_hangup = {});
  // Changes `time_max` for a signal that arrives later.
  void set_time_max(Duration time_max) { time_max_.store(time_max, std::memory_order_relaxed); }
  // On the same thread. Restores the signal mask; pending signals are discarded.
  ~StopSignal();
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;

  // Suspends until the first signal has arrived. Its time may lie in the past when the loop was
  // busy. Fails with cancelled. For one task of the scheduler.
  Result<Arrival> wait();
  // The same as an operation, without the arrival: wait() then does not suspend.
  coroutine::Event::Waiting arriving() { return arrived_.waiting(); }

  // Acts as a SIGTERM, unless a signal has arrived already. Any thread.
  void ask();

 private:
  void watch();
  sigset_t signals() const;

  coroutine::Scheduler& scheduler_;
  std::atomic<Duration> time_max_;
  Log& log_;
  const std::function<void()> on_hangup_;
  sigset_t previous_ = {};  // The signal mask before.
  Arrival arrival_ = {};
  coroutine::Event arrived_{"signal"};
  std::atomic<bool> released_ = false;  // The destructor runs.
  std::atomic<bool> asked_ = false;     // A SIGTERM of ask() is pending.
  std::thread thread_;
};

}  // namespace corolane::framework::detail
