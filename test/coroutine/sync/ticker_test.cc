// SPDX-License-Identifier: MIT
#include "coroutine/sync/ticker.h"

#include <gtest/gtest.h>

#include <chrono>

#include "coroutine/task.h"
#include "coroutine/testing/matchers.h"
#include "coroutine/virtual_time.h"

namespace corolane::coroutine {
namespace {

using namespace std::chrono_literals;
using test::fails_with;

TEST(TickerTest, TicksAreOneIntervalApart) {
  const TimePoint start = now();
  Ticker ticker(50ms);
  for (int number = 1; number <= 3; ++number) {
    const auto tick = ticker.next(Deadline::never());
    ASSERT_TRUE(tick);
    EXPECT_EQ(tick->due, start + number * 50ms);
    EXPECT_EQ(tick->missed_count, 0u);
    EXPECT_EQ(now(), tick->due);
  }
}

TEST(TickerTest, TimeSpentBetweenTicksDoesNotShiftThem) {
  const TimePoint start = now();
  Ticker ticker(50ms);
  for (int number = 1; number <= 10; ++number) {
    ASSERT_TRUE(ticker.next(Deadline::never()));
    EXPECT_EQ(now(), start + number * 50ms);
    EXPECT_TRUE(sleep_for(number * 4ms));
  }
}

TEST(TickerTest, MissedTicksAreSkippedAndCounted) {
  const TimePoint start = now();
  Ticker ticker(50ms);
  EXPECT_TRUE(sleep_for(170ms));
  auto tick = ticker.next(Deadline::never());
  ASSERT_TRUE(tick);
  EXPECT_EQ(tick->due, start + 150ms);
  EXPECT_EQ(tick->missed_count, 2u);
  EXPECT_EQ(now(), start + 170ms);
  tick = ticker.next(Deadline::never());
  ASSERT_TRUE(tick);
  EXPECT_EQ(tick->due, start + 200ms);
  EXPECT_EQ(tick->missed_count, 0u);
  EXPECT_EQ(now(), start + 200ms);
}

TEST(TickerTest, ATaskThatIsAlwaysLateStillLetsOthersRun) {
  Ticker ticker(1ms, now() - 1h);
  bool has_run = false;
  auto other = spawn("other", [&] { has_run = true; });
  ASSERT_TRUE(ticker.next(Deadline::never()));
  EXPECT_TRUE(has_run);
}

TEST(TickerTest, ADeadlineBeforeTheTickLeavesItToCome) {
  const TimePoint start = now();
  Ticker ticker(50ms);
  EXPECT_THAT(ticker.next(Deadline::after(20ms)), fails_with(Code::deadline_exceeded));
  EXPECT_EQ(now(), start + 20ms);
  const auto tick = ticker.next(Deadline::after(30ms));
  ASSERT_TRUE(tick);
  EXPECT_EQ(tick->due, start + 50ms);
}

TEST(TickerTest, CancellationEndsTheLoopWhetherOrNotATickIsDue) {
  for (const Duration delay : {Duration(0ms), Duration(1h)}) {
    auto ticking = spawn("ticking", [&]() -> Result<void> {
      Ticker ticker(1ms, now() + delay - 1ms);
      for (;;) {
        if (auto tick = ticker.next(Deadline::never()); !tick) return tick.error();
      }
    });
    EXPECT_TRUE(sleep_for(10ms));
    ticking.cancel();
    EXPECT_THAT(ticking.join(Deadline::never()), fails_with(Code::cancelled));
  }
}

}  // namespace
}  // namespace corolane::coroutine
