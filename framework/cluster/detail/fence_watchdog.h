// SPDX-License-Identifier: MIT
// Ends the process when its node should be fenced and has not noticed: a loop that never returns to
// its timers, a debugger, a machine that slept (step 8 of the protocol in README.md).
//
// Replies and writes of such a node are stopped anyway, by the fence checks and by the store; but
// its clients would wait for ever.
//
// Nothing can keep it from that. A log line may block for as long as stderr does, and the loop may
// hang in one while it holds the lock of the log, so another thread writes the last line.
#pragma once

#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>

#include "framework/cluster/ownership.h"
#include "framework/telemetry/log.h"

namespace corolane::framework::detail {

class FenceWatchdog {
 public:
  // Both outlive it. Starts a thread that checks the fence.
  FenceWatchdog(const Fence& fence, Log& log);
  FenceWatchdog(const FenceWatchdog&) = delete;
  FenceWatchdog& operator=(const FenceWatchdog&) = delete;

 private:
  void watch(const std::stop_token& stop);
  void tell(const std::stop_token& stop);

  const Fence& fence_;
  Log& log_;
  std::mutex mutex_;  // Never held during a log line.
  std::condition_variable_any changed_;
  bool is_the_end_ = false;
  bool is_told_ = false;
  // Their ends stop and join them. The teller exists from the start, because a process that hangs
  // may be unable to start a thread.
  std::jthread teller_;
  std::jthread watcher_;
};

}  // namespace corolane::framework::detail
