// SPDX-License-Identifier: MIT
#include "coroutine/base/histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "coroutine/testing/random.h"

namespace corolane {
namespace {

constexpr std::uint64_t largest_exact_value = std::uint64_t{1} << 40;

// Every order of magnitude is equally likely.
std::vector<std::uint64_t> random_values(test::Random& random, std::size_t count) {
  std::vector<std::uint64_t> values(count);
  for (std::uint64_t& value : values)
    value = random.below((largest_exact_value >> random.below(41)) + 1);
  return values;
}

TEST(HistogramTest, IsZeroThroughoutWhenEmpty) {
  const Histogram histogram;
  EXPECT_EQ(histogram.count(), 0u);
  EXPECT_EQ(histogram.max(), 0u);
  EXPECT_EQ(histogram.mean(), 0.0);
  EXPECT_EQ(histogram.quantile(0.5), 0u);
  EXPECT_EQ(histogram.count_up_to(1000), 0u);
}

TEST(HistogramTest, SmallValuesAreExact) {
  Histogram histogram;
  for (std::uint64_t value = 0; value <= 31; ++value) histogram.record(value);
  EXPECT_EQ(histogram.quantile(0), 0u);
  EXPECT_EQ(histogram.quantile(0.5), 15u);
  EXPECT_EQ(histogram.quantile(1), 31u);
  for (std::uint64_t value = 0; value <= 31; ++value) {
    EXPECT_EQ(histogram.count_up_to(value), value + 1);
  }
}

TEST(HistogramTest, CountSumMeanAndMaxAreExact) {
  Histogram histogram;
  for (const std::uint64_t value : {1'000'003ull, 5ull, 123'456'789ull}) histogram.record(value);
  EXPECT_EQ(histogram.count(), 3u);
  EXPECT_EQ(histogram.sum(), 124'456'797u);
  EXPECT_EQ(histogram.mean(), 41'485'599.0);
  EXPECT_EQ(histogram.max(), 123'456'789u);
}

TEST(HistogramTest, QuantilesAreRightWithinASixteenth) {
  test::Random random;
  Histogram histogram;
  auto values = random_values(random, 10'000);
  for (const std::uint64_t value : values) histogram.record(value);
  std::ranges::sort(values);
  for (std::size_t rank = 1; rank <= values.size(); rank += 37) {
    const std::uint64_t exact = values[rank - 1];
    // Halfway between two ranks, so that rounding cannot choose the neighbour.
    const double q = (static_cast<double>(rank) - 0.5) / static_cast<double>(values.size());
    ASSERT_GE(histogram.quantile(q), exact);
    ASSERT_LE(histogram.quantile(q), exact + exact / 16);
  }
}

TEST(HistogramTest, CountsUpToABoundAreRightWithinASixteenthOfIt) {
  test::Random random;
  Histogram histogram;
  auto values = random_values(random, 10'000);
  for (const std::uint64_t value : values) histogram.record(value);
  std::ranges::sort(values);
  const auto exact_up_to = [&](std::uint64_t bound) {
    return static_cast<std::uint64_t>(std::ranges::upper_bound(values, bound) - values.begin());
  };
  for (const std::uint64_t bound : random_values(random, 500)) {
    ASSERT_LE(histogram.count_up_to(bound), exact_up_to(bound));
    ASSERT_GE(histogram.count_up_to(bound), exact_up_to(bound - bound / 16 - (bound > 0 ? 1 : 0)));
  }
  EXPECT_EQ(histogram.count_up_to(values.back()), values.size());
}

TEST(HistogramTest, AnAddedHistogramCountsAsIfRecordedHere) {
  test::Random random;
  Histogram left;
  Histogram right;
  Histogram both;
  for (const std::uint64_t value : random_values(random, 1'000)) {
    (value % 2 == 0 ? left : right).record(value);
    both.record(value);
  }
  left.add(right);
  left.add(Histogram());
  EXPECT_EQ(left.count(), both.count());
  EXPECT_EQ(left.sum(), both.sum());
  EXPECT_EQ(left.max(), both.max());
  for (const double q : {0.0, 0.1, 0.5, 0.9, 1.0}) EXPECT_EQ(left.quantile(q), both.quantile(q));
}

TEST(HistogramTest, ValuesBeyondTheLastBucketAreCountedInIt) {
  Histogram histogram;
  histogram.record(~std::uint64_t{0});
  EXPECT_EQ(histogram.count(), 1u);
  EXPECT_EQ(histogram.max(), ~std::uint64_t{0});
  EXPECT_GE(histogram.quantile(0.5), largest_exact_value);
}

}  // namespace
}  // namespace corolane
