// SPDX-License-Identifier: MIT
#include "coroutine/virtual_time.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "coroutine/scheduler.h"
#include "coroutine/task.h"
#include "coroutine/testing/virtual_time.h"

namespace corolane::coroutine {
namespace {

using namespace std::chrono_literals;

TEST(VirtualTimeTest, AYearOfSleepEndsOnTheNanosecond) {
  const TimePoint start = now();
  const auto real_start = std::chrono::steady_clock::now();
  EXPECT_TRUE(sleep_for(24h * 365));
  EXPECT_EQ(now(), start + 24h * 365);
  EXPECT_LT(std::chrono::steady_clock::now() - real_start, 1h);
}

TEST(VirtualTimeTest, TimeStandsStillWhileATaskRuns) {
  const TimePoint start = now();
  for (int turn = 0; turn < 1000; ++turn) EXPECT_TRUE(yield());
  EXPECT_EQ(now(), start);
}

TEST(VirtualTimeTest, PollingDoesNotAdvanceTime) {
  VirtualTime time;
  const TimePoint start = time.now();
  EXPECT_TRUE(time.wait(Deadline::passed()));
  EXPECT_TRUE(time.wait(Deadline::at(start)));
  EXPECT_EQ(time.now(), start);
}

TEST(VirtualTimeTest, AWaitForNothingFails) {
  VirtualTime time;
  EXPECT_FALSE(time.wait(Deadline::never()));
}

TEST(VirtualTimeTest, AWakeEndsOneWaitBeforeItsDeadline) {
  VirtualTime time;
  time.wake();
  time.wake();
  EXPECT_TRUE(time.wait(Deadline::at(time.now() + 1s)));
  EXPECT_EQ(time.now(), TimePoint());
  EXPECT_TRUE(time.wait(Deadline::at(time.now() + 1s)));
  EXPECT_EQ(time.now(), TimePoint(1s));
}

TEST(VirtualTimeTest, TimeStandsStillWhileAnotherThreadIsAtWork) {
  VirtualTime time;
  const VirtualTime::Outside outside(time);
  std::atomic<bool> worked = false;
  std::jthread worker([&] {
    worked = true;
    time.wake();
  });
  EXPECT_TRUE(time.wait(Deadline::at(time.now() + 1s)));
  EXPECT_TRUE(worked);
  EXPECT_EQ(time.now(), TimePoint());
}

TEST(VirtualTimeTest, WorkPostedByAnotherThreadComesBeforeALaterDeadline) {
  const VirtualTime::Outside outside(test::virtual_time());
  Scheduler& scheduler = Scheduler::current();
  const TimePoint start = now();
  auto sleeper = spawn("sleeper", [] { return sleep_for(1s); });
  std::jthread worker([&] { scheduler.post([&] { sleeper.cancel(); }); });
  EXPECT_FALSE(sleeper.join(Deadline::never()));
  EXPECT_EQ(now(), start);
}

}  // namespace
}  // namespace corolane::coroutine
