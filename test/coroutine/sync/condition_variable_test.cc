// SPDX-License-Identifier: MIT
#include "coroutine/sync/condition_variable.h"

#include <gtest/gtest.h>

#include <chrono>
#include <mutex>
#include <vector>

#include "coroutine/task_group.h"
#include "coroutine/testing/matchers.h"

namespace corolane::coroutine {
namespace {

using namespace std::chrono_literals;
using test::fails_with;

struct Guarded {
  Mutex mutex;
  ConditionVariable changed;
  int value = 0;
};

TEST(ConditionVariableTest, WaitsUnlockedAndReturnsLocked) {
  Guarded guarded;
  auto waiter = spawn("waiter", [&] {
    std::unique_lock lock(guarded.mutex);
    EXPECT_TRUE(guarded.changed.wait(lock, [&] { return guarded.value == 2; }));
    EXPECT_TRUE(lock.owns_lock());
    EXPECT_FALSE(spawn("rival", [&] { return guarded.mutex.try_lock(); }).join().value());
  });
  for (const int value : {1, 2}) {
    EXPECT_TRUE(sleep_for(1s));
    EXPECT_FALSE(waiter.is_done());
    const std::scoped_lock lock(guarded.mutex);
    guarded.value = value;
    guarded.changed.notify_one();
  }
  EXPECT_TRUE(waiter.join());
}

TEST(ConditionVariableTest, WakesInTheOrderOfArrival) {
  Guarded guarded;
  std::vector<int> order;
  TaskGroup group;
  for (int number = 0; number < 4; ++number) {
    EXPECT_TRUE(group.spawn("waiter", [&, number] {
      std::unique_lock lock(guarded.mutex);
      EXPECT_TRUE(guarded.changed.wait(lock));
      order.push_back(number);
    }));
  }
  EXPECT_TRUE(yield());
  guarded.changed.notify_one();
  EXPECT_TRUE(sleep_for(1s));
  EXPECT_EQ(order, std::vector({0}));
  guarded.changed.notify_all();
  EXPECT_TRUE(group.join());
  EXPECT_EQ(order, std::vector({0, 1, 2, 3}));
}

TEST(ConditionVariableTest, GivesUpOnItsDeadlineWithTheLockHeld) {
  Guarded guarded;
  std::unique_lock lock(guarded.mutex);
  const TimePoint start = now();
  const auto never = [] { return false; };
  EXPECT_THAT(guarded.changed.wait_until(lock, Deadline::after(1s), never),
              fails_with(Code::deadline_exceeded));
  EXPECT_THAT(guarded.changed.wait_until(lock, Deadline::after(1s)),
              fails_with(Code::deadline_exceeded));
  EXPECT_TRUE(lock.owns_lock());
  EXPECT_EQ(now() - start, 2s);
}

TEST(ConditionVariableTest, ACancelledWaitTakesTheLockBackFirst) {
  Guarded guarded;
  const TimePoint start = now();
  auto waiter = spawn("waiter", [&] {
    std::unique_lock lock(guarded.mutex);
    EXPECT_THAT(guarded.changed.wait(lock), fails_with(Code::cancelled));
    EXPECT_TRUE(lock.owns_lock());
    EXPECT_EQ(now() - start, 1s);
    EXPECT_THAT(guarded.changed.wait(lock, [] { return false; }), fails_with(Code::cancelled));
    EXPECT_TRUE(lock.owns_lock());
  });
  EXPECT_TRUE(yield());
  guarded.mutex.lock();
  waiter.cancel();
  EXPECT_TRUE(sleep_for(1s));
  EXPECT_FALSE(waiter.is_done());
  guarded.mutex.unlock();
  EXPECT_TRUE(waiter.join());
}

TEST(ConditionVariableTest, AWaitSucceedsWhenTheConditionHoldsHoweverItEnded) {
  Guarded guarded;
  std::unique_lock lock(guarded.mutex);
  const TimePoint end = now() + 1s;
  EXPECT_TRUE(guarded.changed.wait_until(lock, Deadline::at(end), [&] { return now() >= end; }));
  EXPECT_TRUE(guarded.changed.wait_until(lock, Deadline::passed(), [] { return true; }));
}

TEST(ConditionVariableDeathTest, AWaitWithoutItsMutexAborts) {
  const auto wait_unlocked = [] {
    Guarded guarded;
    std::unique_lock lock(guarded.mutex, std::defer_lock);
    static_cast<void>(guarded.changed.wait(lock));
  };
  EXPECT_DEATH(wait_unlocked(), "a condition is waited for under its mutex");
}

}  // namespace
}  // namespace corolane::coroutine
