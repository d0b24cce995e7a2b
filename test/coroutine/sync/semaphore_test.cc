// SPDX-License-Identifier: MIT
#include "coroutine/sync/semaphore.h"

#include <gtest/gtest.h>

#include <chrono>
#include <vector>

#include "coroutine/scheduler.h"
#include "coroutine/task_group.h"
#include "coroutine/testing/matchers.h"

namespace corolane::coroutine {
namespace {

using namespace std::chrono_literals;
using test::fails_with;

TEST(SemaphoreTest, HandsOutItsCount) {
  Semaphore semaphore(2);
  EXPECT_TRUE(semaphore.try_acquire());
  EXPECT_TRUE(semaphore.acquire(Deadline::passed()));
  EXPECT_FALSE(semaphore.try_acquire());
  EXPECT_EQ(semaphore.count(), 0u);
  semaphore.release(2);
  EXPECT_EQ(semaphore.count(), 2u);
}

TEST(SemaphoreTest, AReleaseGoesToTheLongestWaiter) {
  Semaphore semaphore(0);
  std::vector<int> order;
  TaskGroup group;
  for (int number = 0; number < 5; ++number) {
    EXPECT_TRUE(group.spawn("waiter", [&, number] {
      EXPECT_TRUE(semaphore.acquire(Deadline::never()));
      order.push_back(number);
    }));
  }
  EXPECT_TRUE(yield());
  semaphore.release(3);
  EXPECT_FALSE(semaphore.try_acquire()) << "a latecomer may not snatch a handed-over unit";
  EXPECT_TRUE(sleep_for(1s));
  EXPECT_EQ(order, std::vector({0, 1, 2}));
  semaphore.release(3);
  EXPECT_TRUE(group.join(Deadline::never()));
  EXPECT_EQ(order, std::vector({0, 1, 2, 3, 4}));
  EXPECT_EQ(semaphore.count(), 1u);
}

TEST(SemaphoreTest, AcquireGivesUpExactlyOnItsDeadline) {
  Semaphore semaphore(0, "a connection");
  const TimePoint start = now();
  const auto acquired = semaphore.acquire(Deadline::after(3s));
  EXPECT_THAT(acquired, fails_with(Code::deadline_exceeded));
  EXPECT_NE(acquired.error().message().find("a connection"), std::string::npos);
  EXPECT_FALSE(semaphore.try_acquire_for(2s));
  EXPECT_EQ(now(), start + 5s);
  semaphore.release();
  EXPECT_EQ(semaphore.count(), 1u);
}

TEST(SemaphoreTest, CancellationEndsAWait) {
  Semaphore semaphore(0);
  auto waiting = spawn("waiting", [&] { return semaphore.acquire(Deadline::never()); });
  EXPECT_TRUE(yield());
  waiting.cancel();
  EXPECT_THAT(waiting.join(Deadline::never()), fails_with(Code::cancelled));
  EXPECT_EQ(semaphore.count(), 0u);
}

TEST(SemaphoreTest, APermitGoesBackAtItsEnd) {
  Semaphore semaphore(1);
  {
    const auto permit = semaphore.hold(Deadline::passed());
    ASSERT_TRUE(permit);
    EXPECT_EQ(semaphore.count(), 0u);
    EXPECT_FALSE(semaphore.try_hold());
    EXPECT_THAT(semaphore.hold(Deadline::after(1s)), fails_with(Code::deadline_exceeded));
  }
  EXPECT_EQ(semaphore.count(), 1u);
  EXPECT_TRUE(semaphore.try_hold());
  EXPECT_EQ(semaphore.count(), 1u);
}

TEST(SemaphoreTest, AMovedPermitGoesBackOnce) {
  Semaphore semaphore(2);
  auto first = semaphore.try_hold();
  auto second = semaphore.try_hold();
  ASSERT_TRUE(first && second);
  *first = *std::move(second);
  EXPECT_EQ(semaphore.count(), 1u);
  second.reset();
  EXPECT_EQ(semaphore.count(), 1u);
  first.reset();
  EXPECT_EQ(semaphore.count(), 2u);
}

TEST(SemaphoreTest, APermitOfATaskGoesBackToTheLongestWaiter) {
  Semaphore semaphore(1);
  auto holder = spawn("holder", [permit = semaphore.try_hold()] { EXPECT_TRUE(sleep_for(1s)); });
  const TimePoint start = now();
  EXPECT_TRUE(semaphore.hold(Deadline::never()));
  EXPECT_EQ(now(), start + 1s);
  EXPECT_TRUE(holder.join(Deadline::never()));
}

TEST(SemaphoreTest, TheLoopMayRelease) {
  Semaphore semaphore(0);
  Scheduler::current().post([&] { semaphore.release(); });
  EXPECT_TRUE(semaphore.acquire(Deadline::never()));
}

}  // namespace
}  // namespace corolane::coroutine
