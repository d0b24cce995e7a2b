// SIGINT and SIGTERM, and SIGHUP where it has a meaning, taken by a thread of their own: a process
// must end when it is told to, even if a handler never gives its loop back.
//
//   StopSignal stop(scheduler, 6s, log);
//   scheduler.run("main", [&] { stop.wait(); ... });  // From the signal on, 6s are left.
//
// One at a time in a process: until it is destroyed its signals are blocked, in the thread that
// makes it and in all that this one starts meanwhile.
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

// What is left to calls that were cancelled when node.stop_time_max was over.
constexpr Duration unwind_time_max = std::chrono::seconds(1);

class StopSignal {
 public:
  struct Arrival {
    int number;
    TimePoint time;
  };

  // Made by the thread of `scheduler`, before or after its run(). From the first signal on, the
  // process has `time_max` to destroy this: at its end an error is logged and the process exits
  // with 0, a second later if stderr takes no more; at a second signal it exits with 130 at once.
  // In all of these cases without destructors.
  // `on_hangup` is called on the loop's stack for each SIGHUP before the first of them; without it
  // that one is not taken.
  StopSignal(coroutine::Scheduler& scheduler, Duration time_max, Log& log,
             std::function<void()> on_hangup = {});
  // As `time_max` above, for a signal that comes from now on.
  void set_time_max(Duration time_max) { time_max_.store(time_max, std::memory_order_relaxed); }
  // By the same thread. Signals do what they did before; those that came meanwhile are forgotten.
  ~StopSignal();
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;

  // Suspends until the first signal has come; it may have come a while ago, when the loop was
  // busy. Fails with cancelled. One task of the scheduler.
  Result<Arrival> wait();

  // As a SIGTERM, unless a signal has come already. Any thread.
  void ask();

 private:
  void watch();
  sigset_t signals() const;

  coroutine::Scheduler& scheduler_;
  std::atomic<Duration> time_max_;
  Log& log_;
  const std::function<void()> on_hangup_;
  sigset_t previous_ = {};  // What was blocked before.
  Arrival arrival_ = {};
  coroutine::Event arrived_{"signal"};
  std::atomic<bool> released_ = false;  // Nobody waits for signals any more.
  std::atomic<bool> asked_ = false;     // A SIGTERM is on its way that is to be the first or none.
  std::thread thread_;
};

}  // namespace corolane::framework::detail
