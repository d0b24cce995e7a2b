// SPDX-License-Identifier: MIT
// The times at which a failed process is restarted.
#include "tools/corolane/run/back_off.h"

#include <gtest/gtest.h>

namespace corolane::tools::cli::run {
namespace {

using namespace std::chrono_literals;

constexpr BackOff::Options options = {
    .delay_min = 200ms, .delay_max = 1s, .failure_count_max = 6, .window = 1min};

TEST(BackOffTest, DelaysDoubleUpToTheirMaximumAndComeFromTheUpperHalf) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    BackOff back_off(options, seed);
    for (const Duration limit : {200ms, 400ms, 800ms, 1000ms, 1000ms}) {
      const auto delay = back_off.failed(TimePoint{});
      ASSERT_TRUE(delay) << "seed " << seed;
      EXPECT_LE(*delay, limit) << "seed " << seed;
      EXPECT_GE(*delay, limit / 2) << "seed " << seed;
    }
  }
}

TEST(BackOffTest, DelaysDifferFromOneAnother) {
  EXPECT_NE(BackOff(options, 1).failed(TimePoint{}), BackOff(options, 2).failed(TimePoint{}));
}

TEST(BackOffTest, TooManyFailuresWithinTheWindowEndTheRestarts) {
  BackOff back_off(options, 1);
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(back_off.failed(TimePoint{} + i * 10s));

  EXPECT_FALSE(back_off.failed(TimePoint{} + 59s));
}

TEST(BackOffTest, FailuresOutsideOfTheWindowAreForgotten) {
  BackOff back_off(options, 1);
  for (int i = 0; i < 100; ++i) {
    const auto delay = back_off.failed(TimePoint{} + i * 1min);
    ASSERT_TRUE(delay);
    EXPECT_LE(*delay, 200ms);
    EXPECT_EQ(back_off.failure_count(), 1u);
  }
}

}  // namespace
}  // namespace corolane::tools::cli::run
