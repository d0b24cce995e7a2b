// SPDX-License-Identifier: MIT
#include "framework/cluster/detail/rejoin_pause.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <set>

#include "coroutine/task.h"

namespace corolane::framework::detail {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::Ge;
using testing::Le;

TEST(RejoinPauseTest, TheFirstFenceCostsNoPauseAndTheNextOnesTwiceAsMuchEach) {
  RejoinPause pause({.random_seed = 1});
  EXPECT_EQ(pause.after_fence(), 0s);
  for (const Duration longest : {1s, 2s, 4s, 8s, 16s, 32s, 60s, 60s, 60s}) {
    ASSERT_TRUE(coroutine::sleep_for(60s));
    EXPECT_THAT(pause.after_fence(), AllOf(Ge(longest / 2), Le(longest)));
  }
  EXPECT_EQ(pause.fence_count(), 10U);
}

TEST(RejoinPauseTest, AFenceAfterACalmTimeIsAFirstOne) {
  RejoinPause pause({.calm_time = 5min, .random_seed = 1});
  for (int i = 0; i < 5; ++i) pause.after_fence();
  ASSERT_TRUE(coroutine::sleep_for(5min - 1ms));
  EXPECT_GE(pause.after_fence(), 8s);
  ASSERT_TRUE(coroutine::sleep_for(5min));
  EXPECT_EQ(pause.after_fence(), 0s);
  EXPECT_EQ(pause.fence_count(), 1U);
}

TEST(RejoinPauseTest, NodesThatAreFencedTogetherComeBackOneByOne) {
  std::set<Duration> pauses;
  for (int i = 0; i < 20; ++i) {
    RejoinPause pause({});
    pause.after_fence();
    pauses.insert(pause.after_fence());
  }
  EXPECT_EQ(pauses.size(), 20U);
}

TEST(RejoinPauseTest, APauseNeverOverflows) {
  RejoinPause pause({});
  for (int i = 0; i < 200; ++i) EXPECT_LE(pause.after_fence(), 60s);
}

}  // namespace
}  // namespace corolane::framework::detail
