// SPDX-License-Identifier: MIT
// Detects loops that do not turn and reports the task that blocks them: a handler that computes for
// too long, or blocks the thread, delays all others of its shard.
//
// A thread of its own watches each scheduler. A scheduler that has run tasks for too long without a
// turn is asked for its stack, and interrupted for that if it computes (Scheduler::interrupt).
// Stalls are counted and logged, a few per minute at most; the latest are kept for the page
// /stalls. A stall that goes on is told again after 1 s, 10 s, and each minute, with what the
// thread does by then.
//
// Thread-safe.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "coroutine/interrupter.h"
#include "coroutine/scheduler.h"
#include "framework/telemetry/log.h"

namespace corolane::framework::detail {

class StallWatchdog {
 public:
  struct Options {
    Duration stall_time_min = std::chrono::milliseconds(20);
    // A loop that is blocked for longer counts as stuck: is_stuck().
    Duration stuck_time_min = std::chrono::seconds(1);
    std::size_t logged_per_minute_max = 5;  // Those told again are not counted.
    // The first time; further ones follow after ten times as long, and then each 60 times.
    Duration told_again_after = std::chrono::seconds(1);
    std::size_t kept_count = 32;  // Stalls with their stacks, besides those that go on.
    // The last loop is that of the control thread, which is no shard.
    bool control_is_last = false;
  };

  struct Stall {
    std::uint64_t number = 0;  // Starts at 1.
    std::size_t shard = 0;     // As in the ids of its tasks.
    bool is_control = false;   // It is no shard.
    std::chrono::sys_time<Duration> begun_at;
    Duration lasted{};  // So far, while is_going_on; precise to a few ms.
    bool is_going_on = true;
    // The work when the stall was noticed, or told again; nothing when the thread did not answer.
    // Its note names the object.
    std::optional<coroutine::Interruption> doing;
  };

  struct Statistics {
    std::uint64_t count = 0;
    Duration time{};  // The sum of all ended stalls.
  };

  // The schedulers, by number of their shard, that of a control thread last, run until after its
  // end, and `log` outlives it.
  StallWatchdog(std::vector<coroutine::Scheduler*> schedulers, const Options& options, Log& log);
  StallWatchdog(const StallWatchdog&) = delete;
  StallWatchdog& operator=(const StallWatchdog&) = delete;

  Statistics statistics() const;
  std::vector<Stall> last_stalls() const;  // The newest first.
  // Whether a loop has been blocked for stuck_time_min and still is.
  bool is_stuck() const;

 private:
  // The state of one scheduler.
  struct Watched {
    coroutine::Scheduler* scheduler;
    std::uint32_t activity = 0;
    TimePoint since = {};     // When this activity was first seen.
    std::uint64_t stall = 0;  // The number of its stall; 0: none.
    Duration tell_at{};       // How long the stall then lasts.
  };

  void watch(const std::stop_token& stop);
  void look(Watched& watched, std::size_t shard, TimePoint time);
  void begin_stall(Watched& watched, std::size_t shard, TimePoint time);
  void go_on(Watched& watched, Duration lasted);
  void end_stall(Watched& watched, TimePoint time);
  void tell_first(const Stall& stall, TimePoint time);
  void tell(const Stall& stall);
  // With mutex_ locked.
  void forget_oldest();
  Stall* find(std::uint64_t number);

  const Options options_;
  Log& log_;
  std::vector<Watched> watched_;     // Owned by the watchdog's thread, like:
  std::deque<TimePoint> logged_at_;  // In the last minute.
  std::uint64_t unlogged_count_ = 0;
  mutable std::mutex mutex_;
  Statistics statistics_;     // Guarded by mutex_.
  std::deque<Stall> stalls_;  // Likewise; the newest first.
  std::jthread thread_;       // Its end stops and joins it.
};

}  // namespace corolane::framework::detail
