// SPDX-License-Identifier: MIT
#include "coroutine/detail/short_intervals.h"

#include <gtest/gtest.h>

#include <cmath>

#include "coroutine/testing/random.h"

namespace corolane::coroutine::detail {
namespace {

TEST(ShortIntervalsTest, AFineCounterRecordsEachInterval) {
  ShortIntervals intervals(/*cycles_per_ns=*/3, /*overhead_cycles=*/30);
  Histogram nanoseconds;
  intervals.add(60, nanoseconds);
  intervals.add(10, nanoseconds);  // The measuring has become faster.
  EXPECT_EQ(nanoseconds.count(), 2u);
  EXPECT_EQ(nanoseconds.max(), 10u);
  EXPECT_EQ(nanoseconds.quantile(0), 0u);
}

// A counter of 25 MHz, which shows intervals of 12 ns, of which 2 are the measuring.
TEST(ShortIntervalsTest, ACoarseCounterRecordsTheMeanOfManyIntervals) {
  constexpr double tick_ns = 40;
  ShortIntervals intervals(1 / tick_ns, 2 / tick_ns);
  EXPECT_EQ(intervals.batch_count(), 400u);
  test::Random random;
  Histogram nanoseconds;
  for (std::uint64_t number = 0; number < 100 * intervals.batch_count(); ++number) {
    const double begin_ns = static_cast<double>(random.below(40'000)) / 1'000;
    const double ticks = std::floor((begin_ns + 12) / tick_ns) - std::floor(begin_ns / tick_ns);
    intervals.add(static_cast<std::uint64_t>(ticks), nanoseconds);
  }
  EXPECT_EQ(nanoseconds.count(), 100u);
  EXPECT_GE(nanoseconds.quantile(0), 4u);
  EXPECT_LE(nanoseconds.max(), 16u);
  EXPECT_NEAR(nanoseconds.mean(), 9.5, 0.5);
}

}  // namespace
}  // namespace corolane::coroutine::detail
