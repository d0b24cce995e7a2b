// SPDX-License-Identifier: MIT
#include "coroutine/sync/latch.h"

#include <gtest/gtest.h>

#include <chrono>

#include "coroutine/scheduler.h"
#include "coroutine/task_group.h"
#include "coroutine/testing/matchers.h"

namespace corolane::coroutine {
namespace {

using namespace std::chrono_literals;
using test::fails_with;

TEST(LatchTest, OpensWhenAllHaveArrived) {
  Latch latch(3);
  TaskGroup group;
  const TimePoint start = now();
  for (int number = 1; number <= 3; ++number) {
    EXPECT_TRUE(group.spawn("arriving", [&, number]() -> Result<void> {
      EXPECT_TRUE(sleep_for(number * 1s));
      auto waited = latch.arrive_and_wait(Deadline::never());
      EXPECT_EQ(now() - start, 3s);
      return waited;
    }));
  }
  EXPECT_FALSE(latch.try_wait());
  EXPECT_TRUE(latch.wait(Deadline::never()));
  EXPECT_EQ(now() - start, 3s);
  EXPECT_TRUE(group.join(Deadline::never()));
}

TEST(LatchTest, AnOpenLatchIsNotWaitedFor) {
  Latch latch(0);
  EXPECT_TRUE(latch.try_wait());
  EXPECT_TRUE(latch.wait(Deadline::passed()));
}

TEST(LatchTest, AWaitFailsOnItsDeadlineOrWhenCancelled) {
  Latch latch(2);
  const TimePoint start = now();
  EXPECT_THAT(latch.arrive_and_wait(Deadline::after(1s)), fails_with(Code::deadline_exceeded));
  EXPECT_EQ(now() - start, 1s);
  auto waiter = spawn("waiter", [&] { return latch.wait(Deadline::never()); });
  EXPECT_TRUE(yield());
  waiter.cancel();
  EXPECT_THAT(waiter.join(Deadline::never()), fails_with(Code::cancelled));
  latch.count_down();
  EXPECT_TRUE(latch.try_wait()) << "a task that gave up has arrived nevertheless";
}

TEST(LatchTest, TheLoopMayCountDown) {
  Latch latch(1);
  Scheduler::current().post([&] { latch.count_down(); });
  EXPECT_TRUE(latch.wait(Deadline::never()));
}

TEST(LatchDeathTest, CountingBelowZeroAborts) {
  Latch latch(1);
  EXPECT_DEATH(latch.count_down(2), "a latch counts down to zero and no further");
}

}  // namespace
}  // namespace corolane::coroutine
