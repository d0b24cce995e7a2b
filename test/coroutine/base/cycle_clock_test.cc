// SPDX-License-Identifier: MIT
#include "coroutine/base/cycle_clock.h"

#include <gtest/gtest.h>

namespace corolane {
namespace {

TEST(CycleClockTest, TheCounterNeverFalls) {
  std::uint64_t last = cycle_count();
  for (int reading = 0; reading < 10'000; ++reading) {
    const std::uint64_t present = cycle_count();
    ASSERT_GE(present, last);
    last = present;
  }
}

// The range is from a counter of 10 MHz to a processor of 10 GHz.
TEST(CycleClockTest, IsCalibratedOnceToAPlausibleFrequency) {
  EXPECT_GT(cycles_per_ns(), 0.01);
  EXPECT_LT(cycles_per_ns(), 10.0);
  EXPECT_EQ(cycles_per_ns(), cycles_per_ns());
}

TEST(CycleClockTest, TwoReadingsCostLessThanAMicrosecond) {
  EXPECT_LT(cycle_count_overhead() / cycles_per_ns(), 1000.0);
}

}  // namespace
}  // namespace corolane
