// SPDX-License-Identifier: MIT
#include "coroutine/sync/keyed_mutex.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "coroutine/task_group.h"
#include "coroutine/testing/matchers.h"

namespace corolane::coroutine {
namespace {

using namespace std::chrono_literals;
using test::fails_with;

TEST(KeyedMutexTest, OnlyALockOnTheSameKeyWaits) {
  KeyedMutex<std::string> mutex;
  const auto held = mutex.lock("ann", Deadline::never());
  EXPECT_TRUE(mutex.lock("bob", Deadline::passed()));
  const TimePoint start = now();
  EXPECT_THAT(mutex.lock("ann", Deadline::after(1s)), fails_with(Code::deadline_exceeded));
  EXPECT_EQ(now() - start, 1s);
}

TEST(KeyedMutexTest, RemembersOnlyLockedKeys) {
  KeyedMutex<int> mutex;
  {
    std::vector<KeyedMutex<int>::Guard> guards;
    for (int key = 0; key < 1000; ++key) guards.push_back(*mutex.lock(key, Deadline::never()));
    EXPECT_EQ(mutex.size(), 1000u);
    for (int key = 0; key < 1000; ++key) {
      EXPECT_THAT(mutex.lock(key, Deadline::passed()), fails_with(Code::deadline_exceeded));
    }
  }
  EXPECT_EQ(mutex.size(), 0u);
}

TEST(KeyedMutexTest, AKeyGoesToTheLongestWaiter) {
  KeyedMutex<int> mutex;
  std::vector<int> order;
  TaskGroup group;
  {
    const auto held = mutex.lock(1, Deadline::never());
    for (int number = 0; number < 4; ++number) {
      EXPECT_TRUE(group.spawn("rival", [&, number] {
        const auto guard = mutex.lock(1, Deadline::never());
        order.push_back(number);
        EXPECT_TRUE(yield());
      }));
    }
    EXPECT_TRUE(yield());
  }
  EXPECT_THAT(mutex.lock(1, Deadline::passed()), fails_with(Code::deadline_exceeded));
  EXPECT_TRUE(group.join());
  EXPECT_EQ(order, std::vector({0, 1, 2, 3}));
  EXPECT_EQ(mutex.size(), 0u);
}

TEST(KeyedMutexTest, CancellationEndsTheWait) {
  KeyedMutex<int> mutex;
  const auto held = mutex.lock(1, Deadline::never());
  auto rival = spawn("rival", [&]() -> Result<void> {
    auto guard = mutex.lock(1, Deadline::never());
    if (!guard) return guard.error();
    return {};
  });
  EXPECT_TRUE(yield());
  rival.cancel();
  EXPECT_THAT(rival.join(), fails_with(Code::cancelled));
}

TEST(KeyedMutexTest, AGuardMovesBetweenKeysAndTasks) {
  KeyedMutex<int> mutex;
  auto first = *mutex.lock(1, Deadline::never());
  auto second = *mutex.lock(2, Deadline::never());
  first = std::move(second);
  EXPECT_EQ(mutex.size(), 1u);
  EXPECT_TRUE(mutex.lock(1, Deadline::passed()));
  auto heir = spawn("heir", [guard = std::move(first)] { return yield(); });
  EXPECT_TRUE(heir.join());
  EXPECT_EQ(mutex.size(), 0u);
}

}  // namespace
}  // namespace corolane::coroutine
