// SPDX-License-Identifier: MIT
// Only debug builds watch locks; other builds skip these tests.
#include "coroutine/detail/lock_watch.h"

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <shared_mutex>
#include <thread>

#include "coroutine/scheduler.h"
#include "coroutine/sync/event.h"
#include "coroutine/task.h"
#include "coroutine/virtual_time.h"

namespace corolane::coroutine::detail {
namespace {

using namespace std::chrono_literals;

class LockWatchTest : public testing::Test {
 protected:
  void SetUp() override {
    std::mutex mutex;
    const std::scoped_lock lock(mutex);
    if (LockWatch::held_count == 0) {
      GTEST_SKIP() << "locks are watched in debug builds without sanitizers";
    }
  }
};

using LockWatchDeathTest = LockWatchTest;

constexpr const char* report =
    "check failed: no std::mutex is held where a task suspends or ends(.|\n)*in task holder";

// Suspends while a `Lock` holds a `Mutex`.
template <typename Lock, typename Mutex>
void hold_and_yield() {
  auto holder = spawn("holder", [] {
    Mutex mutex;
    const Lock lock(mutex);
    static_cast<void>(yield());
  });
  static_cast<void>(holder.join(Deadline::never()));
}

TEST_F(LockWatchDeathTest, ATaskThatYieldsWithAStdMutexIsNamed) {
  EXPECT_DEATH((hold_and_yield<std::unique_lock<std::mutex>, std::mutex>()), report);
}

TEST_F(LockWatchDeathTest, EveryMutexOfTheStandardLibraryCounts) {
  EXPECT_DEATH((hold_and_yield<std::unique_lock<std::recursive_mutex>, std::recursive_mutex>()),
               report);
  EXPECT_DEATH((hold_and_yield<std::unique_lock<std::timed_mutex>, std::timed_mutex>()), report);
  EXPECT_DEATH((hold_and_yield<std::unique_lock<std::shared_mutex>, std::shared_mutex>()), report);
  EXPECT_DEATH((hold_and_yield<std::shared_lock<std::shared_mutex>, std::shared_mutex>()), report);
}

int loaded_slowly() {
  static const int value = [] {
    static_cast<void>(sleep_for(1s));
    return 7;
  }();
  return value;
}

TEST_F(LockWatchDeathTest, ATaskThatSuspendsInTheInitialiserOfAStaticLocalIsNamed) {
  const auto load = [] {
    auto loader = spawn("loader", [] { return loaded_slowly(); });
    static_cast<void>(loader.join(Deadline::never()));
  };
  EXPECT_DEATH(load(),
               "no task suspends in the initialiser of a static local(.|\n)*in task loader");
}

int loaded_at_once() {
  static const int value = [] { return 7; }();
  return value;
}

TEST_F(LockWatchTest, AnInitialisedStaticLocalMayBeRead) {
  EXPECT_EQ(loaded_at_once(), 7);
  EXPECT_TRUE(yield());
}

TEST_F(LockWatchDeathTest, ATriedOrTimedLockCountsWhenItIsAcquired) {
  const auto try_and_sleep = [] {
    std::timed_mutex mutex;
    if (mutex.try_lock_for(1ms)) static_cast<void>(sleep_for(1s));
  };
  EXPECT_DEATH(static_cast<void>(spawn("holder", try_and_sleep).join(Deadline::never())), report);
}

TEST_F(LockWatchDeathTest, ATaskThatWaitsWithAStdMutexIsNamed) {
  const auto wait_for_nothing = [] {
    std::mutex mutex;
    Event event;
    const std::scoped_lock lock(mutex);
    static_cast<void>(event.wait(Deadline::never()));
  };
  EXPECT_DEATH(static_cast<void>(spawn("holder", wait_for_nothing).join(Deadline::never())),
               report);
}

TEST_F(LockWatchDeathTest, ATaskThatEndsWithAStdMutexIsNamed) {
  static std::mutex mutex;
  EXPECT_DEATH(static_cast<void>(spawn("holder", [] { mutex.lock(); }).join(Deadline::never())),
               report);
}

TEST_F(LockWatchTest, AReleasedOrFailedLockDoesNotCount) {
  std::mutex mutex;
  std::mutex of_another_thread;
  std::condition_variable taken;
  std::condition_variable done;
  bool is_taken = false;
  bool is_done = false;
  std::thread other([&] {
    const std::scoped_lock held(of_another_thread);
    std::unique_lock lock(mutex);
    is_taken = true;
    taken.notify_one();
    done.wait(lock, [&] { return is_done; });
  });
  {
    std::unique_lock lock(mutex);
    taken.wait(lock, [&] { return is_taken; });
  }
  EXPECT_TRUE(yield());
  EXPECT_FALSE(of_another_thread.try_lock());
  EXPECT_TRUE(sleep_for(1s));
  {
    const std::scoped_lock lock(mutex);
    is_done = true;
  }
  done.notify_one();
  other.join();
  EXPECT_TRUE(yield());
}

TEST_F(LockWatchTest, ALockAroundASchedulerDoesNotCountForItsTasks) {
  std::mutex mutex;
  VirtualTime time;
  Scheduler scheduler(time);
  {
    const std::scoped_lock lock(mutex);
    EXPECT_TRUE(scheduler.run("main", [] { EXPECT_TRUE(yield()); }));
    EXPECT_EQ(LockWatch::held_count, 1);
  }
  EXPECT_EQ(LockWatch::held_count, 0);
}

}  // namespace
}  // namespace corolane::coroutine::detail
