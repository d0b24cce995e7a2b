// Ends the process when its node should have fallen silent and has not: a loop that never gets back
// to its timers, a debugger, a machine that slept (step 8 of the protocol in README.md).
//
// What such a node still says is refused anyway, by the store and by those who check the fence
// before they speak; but it would keep others waiting for ever.
#pragma once

#include <stop_token>
#include <thread>

#include "framework/cluster/ownership.h"
#include "framework/telemetry/log.h"

namespace corolane::framework::detail {

class FenceWatchdog {
 public:
  // Both outlive it. A thread of its own looks from now on.
  FenceWatchdog(const Fence& fence, Log& log);
  FenceWatchdog(const FenceWatchdog&) = delete;
  FenceWatchdog& operator=(const FenceWatchdog&) = delete;

 private:
  static void watch(const std::stop_token& stop, const Fence& fence, Log& log);

  std::jthread thread_;  // Its end stops and joins it.
};

}  // namespace corolane::framework::detail
