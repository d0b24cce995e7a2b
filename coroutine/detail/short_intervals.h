// SPDX-License-Identifier: MIT
// The lengths of intervals that may be shorter than a tick of the cycle counter.
//
// On x86-64 a cycle is a fraction of a nanosecond, and each interval is recorded as it is. The
// counter of many arm64 processors ticks at 24 to 100 MHz: a switch of 10 ns takes no tick, or one
// of 40 ns. But the mean over many is right, since they begin anywhere between two ticks. So as
// many are added up as it takes for an error of about a nanosecond, and their mean is recorded
// once.
#pragma once

#include <algorithm>
#include <cstdint>

#include "coroutine/base/cycle_clock.h"
#include "coroutine/base/histogram.h"

namespace corolane::coroutine::detail {

class ShortIntervals {
 public:
  ShortIntervals() : ShortIntervals(cycles_per_ns(), cycle_count_overhead()) {}
  // `overhead_cycles` is the part of each interval that is the measuring.
  ShortIntervals(double cycles_per_ns, double overhead_cycles)
      : batch_count_(batch_count_for(1 / cycles_per_ns)),
        cycles_per_ns_(cycles_per_ns),
        overhead_cycles_(overhead_cycles) {}

  std::uint64_t batch_count() const { return batch_count_; }

  // Adds an interval; the last one of a batch is recorded into `nanoseconds`.
  void add(std::uint64_t cycles, Histogram& nanoseconds) {
    cycles_ += cycles;
    if (++count_ < batch_count_) return;
    const auto count = static_cast<double>(count_);
    const double mean = static_cast<double>(cycles_) / count - overhead_cycles_;
    nanoseconds.record(static_cast<std::uint64_t>(std::max(mean, 0.0) / cycles_per_ns_));
    cycles_ = count_ = 0;
  }

 private:
  // One interval is wrong by half a tick at most, the mean of n by that over the root of n.
  static std::uint64_t batch_count_for(double tick_ns) {
    constexpr double count_max = 1024;
    if (tick_ns <= 2) return 1;
    return static_cast<std::uint64_t>(std::min(tick_ns * tick_ns / 4, count_max));
  }

  std::uint64_t batch_count_;
  double cycles_per_ns_;
  double overhead_cycles_;
  std::uint64_t cycles_ = 0;
  std::uint64_t count_ = 0;
};

}  // namespace corolane::coroutine::detail
