// SPDX-License-Identifier: MIT
#include "framework/cluster/detail/doubts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "coroutine/task.h"

namespace corolane::framework::detail {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

const Doubts::Place place = {{}, 7};
constexpr Doubts::Known known = {.revision = 5, .is_there = true};
constexpr Doubts::Known news = {.revision = 6, .is_there = true};

class DoubtsTest : public testing::Test {
 protected:
  // Raises the doubt again and again; returns the time until it is due.
  Duration time_until_due() {
    const TimePoint start = now();
    doubts_.raise(place, known);
    while (doubts_.take_due(60).empty()) {
      doubts_.raise(place, known);
      EXPECT_TRUE(coroutine::sleep_for(1ms));
    }
    return now() - start;
  }

  Doubts doubts_{{.pause_min = 250ms, .pause_max = 2s, .random_seed = 1}};
};

TEST_F(DoubtsTest, TheFirstReadIsDueAtOnce) {
  EXPECT_EQ(doubts_.next_due(), TimePoint::max());
  doubts_.raise(place, known);
  EXPECT_LE(doubts_.next_due(), now());
  EXPECT_THAT(doubts_.take_due(60), ElementsAre(place));
  EXPECT_THAT(doubts_.take_due(60), IsEmpty());
}

TEST_F(DoubtsTest, WithoutNewsTheNextReadsComeLaterAndLater) {
  EXPECT_EQ(time_until_due(), 0ms);
  for (const Duration pause : {250ms, 500ms, 1'000ms, 2'000ms, 2'000ms}) {
    doubts_.settle(place, known);
    const Duration waited = time_until_due();
    EXPECT_GE(waited, pause * 3 / 4);
    EXPECT_LE(waited, pause + 1ms);
  }
}

TEST_F(DoubtsTest, NewsEndTheDoubtAndTheNextOneBeginsAnew) {
  EXPECT_EQ(time_until_due(), 0ms);
  doubts_.raise(place, known);
  doubts_.settle(place, news);
  EXPECT_THAT(doubts_.take_due(60), IsEmpty()) << "it is answered";
  doubts_.raise(place, news);
  EXPECT_THAT(doubts_.take_due(60), ElementsAre(place));
}

TEST_F(DoubtsTest, ADoubtAboutAnotherOwnerDoesNotWait) {
  EXPECT_EQ(time_until_due(), 0ms);
  doubts_.settle(place, known);
  doubts_.raise(place, known);
  EXPECT_THAT(doubts_.take_due(60), IsEmpty());
  doubts_.raise(place, news);
  EXPECT_THAT(doubts_.take_due(60), ElementsAre(place));
}

TEST_F(DoubtsTest, AQuietWhileLaterItBeginsAnew) {
  for (int i = 0; i < 5; ++i) {
    time_until_due();
    doubts_.settle(place, known);
  }
  ASSERT_TRUE(coroutine::sleep_for(5s));
  EXPECT_EQ(time_until_due(), 0ms);
}

TEST_F(DoubtsTest, OneReadTakesPartitionsOfOnePlacement) {
  for (Partition partition = 0; partition < 70; ++partition) {
    doubts_.raise({{}, partition}, known);
    doubts_.raise({{.role = "room"}, partition}, known);
  }
  for (const std::size_t count : {60, 10, 60, 10}) {
    const auto due = doubts_.take_due(60);
    EXPECT_THAT(due, SizeIs(count));
    for (const auto& each : due) EXPECT_EQ(each.first, due.front().first);
  }
}

}  // namespace
}  // namespace corolane::framework::detail
