// SPDX-License-Identifier: MIT
// The history of figures: what it keeps, how it folds, and how much memory it takes.
#include "framework/telemetry/history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace corolane::framework {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsNan;

constexpr std::size_t no_limit = 1'000'000;

std::vector<History::Series> one_rate() { return {{.name = "calls", .unit = "1/s"}}; }

std::vector<History::Series> one_latency() {
  return {{.name = "p99", .unit = "s", .fold = History::Fold::max}};
}

std::vector<float> read(const History& history, std::chrono::seconds time, std::size_t series = 0,
                        std::size_t count_max = no_limit) {
  const History::View view = history.view(time, count_max);
  std::vector<float> samples(view.count);
  history.read(series, view, samples);
  return samples;
}

// A series that has the second itself as its sample.
void count_to(History& history, std::int64_t from, std::int64_t to) {
  for (std::int64_t second = from; second <= to; ++second) {
    history.add(second, std::vector<float>(history.series().size(), static_cast<float>(second)));
  }
}

TEST(HistoryTest, ANewOneIsEmpty) {
  const History history(one_rate());
  EXPECT_EQ(history.view(10s, no_limit).count, 0U);
  EXPECT_EQ(history.view(1h, no_limit).count, 0U);
}

TEST(HistoryTest, TheLastSecondsAreReadInTheirOrder) {
  History history(one_rate());
  count_to(history, 7, 12);
  EXPECT_THAT(read(history, 3s), ElementsAre(10, 11, 12));
  EXPECT_EQ(history.view(3s, no_limit).first, 10);
  EXPECT_THAT(read(history, 10min), ElementsAre(7, 8, 9, 10, 11, 12));
}

TEST(HistoryTest, SecondsThatWereLeftOutAreGaps) {
  History history(one_rate());
  history.add(1, std::array{1.0F});
  history.add(4, std::array{History::gap});
  history.add(5, std::array{5.0F});
  EXPECT_THAT(read(history, 10s), ElementsAre(1.0F, IsNan(), IsNan(), IsNan(), 5.0F));
}

TEST(HistoryTest, TenMinutesAreKeptByTheSecond) {
  History history(one_rate());
  count_to(history, 0, 5'000);
  const auto samples = read(history, 10min);
  ASSERT_EQ(samples.size(), History::second_count);
  EXPECT_EQ(samples.front(), 4'401.0F);
  EXPECT_EQ(samples.back(), 5'000.0F);
}

TEST(HistoryTest, AMinuteIsTheMeanOfARateAndTheWorstOfALatency) {
  History history({one_rate().front(), one_latency().front()});
  count_to(history, 60, 60 + 2 * 60 + 9);
  EXPECT_THAT(read(history, 1h, 0), ElementsAre(89.5F, 149.5F, 184.5F));
  EXPECT_THAT(read(history, 1h, 1), ElementsAre(119, 179, 189));
  EXPECT_EQ(history.view(1h, no_limit).first, 60);
}

TEST(HistoryTest, AMinuteWithoutSamplesIsAGap) {
  History history(one_rate());
  count_to(history, 0, 59);
  history.add(125, std::array{3.0F});
  EXPECT_THAT(read(history, 1h), ElementsAre(29.5F, IsNan(), 3.0F));
}

TEST(HistoryTest, ALongTimeIsThinnedToTheLimit) {
  History history(one_latency());
  count_to(history, 0, 10 * 60 - 1);
  const History::View view = history.view(11min, 4);
  EXPECT_EQ(view.step, 180);
  EXPECT_THAT(read(history, 11min, 0, 4), ElementsAre(179, 359, 539, 599));
}

TEST(HistoryTest, AYoungHistoryIsNotThinned) {
  History history(one_rate());
  count_to(history, 0, 10 * 60 - 1);
  EXPECT_EQ(history.view(48h, 720).step, 60);
  EXPECT_EQ(read(history, 48h, 0, 720).size(), 10U);
}

TEST(HistoryTest, TwoDaysAreKeptByTheMinuteAndNoMore) {
  History history(one_latency());
  count_to(history, 0, 50 * 60 * 60 - 1);
  const auto samples = read(history, 48h);
  ASSERT_EQ(samples.size(), History::minute_count);
  EXPECT_EQ(samples.front(), static_cast<float>(2 * 60 * 60 + 59));
  EXPECT_EQ(read(history, 480h).size(), History::minute_count);
}

TEST(HistoryTest, MoreThanTwoDaysWithoutSamplesLeaveNothingOld) {
  History history(one_rate());
  count_to(history, 0, 300);
  history.add(1'000'000, std::array{1.0F});
  for (const float sample : read(history, 48h)) {
    EXPECT_TRUE(std::isnan(sample) || sample == 1.0F) << sample;
  }
}

TEST(HistoryTest, MemoryIsBoundedHoweverManySeriesAreAskedFor) {
  std::vector<History::Series> many;
  for (int i = 0; i < 1'000; ++i) many.push_back({.name = std::to_string(i), .unit = ""});
  History history(many);
  EXPECT_EQ(history.series().size(), History::series_count_max);
  const std::size_t taken = history.memory_bytes();
  EXPECT_LE(taken, 1'800'000U);
  count_to(history, 0, 10'000);
  EXPECT_EQ(history.memory_bytes(), taken);
}

}  // namespace
}  // namespace corolane::framework
