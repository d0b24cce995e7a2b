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

// The least mean of many runs, since some of them are interrupted. The runs are short where a
// reading takes some cycles, which is then the least.
double measure_overhead(int readings_per_run) {
  double least = std::numeric_limits<double>::max();
  for (int run = 0; run < 1000; ++run) {
    std::uint64_t cycles = 0;
    for (int reading = 0; reading < readings_per_run; ++reading) {
      const std::uint64_t start = cycle_count();
      cycles += cycle_count() - start;
    }
    least = std::min(least, static_cast<double>(cycles) / readings_per_run);
  }
  return least;
}

double measure_overhead() {
  const double of_one = measure_overhead(1);
  return of_one > 0 ? of_one : measure_overhead(100);
}

}  // namespace

double cycles_per_ns() {
  static const double ratio = calibrate();
  return ratio;
}

double cycle_count_overhead() {
  static const double overhead = measure_overhead();
  return overhead;
}

}  // namespace corolane
