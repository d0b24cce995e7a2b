// SPDX-License-Identifier: MIT
#include "framework/cluster/detail/fence_watchdog.h"

#include <unistd.h>

#include <chrono>

namespace corolane::framework::detail {
namespace {

using namespace std::chrono_literals;

// The interval between two checks, and the tolerated delay of a busy loop.
constexpr Duration watch_interval = 100ms;
constexpr Duration grace = 1s;
// The time that the log has for the last line: the process ends without it, and not later.
constexpr Duration last_line_time_max = 1s;

// EX_SOFTWARE of sysexits.h.
constexpr int exit_status = 70;

}  // namespace

FenceWatchdog::FenceWatchdog(const Fence& fence, Log& log)
    : fence_(fence),
      log_(log),
      teller_([this](const std::stop_token& stop) { tell(stop); }),
      watcher_([this](const std::stop_token& stop) { watch(stop); }) {}

void FenceWatchdog::watch(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, stop, watch_interval, [] { return false; }) &&
         !stop.stop_requested()) {
    const TimePoint end = fence_.at();
    // The node has fenced itself, or its directory is not shared.
    if (end == TimePoint::min() || end == TimePoint::max()) continue;
    if (fence_.clock_now() < end + grace) continue;
    is_the_end_ = true;
    changed_.notify_all();
    changed_.wait_for(lock, last_line_time_max, [this] { return is_told_; });
    ::_exit(exit_status);
  }
}

void FenceWatchdog::tell(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  if (!changed_.wait(lock, stop, [this] { return is_the_end_; })) return;
  lock.unlock();
  log_.error("the node is fenced, but its loop does not react: the process ends");
  lock.lock();
  is_told_ = true;
  changed_.notify_all();
}

}  // namespace corolane::framework::detail
