// SPDX-License-Identifier: MIT
// Cancellation is a value: every suspending call returns it in a cancelled task.
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <mutex>
#include <ostream>
#include <ranges>
#include <string>

#include "coroutine/sync/channel.h"
#include "coroutine/sync/event.h"
#include "coroutine/sync/for_each.h"
#include "coroutine/sync/future.h"
#include "coroutine/sync/latch.h"
#include "coroutine/sync/mutex.h"
#include "coroutine/sync/once.h"
#include "coroutine/sync/race.h"
#include "coroutine/sync/select.h"
#include "coroutine/sync/semaphore.h"
#include "coroutine/sync/shared_mutex.h"
#include "coroutine/sync/ticker.h"
#include "coroutine/task.h"
#include "coroutine/task_group.h"
#include "coroutine/testing/matchers.h"

namespace corolane::coroutine {
namespace {

using namespace std::chrono_literals;
using test::fails_with;

// One of everything that can be waited for, without a task that would ever end the wait.
struct World {
  World() {
    EXPECT_TRUE(full.try_send(1));
    EXPECT_TRUE(group.spawn("child", [] { return sleep_until(Deadline::never()); }));
    held_shared.lock();
  }
  ~World() { held_shared.unlock(); }

  Event event;
  Channel<int> full{1};
  Channel<int> empty{1};
  WaitQueue queue{"nothing"};
  Mutex mutex;
  std::unique_lock<Mutex> held{mutex};
  SharedMutex held_shared;
  Semaphore semaphore{0};
  Latch latch{1};
  Once<int, int> once;
  Task<void> loader = spawn("loader", [this] {
    static_cast<void>(once.get(
        1, [] { return Result<int>(sleep_until(Deadline::never()).error()); }, Deadline::never()));
  });
  Promise<int> promise;
  Future<int> future = promise.get_future();
  Task<void> endless = spawn("endless", [] { return sleep_until(Deadline::never()); });
  TaskGroup group;
};

Result<void> as_result(Wake wake) {
  if (wake == Wake::notified) return {};
  return wake_error(wake, "nothing");
}

Result<void> as_result(bool locked) {
  if (locked) return {};
  return Error(Code::cancelled, "");
}

template <typename T>
Result<void> without_value(const Result<T>& result) {
  if (!result) return result.error();
  return {};
}

struct SuspendingCall {
  std::string name;
  std::function<Result<void>(World&)> call;

