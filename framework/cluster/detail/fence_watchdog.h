// SPDX-License-Identifier: MIT
// Ends the process when its node should be fenced and has not noticed: a loop that never returns to
// its timers, a debugger, a machine that slept (step 8 of the protocol in README.md).
//
// Replies and writes of such a node are stopped anyway, by the fence checks and by the store; but
// its clients would wait for ever.
#pragma once

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
  static void watch(const std::stop_token& stop, const Fence& fence, Log& log);

  std::jthread thread_;  // Its end stops and joins it.
};

}  // namespace corolane::framework::detail
