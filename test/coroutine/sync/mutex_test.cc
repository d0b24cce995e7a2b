// SPDX-License-Identifier: MIT
#include "coroutine/sync/mutex.h"

#include <gtest/gtest.h>

#include <chrono>
#include <mutex>
#include <vector>

#include "coroutine/sync/shared_mutex.h"
#include "coroutine/task_group.h"

namespace corolane::coroutine {
namespace {

using namespace std::chrono_literals;

TEST(MutexTest, AStructThatHasOneIsMadeByBraces) {
  struct Guild {
    Mutex lock;
    SharedMutex members_lock;
    int gold = 0;
  };
  Guild guild{};
  Guild rich{};
  rich.gold = 3;
  const std::scoped_lock both(guild.lock, rich.lock);
  EXPECT_EQ(guild.gold + rich.gold, 3);
}

TEST(MutexTest, TryLockFailsWhileAnotherTaskHoldsIt) {
  Mutex mutex;
  std::scoped_lock held(mutex);
  auto rival = spawn("rival", [&] { return mutex.try_lock(); });
  EXPECT_EQ(rival.join(Deadline::never()), false);
}

TEST(MutexTest, AFreeMutexIsLockedWithoutSuspending) {
  Mutex mutex;
  bool other_ran = false;
  auto other = spawn("other", [&] { other_ran = true; });
  mutex.lock();
  mutex.unlock();
  EXPECT_TRUE(mutex.try_lock());
  mutex.unlock();
  EXPECT_TRUE(mutex.try_lock_for(1s));
  mutex.unlock();
  EXPECT_FALSE(other_ran);
}

TEST(MutexTest, TryLockForGivesUpOnTime) {
  Mutex mutex;
  std::scoped_lock held(mutex);
  const TimePoint start = now();
  auto rival = spawn("rival", [&] { return mutex.try_lock_for(50ms); });
  EXPECT_EQ(rival.join(Deadline::never()), false);
  EXPECT_EQ(now() - start, 50ms);
}

TEST(MutexTest, TryLockForSucceedsWhenItIsUnlockedInTime) {
  Mutex mutex;
  const TimePoint start = now();
  mutex.lock();
  auto rival = spawn("rival", [&] {
    const std::unique_lock lock(mutex, 50ms);
    return lock.owns_lock();
  });
  EXPECT_TRUE(sleep_for(49ms));
  mutex.unlock();
  EXPECT_EQ(rival.join(Deadline::never()), true);
  EXPECT_EQ(now() - start, 49ms);
}

TEST(MutexTest, UnlockHandsTheLockToTheLongestWaiter) {
  Mutex mutex;
  std::vector<int> order;
  TaskGroup group;
  mutex.lock();
  for (int number = 0; number < 5; ++number) {
    EXPECT_TRUE(group.spawn("rival", [&, number] {
      std::scoped_lock lock(mutex);
      order.push_back(number);
      EXPECT_TRUE(yield());
    }));
  }
  EXPECT_TRUE(yield());
  mutex.unlock();
  EXPECT_FALSE(mutex.try_lock()) << "a latecomer may not snatch a lock that was handed over";
  EXPECT_TRUE(group.join(Deadline::never()));
  EXPECT_EQ(order, std::vector({0, 1, 2, 3, 4}));
}

TEST(MutexDeathTest, LockingTwiceIsReportedRatherThanADeadlock) {
  const auto lock_twice = [] {
    Mutex mutex;
    mutex.lock();
    mutex.lock();
  };
  EXPECT_DEATH(lock_twice(), "a task does not lock a mutex that it holds already");
}

TEST(MutexDeathTest, OnlyTheHolderUnlocks) {
  const auto unlock_anothers = [] {
    Mutex mutex;
    mutex.lock();
    auto rival = spawn("rival", [&] { mutex.unlock(); });
    static_cast<void>(rival.join(Deadline::never()));
  };
  EXPECT_DEATH(unlock_anothers(), "a mutex is unlocked by the task that holds it");
}

TEST(MutexDeathTest, DestroyingALockedMutexAborts) {
  const auto forget = [] { Mutex().lock(); };
  EXPECT_DEATH(forget(), "a mutex is unlocked before it is destroyed");
}

}  // namespace
}  // namespace corolane::coroutine
