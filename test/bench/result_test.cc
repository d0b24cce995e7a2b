// When a bar holds.
#include "test/bench/result.h"

#include <gtest/gtest.h>

namespace corolane::bench {
namespace {

RowResult with(Bar bar, Series ratios) {
  RowResult result;
  result.info.bar = bar;
  result.ratios = std::move(ratios);
  return result;
}

TEST(ResultTest, ABarHoldsOfTheMedianRatio) {
  const Bar bar{.bound = Bound::at_most, .ratio = 0.8};
  EXPECT_EQ(verdict_of(with(bar, {0.7, 0.8, 5})), Verdict::holds);
  EXPECT_EQ(verdict_of(with(bar, {0.1, 0.81, 0.9})), Verdict::missed);
}

TEST(ResultTest, ABarMayBeALeastValue) {
  const Bar bar{.bound = Bound::at_least, .ratio = 1};
  EXPECT_EQ(verdict_of(with(bar, {1})), Verdict::holds);
  EXPECT_EQ(verdict_of(with(bar, {0.99})), Verdict::missed);
}

TEST(ResultTest, AnAllocationMissesABarThatForbidsThem) {
  RowResult result = with({.bound = Bound::at_most, .ratio = 3, .no_allocations = true}, {1});
  EXPECT_EQ(verdict_of(result), Verdict::holds);
  result.allocations_per_op = 0.001;
  EXPECT_EQ(verdict_of(result), Verdict::missed);
}

TEST(ResultTest, ARowMayHaveNoBar) { EXPECT_EQ(verdict_of(with({}, {1})), Verdict::no_bar); }

TEST(ResultTest, WithoutAValueNothingHolds) {
  EXPECT_EQ(verdict_of(with({}, {})), Verdict::not_measured);
  EXPECT_EQ(verdict_of(with({.ratio = 0.8}, {})), Verdict::not_measured);
}

}  // namespace
}  // namespace corolane::bench
