// Notices loops that do not turn, and says who keeps them: a handler that computes for too long, or
// that blocks the thread, holds up all others of its shard.
//
// A thread of its own looks at each scheduler; one that has run tasks for too long without a turn
// is interrupted and asked what it does (Scheduler::interrupt). Stalls are counted, told to the
// log, not more than a few a minute, and the last ones are kept for the page /stalls.
//
// Any thread may ask it.
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

#include "coroutine/interruption.h"
#include "coroutine/scheduler.h"
#include "framework/telemetry/log.h"

namespace corolane::framework::detail {

class StallWatchdog {
 public:
  struct Options {
    Duration stall_time_min = std::chrono::milliseconds(20);
    // A loop that stands still for so long serves nobody: is_stuck().
    Duration stuck_time_min = std::chrono::seconds(1);
    std::size_t logged_per_minute_max = 5;
    std::size_t kept_count = 32;  // Stalls with their stacks.
  };

  struct Stall {
    std::uint64_t number = 0;  // From 1 on.
    std::size_t shard = 0;
    std::chrono::sys_time<Duration> begun_at;
    Duration lasted{};  // So far, while it is_going_on; to a few milliseconds.
    bool is_going_on = true;
    // When it was noticed; nothing when the thread did not answer. The note names the object.
    std::optional<coroutine::Interruption> doing;
  };

  struct Statistics {
    std::uint64_t count = 0;
    Duration time{};  // Of all that have ended.
  };

  // The schedulers, by number of their shard, run until after its end, and `log` outlives it.
  StallWatchdog(std::vector<coroutine::Scheduler*> schedulers, const Options& options, Log& log);
  StallWatchdog(const StallWatchdog&) = delete;
  StallWatchdog& operator=(const StallWatchdog&) = delete;

  Statistics statistics() const;
  std::vector<Stall> last_stalls() const;  // The newest first.
  // Whether a loop has stood still for stuck_time_min, and still does.
  bool is_stuck() const;

 private:
  // What is known of one scheduler.
  struct Watched {
    coroutine::Scheduler* scheduler;
    std::uint32_t activity = 0;
    TimePoint since = {};     // When it had this activity first.
    std::uint64_t stall = 0;  // Its number, once it is one.
  };

  void watch(const std::stop_token& stop);
  void look(Watched& watched, std::size_t shard, TimePoint time);
  void begin_stall(Watched& watched, std::size_t shard, TimePoint time);
  void end_stall(Watched& watched, TimePoint time);
  void tell(const Stall& stall, TimePoint time);
  Stall* find(std::uint64_t number);

  const Options options_;
  Log& log_;
  std::vector<Watched> watched_;     // Of the watchdog's thread, as is:
  std::deque<TimePoint> logged_at_;  // In the last minute.
  std::uint64_t unlogged_count_ = 0;
  mutable std::mutex mutex_;
  Statistics statistics_;     // Guarded by mutex_.
  std::deque<Stall> stalls_;  // Likewise; the newest first.
  std::jthread thread_;       // Its end stops and joins it.
};

}  // namespace corolane::framework::detail