  friend std::ostream& operator<<(std::ostream& out, const SuspendingCall& self) {
    return out << self.name;
  }
};

const SuspendingCall suspending_calls[] = {
    {"SleepFor", [](World&) { return sleep_for(24h); }},
    {"SleepUntil", [](World&) { return sleep_until(Deadline::never()); }},
    {"EventWait", [](World& world) { return world.event.wait(Deadline::never()); }},
    {"EventWaitWithDeadline", [](World& world) { return world.event.wait(Deadline::after(24h)); }},
    {"ChannelSend", [](World& world) { return world.full.send(2, Deadline::never()); }},
    {"ChannelReceive",
     [](World& world) { return without_value(world.empty.receive(Deadline::never())); }},
    {"WaitQueueWait", [](World& world) { return as_result(world.queue.wait(Deadline::never())); }},
    {"TaskJoin", [](World& world) { return world.endless.join(Deadline::never()); }},
    {"TaskGroupJoin", [](World& world) { return world.group.join(Deadline::never()); }},
    {"MutexTryLock", [](World& world) { return as_result(world.mutex.try_lock_for(24h)); }},
    {"SharedMutexTryLock",
     [](World& world) { return as_result(world.held_shared.try_lock_for(24h)); }},
    {"SharedMutexTryLockShared",
     [](World& world) { return as_result(world.held_shared.try_lock_shared_for(24h)); }},
    {"SemaphoreAcquire", [](World& world) { return world.semaphore.acquire(Deadline::never()); }},
    {"LatchWait", [](World& world) { return world.latch.wait(Deadline::never()); }},
    {"SemaphoreHold",
     [](World& world) { return without_value(world.semaphore.hold(Deadline::never())); }},
    {"OnceGet",
     [](World& world) {
       return without_value(world.once.get(1, [] { return Result<int>(0); }, Deadline::never()));
     }},
    {"ForEach",
     [](World&) {
       return for_each(
           std::views::iota(0, 2), {.concurrency = 2}, [](int) { return sleep_for(24h); },
           Deadline::never());
     }},
    {"Race",
     [](World&) {
       return without_value(race(
           std::views::iota(0, 2), {}, [](int) -> Result<int> { return sleep_for(24h).error(); },
           Deadline::never()));
     }},
    {"TickerNext",
     [](World&) {
       Ticker ticker(24h);
       return without_value(ticker.next(Deadline::never()));
     }},
    {"FutureWait", [](World& world) { return world.future.wait(Deadline::never()); }},
    {"FutureGet", [](World& world) { return without_value(world.future.get(Deadline::never())); }},
    {"Select",
     [](World& world) {
       return without_value(
           select(world.empty.receiving(), world.full.sending(1), Deadline::never()));
     }},
    {"SelectOfEnds",
     [](World& world) {
       return without_value(
           select(world.endless.joining(), world.future.getting(), Deadline::never()));
     }},
};

class CancellationTest : public testing::TestWithParam<SuspendingCall> {};

TEST_P(CancellationTest, EndsTheCallAtOnce) {
  World world;
  auto task = spawn("patient", [&] { return GetParam().call(world); });
  EXPECT_TRUE(sleep_for(1s));
  EXPECT_FALSE(task.is_done());
  const TimePoint cancelled_at = now();
  task.cancel();
  EXPECT_THAT(task.join(Deadline::never()), fails_with(Code::cancelled));
  EXPECT_EQ(now(), cancelled_at);
}

TEST_P(CancellationTest, EveryLaterCallFailsWithoutSuspending) {
  World world;
  int turns = 0;
  auto witness = spawn("witness", [&] {
    while (yield()) ++turns;
  });
  auto task = spawn("cancelled", [&] {
    const int turns_before = turns;
    for (int time = 0; time < 3; ++time) {
      EXPECT_THAT(GetParam().call(world), fails_with(Code::cancelled));
    }
    EXPECT_EQ(turns, turns_before);
  });
  task.cancel();
  EXPECT_TRUE(task.join(Deadline::never()));
}

INSTANTIATE_TEST_SUITE_P(SuspendingCalls, CancellationTest, testing::ValuesIn(suspending_calls),
                         [](const auto& call) { return call.param.name; });

TEST(CancellationOfYieldTest, FailsAtOnceAndEveryTime) {
  auto task = spawn("task", [] {
    EXPECT_THAT(yield(), fails_with(Code::cancelled));
    EXPECT_THAT(yield(), fails_with(Code::cancelled));
  });
  task.cancel();
  EXPECT_TRUE(task.join(Deadline::never()));
}

TEST(CancellationOfYieldTest, FailsWhenItComesDuringTheYield) {
  auto task = spawn("task", [] { return yield(); });
  EXPECT_TRUE(yield());
  task.cancel();
  EXPECT_THAT(task.join(Deadline::never()), fails_with(Code::cancelled));
}

TEST(CancellationOfMutexTest, LockIgnoresItForTheSakeOfScopedLock) {
  Mutex mutex;
  mutex.lock();
  bool locked = false;
  auto task = spawn("task", [&] {
    const std::scoped_lock lock(mutex);
    locked = true;
    EXPECT_TRUE(is_cancelled());
  });
  EXPECT_TRUE(yield());
  task.cancel();
  EXPECT_TRUE(sleep_for(1s));
  EXPECT_FALSE(locked);
  mutex.unlock();
  EXPECT_TRUE(task.join(Deadline::never()));
  EXPECT_TRUE(locked);
}

// An available result is not thrown away: cancellation only ends waits.
TEST(CancellationOfNothingTest, ACallThatNeedNotWaitSucceeds) {
  auto task = spawn("cancelled", [] {
    EXPECT_TRUE(is_cancelled());
    Channel<int> channel(1);
    EXPECT_TRUE(channel.send(1, Deadline::never()));
    EXPECT_EQ(channel.receive(Deadline::never()), 1);
    Event event;
    event.set();
    EXPECT_TRUE(event.wait(Deadline::never()));
    Mutex mutex;
    EXPECT_TRUE(mutex.try_lock_for(1s));
    mutex.unlock();
    TaskGroup group;
    EXPECT_TRUE(group.join(Deadline::never()));
  });
  task.cancel();
  EXPECT_TRUE(task.join(Deadline::never()));
}

TEST(CancellationTreeTest, ATaskPassesItOnByEndingItsChildren) {
  int ended_count = 0;
  const auto sleeper = [&] {
    EXPECT_THAT(sleep_for(24h), fails_with(Code::cancelled));
    ++ended_count;
  };
  const TimePoint start = now();
  auto parent = spawn("parent", [&] {
    auto child = spawn("child", sleeper);
    TaskGroup group;
    EXPECT_TRUE(group.spawn("grandchild", sleeper));
    EXPECT_THAT(group.join(Deadline::never()), fails_with(Code::cancelled));
  });
  EXPECT_TRUE(yield());
  parent.cancel();
  EXPECT_TRUE(parent.join(Deadline::never()));
  EXPECT_EQ(ended_count, 2);
  EXPECT_EQ(now(), start);
}

}  // namespace
}  // namespace corolane::coroutine
