// SPDX-License-Identifier: MIT
#include "framework/cluster/detail/fence_watchdog.h"

#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace corolane::framework::detail {
namespace {

using namespace std::chrono_literals;

// The interval between two checks, and the tolerated delay of a busy loop.
constexpr Duration watch_interval = 100ms;
constexpr Duration grace = 1s;

// EX_SOFTWARE of sysexits.h.
constexpr int exit_status = 70;

}  // namespace

FenceWatchdog::FenceWatchdog(const Fence& fence, Log& log)
    : thread_([&fence, &log](const std::stop_token& stop) { watch(stop, fence, log); }) {}

void FenceWatchdog::watch(const std::stop_token& stop, const Fence& fence, Log& log) {
  std::mutex mutex;
  std::condition_variable_any stopped;
  std::unique_lock lock(mutex);
  while (!stopped.wait_for(lock, stop, watch_interval, [] { return false; }) &&
         !stop.stop_requested()) {
    const TimePoint end = fence.at();
    // The node has fenced itself, or its directory is not shared.
    if (end == TimePoint::min() || end == TimePoint::max()) continue;
    if (fence.clock_now() < end + grace) continue;
    log.error("the node is fenced, but its loop does not react: the process ends");
    ::_exit(exit_status);
  }
}

}  // namespace corolane::framework::detail
