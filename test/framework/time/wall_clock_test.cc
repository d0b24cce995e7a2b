// SPDX-License-Identifier: MIT
#include "framework/time/wall_clock.h"

#include <gtest/gtest.h>

#include <chrono>

#include "coroutine/task.h"
#include "test/framework/time/wall_times.h"

namespace corolane::framework {
namespace {

using namespace std::chrono_literals;
using test::utc;

TEST(WallClockTest, AdvancesWithVirtualTime) {
  const WallClock clock(utc("2026-03-29 01:00"));
  EXPECT_EQ(clock.now(), utc("2026-03-29 01:00"));
  ASSERT_TRUE(coroutine::sleep_for(90min));
  EXPECT_EQ(clock.now(), utc("2026-03-29 02:30"));
}

TEST(WallClockTest, IsTheSystemClockByDefault) {
  const auto before = std::chrono::system_clock::now();
  const WallTime time = WallClock().now();
  EXPECT_GE(time, before - 1ms);
  EXPECT_LE(time, std::chrono::system_clock::now());
}

TEST(WallClockTest, AStepEndsExactlyAtTheTimeOrAfterAMinute) {
  const WallClock clock(utc("2026-03-29 01:00"));
  EXPECT_EQ(clock.step_towards(utc("2026-03-29 01:00:30")), 30s);
  EXPECT_EQ(clock.step_towards(utc("2026-03-29 01:01")), 1min);
  EXPECT_EQ(clock.step_towards(utc("2026-03-29 01:01:01")), 1min);
  EXPECT_EQ(clock.step_towards(WallTime::max()), 1min);
  EXPECT_EQ(clock.step_towards(utc("2026-03-29 01:00")), 0s);
  EXPECT_EQ(clock.step_towards(WallTime::min()), 0s);
  ASSERT_TRUE(coroutine::sleep_for(300us));
  EXPECT_EQ(clock.step_towards(clock.now() + 1ms), 700us);
}

}  // namespace
}  // namespace corolane::framework
