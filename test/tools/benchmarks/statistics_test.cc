// SPDX-License-Identifier: MIT
// Medians of short series.
#include "tools/benchmarks/statistics.h"

#include <gtest/gtest.h>

namespace corolane::bench {
namespace {

TEST(StatisticsTest, TheMedianOfAnOddNumberOfValuesIsTheMiddleOne) {
  EXPECT_EQ(median_of({9}), 9);
  EXPECT_EQ(median_of({3, 1, 2}), 2);
}

TEST(StatisticsTest, TheMedianOfAnEvenNumberOfValuesLiesBetweenTheMiddleTwo) {
  EXPECT_EQ(median_of({4, 1, 3, 2}), 2.5);
}

TEST(StatisticsTest, OneWildValueDoesNotMoveTheMedian) {
  EXPECT_EQ(median_of({1, 2, 3, 4, 1e9}), 3);
  EXPECT_EQ(mad_of({1, 2, 3, 4, 1e9}), 1);
}

TEST(StatisticsTest, ValuesThatAgreeHaveNoDeviation) { EXPECT_EQ(mad_of({7, 7, 7}), 0); }

TEST(StatisticsTest, AnEmptySeriesHasNoMedian) {
  EXPECT_DEATH(median_of({}), "only a series that has values has a median");
}

}  // namespace
}  // namespace corolane::bench
