// SPDX-License-Identifier: MIT
// Decides when a failed process is restarted, and when to give up.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

#include "coroutine/base/clock.h"
#include "coroutine/base/split_mix.h"

namespace corolane::tools::cli::run {

class BackOff {
 public:
  struct Options {
    // The delay doubles with each failure, and is drawn from its upper half, so that nodes that
    // failed together do not restart together.
    Duration delay_min = std::chrono::milliseconds(200);
    Duration delay_max = std::chrono::seconds(30);
    // The supervisor gives up at this many failures within the window.
    std::size_t failure_count_max = 5;
    Duration window = std::chrono::minutes(2);
  };

  BackOff(const Options& options, std::uint64_t seed) : options_(options), random_(seed) {}

  // Records a failure. Returns the delay before the restart, or nothing to give up. A process that
  // ran for a whole window before counts as new.
  std::optional<Duration> failed(TimePoint at);
  // Failures within the window, including the last.
  std::size_t failure_count() const { return failures_.size(); }

 private:
  const Options options_;
  SplitMix64 random_;
  std::deque<TimePoint> failures_;
};

}  // namespace corolane::tools::cli::run
