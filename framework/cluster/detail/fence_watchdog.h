// SPDX-License-Identifier: MIT
// Ends the process when its node should be fenced and has not noticed: a loop that never returns to
// its timers, a debugger, a machine that slept (step 8 of the protocol in README.md). Ends it also
// when the node is fenced and cannot drop what it owned: a handler that ignores its cancellation, a
// shard that hangs. The node could then neither serve nor join again.
//
// Replies and writes of such a node are stopped anyway, by the fence checks and by the store; but
// its clients would wait for ever.
//
// Nothing can keep it from that. A log line may block for as long as stderr does, and the loop may
// hang in one while it holds the lock of the log, so another thread writes the last line.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <stop_token>
#include <thread>

#include "framework/cluster/ownership.h"
#include "framework/telemetry/log.h"

namespace corolane::framework::detail {

class FenceWatchdog {
 public:
  struct Options {
    Duration interval = std::chrono::milliseconds(100);
    // How long after the end of its fence a busy loop may take to notice it.
    Duration grace = std::chrono::seconds(1);
    // How long a fenced node may take to drop what it owned. Handlers that are cancelled end within
    // milliseconds, and a change is stored within a second; one that takes longer than this ignores
    // its cancellation, or its shard hangs. Meanwhile the node serves nothing, and a new process
    // would be ready within seconds.
    Duration drop_time_max = std::chrono::seconds(5);
    // The time that the log has for the last line. The process ends without it, but not later.
    Duration last_line_time_max = std::chrono::seconds(1);
  };
  enum class Verdict : std::uint8_t { lives, does_not_react, does_not_drop };

  // Both outlive it. Starts the threads that check the fence.
  FenceWatchdog(const Fence& fence, Log& log) : FenceWatchdog(fence, log, Options{}) {}
  FenceWatchdog(const Fence& fence, Log& log, const Options& options);
  FenceWatchdog(const FenceWatchdog&) = delete;
  FenceWatchdog& operator=(const FenceWatchdog&) = delete;

  // Whether the process has to end now, and why.
  static Verdict verdict(const Fence& fence, const Options& options);

 private:
  void tell_end();
  void watch(const std::stop_token& stop);
  void tell(const std::stop_token& stop);

  const Fence& fence_;
  Log& log_;
  const Options options_;
  std::mutex mutex_;  // Never held during a log line.
  std::condition_variable_any changed_;
  Verdict verdict_ = Verdict::lives;
  bool is_told_ = false;
  // Their ends stop and join them. The teller exists from the start, because a process that hangs
  // may be unable to start a thread.
  std::jthread teller_;
  std::jthread watcher_;
};

}  // namespace corolane::framework::detail
