// SPDX-License-Identifier: MIT
#include "coroutine/base/cycle_clock.h"

#include <algorithm>
#include <chrono>
#include <limits>

namespace corolane {
namespace {

double calibrate() {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start_time = Clock::now();
  const std::uint64_t start_cycles = cycle_count();
  Clock::time_point end_time;
  do {
    end_time = Clock::now();
  } while (end_time - start_time < std::chrono::milliseconds(1));
  const auto elapsed_ns = std::chrono::nanoseconds(end_time - start_time).count();
  return static_cast<double>(cycle_count() - start_cycles) / static_cast<double>(elapsed_ns);
}

std::uint64_t measure_overhead() {
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  for (int round = 0; round < 1000; ++round) {
    const std::uint64_t start = cycle_count();
    least = std::min(least, cycle_count() - start);
  }
  return least;
}

}  // namespace

double cycles_per_ns() {
  static const double ratio = calibrate();
  return ratio;
}

std::uint64_t cycle_count_overhead() {
  static const std::uint64_t overhead = measure_overhead();
  return overhead;
}

}  // namespace corolane
