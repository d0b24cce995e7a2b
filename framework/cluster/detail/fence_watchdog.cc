// SPDX-License-Identifier: MIT
#include "framework/cluster/detail/fence_watchdog.h"

#include <unistd.h>

#include <optional>
#include <string_view>

namespace corolane::framework::detail {
namespace {

// EX_SOFTWARE of sysexits.h.
constexpr int exit_status = 70;

std::string_view to_text(Fence::DropStep step) {
  switch (step) {
    case Fence::DropStep::hand_over:
      return "the end of a hand-over";
    case Fence::DropStep::objects:
      return "the end of all objects";
  }
  return "";
}

}  // namespace

FenceWatchdog::FenceWatchdog(const Fence& fence, Log& log, const Options& options)
    : fence_(fence),
      log_(log),
      options_(options),
      teller_([this](const std::stop_token& stop) { tell(stop); }),
      watcher_([this](const std::stop_token& stop) { watch(stop); }) {}

FenceWatchdog::Verdict FenceWatchdog::verdict(const Fence& fence, const Options& options) {
  const TimePoint time = fence.clock_now();
  const auto drop = fence.drop();
  if (drop && time - drop->since >= options.drop_time_max) return Verdict::does_not_drop;
  const TimePoint end = fence.at();
  // The node has fenced itself, or its directory is not shared.
  if (end == TimePoint::min() || end == TimePoint::max()) return Verdict::lives;
  return time < end + options.grace ? Verdict::lives : Verdict::does_not_react;
}

void FenceWatchdog::watch(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, stop, options_.interval, [] { return false; }) &&
         !stop.stop_requested()) {
    verdict_ = verdict(fence_, options_);
    if (verdict_ == Verdict::lives) continue;
    changed_.notify_all();
    changed_.wait_for(lock, options_.last_line_time_max, [this] { return is_told_; });
    ::_exit(exit_status);
  }
}

void FenceWatchdog::tell(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  if (!changed_.wait(lock, stop, [this] { return verdict_ != Verdict::lives; })) return;
  lock.unlock();
  tell_end();
  lock.lock();
  is_told_ = true;
  changed_.notify_all();
}

void FenceWatchdog::tell_end() {
  const std::optional<Fence::Drop> drop = fence_.drop();
  if (verdict_ == Verdict::does_not_drop && drop) {
    log_.error("the node is fenced, but does not drop what it owned: the process ends",
               {{"waits_for", to_text(drop->step)}, {"waited", fence_.clock_now() - drop->since}});
    return;
  }
  log_.error("the node is fenced, but its loop does not react: the process ends");
}

}  // namespace corolane::framework::detail
