// SPDX-License-Identifier: MIT
// The conditions under which a bar holds.
#include "tools/benchmarks/result.h"

#include <gtest/gtest.h>

namespace corolane::bench {
namespace {

RowResult with(Bar bar, Series ratios) {
  RowResult result;
  result.info.bar = bar;
  result.ratios = std::move(ratios);
  return result;
}

TEST(ResultTest, ABarAppliesToTheMedianRatio) {
  const Bar bar{.bound = Bound::at_most, .ratio = 0.8};
  EXPECT_EQ(verdict_of(with(bar, {0.7, 0.8, 5})), Verdict::holds);
  EXPECT_EQ(verdict_of(with(bar, {0.1, 0.81, 0.9})), Verdict::missed);
}

TEST(ResultTest, ABarMayBeALowerBound) {
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

RowResult beside_tonic(Bound bound, Series ours, Series tonic) {
  RowResult result = with({.bound = bound, .peers = {{"tonic", 10}}}, {1});
  result.ours = std::move(ours);
  result.peers = {{"tonic", std::move(tonic)}};
  return result;
}

TEST(ResultTest, ABarAgainstAPeerAppliesToTheMedianOverTheRounds) {
  const RowResult holds = beside_tonic(Bound::at_most, {1, 2, 4}, {10, 10, 40});
  EXPECT_EQ(comparisons_of(holds).at(0).times_better, 10);
  EXPECT_EQ(verdict_of(holds), Verdict::holds);
  EXPECT_EQ(verdict_of(beside_tonic(Bound::at_most, {1}, {9})), Verdict::missed);
}

TEST(ResultTest, ABarAgainstAPeerIsReversedWhereMoreIsBetter) {
  EXPECT_EQ(verdict_of(beside_tonic(Bound::at_least, {100}, {10})), Verdict::holds);
  EXPECT_EQ(verdict_of(beside_tonic(Bound::at_least, {10}, {100})), Verdict::missed);
}

TEST(ResultTest, AnAbsentPeerMissesNoBar) {
  RowResult result = beside_tonic(Bound::at_most, {1}, {9});
  result.peers.clear();
  EXPECT_EQ(verdict_of(result), Verdict::no_bar);
  result.info.bar.ratio = 2;
  EXPECT_EQ(verdict_of(result), Verdict::holds);
}

TEST(ResultTest, ALatencyAboveItsBarMissesIt) {
  RowResult result = with({.ratio = 2, .p99_us_max = 2'000}, {1});
  result.traffic = {{"limit", {.p99_us = 9'000}}, {"ours", {.p99_us = 2'000}}};
  EXPECT_EQ(verdict_of(result), Verdict::holds);
  result.traffic[1].second.p99_us = 2'001;
  EXPECT_EQ(verdict_of(result), Verdict::missed);
  result.traffic.pop_back();
  EXPECT_EQ(verdict_of(result), Verdict::missed);
}

TEST(ResultTest, ARowMayHaveNoBar) { EXPECT_EQ(verdict_of(with({}, {1})), Verdict::no_bar); }

TEST(ResultTest, NoBarHoldsWithoutAValue) {
  EXPECT_EQ(verdict_of(with({}, {})), Verdict::not_measured);
  EXPECT_EQ(verdict_of(with({.ratio = 0.8}, {})), Verdict::not_measured);
}

}  // namespace
}  // namespace corolane::bench
