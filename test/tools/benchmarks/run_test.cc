// SPDX-License-Identifier: MIT
// Rounds with contestants that return at once.
#include "tools/benchmarks/run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace corolane::bench {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

Measure gives(double value) {
  return [value]() -> Result<Measurement> {
    return Measurement{.value = value, .allocations_per_op = 3};
  };
}

Measure fails() {
  return []() -> Result<Measurement> { return Error(Code::unimplemented, "as it should"); };
}

TEST(RunTest, EveryContestantRunsOnceInEachRound) {
  const RowResult result = run_row(
      {.info = {.name = "row"}, .ours = gives(5), .limit = gives(10), .peers = {{"go", gives(40)}}},
      3);
  EXPECT_THAT(result.ours, ElementsAre(5, 5, 5));
  EXPECT_THAT(result.limit, ElementsAre(10, 10, 10));
  EXPECT_THAT(result.ratios, ElementsAre(0.5, 0.5, 0.5));
  EXPECT_THAT(result.peers, ElementsAre(Pair("go", ElementsAre(40, 40, 40))));
  EXPECT_EQ(result.allocations_per_op, 3);
}

TEST(RunTest, TrafficIsTheMedianOfItsRounds) {
  const Measure served = []() -> Result<Measurement> {
    return Measurement{.value = 1,
                       .traffic = Traffic{.ops_per_second = 7, .p50_us = 2, .p99_us = 3}};
  };
  const RowResult result = run_row(
      {.info = {.name = "row"}, .ours = served, .limit = gives(1), .peers = {{"go", served}}}, 3);
  const Traffic traffic{.ops_per_second = 7, .p50_us = 2, .p99_us = 3};
  EXPECT_THAT(result.traffic, ElementsAre(Pair("ours", traffic), Pair("go", traffic)));
}

TEST(RunTest, APeerThatFailsIsLeftOut) {
  const RowResult result = run_row({.info = {.name = "row"},
                                    .ours = gives(5),
                                    .limit = gives(10),
                                    .peers = {{"go", fails()}, {"tokio", gives(20)}}},
                                   2);
  EXPECT_THAT(result.peers, ElementsAre(Pair("tokio", ElementsAre(20, 20))));
}

TEST(RunTest, WithoutALimitThereIsNoRatio) {
  const RowResult result =
      run_row({.info = {.name = "row"}, .ours = gives(5), .limit = fails()}, 2);
  EXPECT_THAT(result.ours, ElementsAre(5, 5));
  EXPECT_THAT(result.ratios, IsEmpty());
  EXPECT_EQ(verdict_of(result), Verdict::not_measured);
}

TEST(RunTest, ACostlyRowRunsOnce) {
  const RowResult result =
      run_row({.info = {.name = "row"}, .ours = gives(5), .limit = gives(10), .costly = true}, 5);
  EXPECT_THAT(result.ratios, ElementsAre(0.5));
}

}  // namespace
}  // namespace corolane::bench
