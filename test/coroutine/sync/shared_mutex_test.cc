// SPDX-License-Identifier: MIT
#include "coroutine/sync/shared_mutex.h"

#include <gtest/gtest.h>

#include <chrono>
#include <mutex>
#include <shared_mutex>
#include <string>

#include "coroutine/task_group.h"

namespace corolane::coroutine {
namespace {

using namespace std::chrono_literals;

TEST(SharedMutexTest, ManyReadersOrOneWriterHoldIt) {
  SharedMutex mutex;
  {
    const std::shared_lock reader(mutex);
    EXPECT_TRUE(mutex.try_lock_shared());
    mutex.unlock_shared();
    EXPECT_FALSE(mutex.try_lock());
  }
  const std::scoped_lock writer(mutex);
  auto rival = spawn("rival", [&] { return mutex.try_lock_shared() || mutex.try_lock(); });
  EXPECT_EQ(rival.join(Deadline::never()), false);
}

TEST(SharedMutexTest, TheShortcutTakesOnlyALockThatIsFree) {
  SharedMutex mutex;
  ASSERT_TRUE(mutex.try_shortcut());
  auto rival = spawn("rival", [&] { return mutex.try_shortcut() || mutex.try_shared_shortcut(); });
  EXPECT_EQ(rival.join(Deadline::never()), false);
  mutex.unlock();

  ASSERT_TRUE(mutex.try_shared_shortcut());
  EXPECT_TRUE(mutex.try_shared_shortcut());
  EXPECT_FALSE(mutex.try_shortcut());
  auto writer = spawn("writer", [&] { const std::scoped_lock lock(mutex); });
  EXPECT_TRUE(yield());
  EXPECT_FALSE(mutex.try_shared_shortcut());  // Behind the writer.
  mutex.unlock_shared();
  mutex.unlock_shared();
  EXPECT_TRUE(writer.join(Deadline::never()));
}

TEST(SharedMutexTest, AWaitingWriterHoldsUpLaterReaders) {
  SharedMutex mutex;
  std::string order;
  TaskGroup group;
  mutex.lock_shared();
  for (const char kind : {'w', 'r', 'r', 'w', 'r'}) {
    EXPECT_TRUE(group.spawn("rival", [&, kind] {
      if (kind == 'r') {
        const std::shared_lock lock(mutex);
        order += kind;
        EXPECT_TRUE(sleep_for(1s));
        order += '.';
      } else {
        const std::scoped_lock lock(mutex);
        order += kind;
        EXPECT_TRUE(sleep_for(1s));
        order += '.';
      }
    }));
  }
  EXPECT_TRUE(sleep_for(1s));
  EXPECT_EQ(order, "");
  EXPECT_FALSE(mutex.try_lock_shared());
  mutex.unlock_shared();
  EXPECT_FALSE(mutex.try_lock_shared()) << "a latecomer may not snatch a lock that was handed over";
  EXPECT_TRUE(group.join(Deadline::never()));
  EXPECT_EQ(order, "w.rr..w.r.");
}

TEST(SharedMutexTest, ALockThatIsWaitedForGivesUpOnTime) {
  SharedMutex mutex;
  const std::scoped_lock held(mutex);
  const TimePoint start = now();
  auto reader = spawn("reader", [&] { return mutex.try_lock_shared_for(50ms); });
  auto writer = spawn("writer", [&] { return mutex.try_lock_for(70ms); });
  EXPECT_EQ(reader.join(Deadline::never()), false);
  EXPECT_EQ(now() - start, 50ms);
  EXPECT_EQ(writer.join(Deadline::never()), false);
  EXPECT_EQ(now() - start, 70ms);
}

TEST(SharedMutexTest, AWriterThatGivesUpLetsTheReadersBehindItPass) {
  SharedMutex mutex;
  const std::shared_lock held(mutex);
  const TimePoint start = now();
  auto late_writer = spawn("late writer", [&] { return mutex.try_lock_for(1s); });
  auto reader = spawn("reader", [&] {
    const std::shared_lock lock(mutex);
    EXPECT_EQ(now() - start, 1s);
  });
  EXPECT_TRUE(reader.join(Deadline::never()));

  auto cancelled_writer = spawn("cancelled writer", [&] { return mutex.try_lock_for(1h); });
  auto next_reader = spawn("reader", [&] { const std::shared_lock lock(mutex); });
  EXPECT_TRUE(yield());
  cancelled_writer.cancel();
  EXPECT_TRUE(next_reader.join(Deadline::never()));
  EXPECT_EQ(late_writer.join(Deadline::never()), false);
  EXPECT_EQ(cancelled_writer.join(Deadline::never()), false);
  EXPECT_EQ(now() - start, 1s);
}

TEST(SharedMutexTest, AWriterThatGaveUpBlocksNoReaderEvenBeforeItRuns) {
  SharedMutex mutex;
  mutex.lock_shared();
  auto writer = spawn("writer", [&] { return mutex.try_lock_for(1h); });
  auto reader = spawn("reader", [&] { const std::shared_lock lock(mutex); });
  EXPECT_TRUE(yield());
  writer.cancel();
  EXPECT_TRUE(mutex.try_lock_shared());
  mutex.unlock_shared();
  mutex.unlock_shared();
  EXPECT_TRUE(reader.join(Deadline::never()));
  EXPECT_EQ(writer.join(Deadline::never()), false);
}

TEST(SharedMutexTest, OnlyTimedLocksAreCancelled) {
  SharedMutex mutex;
  mutex.lock();
  int locked_count = 0;
  auto writer = spawn("writer", [&] {
    const std::scoped_lock lock(mutex);
    ++locked_count;
  });
  auto reader = spawn("reader", [&] {
    const std::shared_lock lock(mutex);
    ++locked_count;
  });
  EXPECT_TRUE(yield());
  writer.cancel();
  reader.cancel();
  EXPECT_TRUE(sleep_for(1s));
  EXPECT_EQ(locked_count, 0);
  mutex.unlock();
  EXPECT_TRUE(writer.join(Deadline::never()));
  EXPECT_TRUE(reader.join(Deadline::never()));
  EXPECT_EQ(locked_count, 2);
}

TEST(SharedMutexDeathTest, OnlyTheWriterUnlocks) {
  const auto unlock_anothers = [] {
    SharedMutex mutex;
    mutex.lock();
    auto rival = spawn("rival", [&] { mutex.unlock(); });
    static_cast<void>(rival.join(Deadline::never()));
  };
  EXPECT_DEATH(unlock_anothers(), "a mutex is unlocked by the task that holds it");
}

TEST(SharedMutexDeathTest, DestroyingALockedMutexAborts) {
  const auto forget = [] { SharedMutex().lock_shared(); };
  EXPECT_DEATH(forget(), "a mutex is unlocked before it is destroyed");
}

}  // namespace
}  // namespace corolane::coroutine
