// When a process that has failed is started again, and when nobody tries any more.
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
    // Doubled from failure to failure, and drawn from the upper half: nodes that failed together do
    // not come back together.
    Duration delay_min = std::chrono::milliseconds(200);
    Duration delay_max = std::chrono::seconds(30);
    // So many within the window, and it is given up.
    std::size_t failure_count_max = 5;
    Duration window = std::chrono::minutes(2);
  };

  BackOff(const Options& options, std::uint64_t seed) : options_(options), random_(seed) {}

  // It has failed at that moment: how long to wait, or nothing: it is given up. What ran for a
  // whole window before is as good as new.
  std::optional<Duration> failed(TimePoint at);
  // Within the window, the last one included.
  std::size_t failure_count() const { return failures_.size(); }

 private:
  const Options options_;
  SplitMix64 random_;
  std::deque<TimePoint> failures_;
};

}  // namespace corolane::tools::cli::run
