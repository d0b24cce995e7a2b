// SPDX-License-Identifier: MIT
// What introspection tells of a task that waits for a lock, a channel or the like.
#include "coroutine/detail/known_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coroutine/scheduler.h"
#include "coroutine/sync/channel.h"
#include "coroutine/sync/event.h"
#include "coroutine/sync/future.h"
#include "coroutine/sync/latch.h"
#include "coroutine/sync/mutex.h"
#include "coroutine/sync/semaphore.h"
#include "coroutine/sync/shared_mutex.h"
#include "coroutine/task.h"

namespace corolane::coroutine {
namespace {

using namespace std::chrono_literals;

TaskInfo info_of(std::string_view name) {
  for (TaskInfo& info : Scheduler::current().tasks({.holders = true})) {
    if (info.name == name) return std::move(info);
  }
  ADD_FAILURE() << "there is no task " << name;
  return {};
}

TaskInfo info_of_running() {
  return Scheduler::current().task(current_task_id()).value_or(TaskInfo());
}

// Where the task waits, while it does.
template <typename F>
Awaited awaited_by(F wait) {
  auto task = spawn("waiting", [&] { static_cast<void>(wait(Deadline::after(1s))); });
  static_cast<void>(yield());
  const auto awaited = info_of("waiting").awaited;
  static_cast<void>(task.join(Deadline::never()));
  EXPECT_TRUE(awaited);
  return awaited.value_or(Awaited{});
}

TEST(KnownQueueTest, AMutexTellsWhichTaskHoldsIt) {
  Mutex mutex;
  auto holder = spawn("holder", [&] {
    const std::scoped_lock held(mutex);
    static_cast<void>(sleep_for(2s));
  });
  static_cast<void>(yield());
  const auto awaited =
      awaited_by([&](Deadline deadline) { return mutex.try_lock_until(deadline); });
  EXPECT_TRUE(awaited.is_held);
  EXPECT_EQ(awaited.holder, info_of("holder").id);
  EXPECT_EQ(awaited.holder_name, "holder");
  EXPECT_TRUE(std::string_view(awaited.site.file_name()).ends_with("known_queue_test.cc"));
  static_cast<void>(holder.join(Deadline::never()));
}

TEST(KnownQueueTest, AWriterHoldsASharedMutexAndReadersDoNot) {
  SharedMutex mutex("map of the world");
  auto holder = spawn("holder", [&] {
    const std::scoped_lock held(mutex);
    static_cast<void>(sleep_for(2s));
  });
  static_cast<void>(yield());
  const auto lock = [&](Deadline deadline) { return mutex.try_lock_until(deadline); };
  EXPECT_EQ(awaited_by(lock).holder, info_of("holder").id);
  static_cast<void>(holder.join(Deadline::never()));

  mutex.lock_shared();
  EXPECT_FALSE(awaited_by(lock).is_held);
  mutex.unlock_shared();
}

TEST(KnownQueueTest, TheRestTellWhereTheyWereMade) {
  const auto line = std::source_location::current().line();
  Semaphore semaphore(0);
  Channel<int> channel(1);
  Event event;
  Latch latch(1);
  Promise<int> promise;
  Future<int> future = promise.get_future();
  ASSERT_TRUE(channel.try_send(1));
  const std::vector<Awaited> all = {
      awaited_by([&](Deadline deadline) { return semaphore.acquire(deadline); }),
      awaited_by([&](Deadline deadline) { return channel.send(2, deadline); }),
      awaited_by([&](Deadline deadline) { return event.wait(deadline); }),
      awaited_by([&](Deadline deadline) { return latch.wait(deadline); }),
      awaited_by([&](Deadline deadline) { return future.wait(deadline); })};
  const auto lines = {line + 1, line + 2, line + 3, line + 4, line + 6};
  EXPECT_TRUE(std::ranges::equal(all, lines, {},
                                 [](const Awaited& awaited) { return awaited.site.line(); }));
  EXPECT_TRUE(std::ranges::none_of(all, &Awaited::is_held));
}

TEST(KnownQueueTest, AFutureThatIsMovedKeepsItsPlace) {
  Promise<int> promise;
  const auto line = std::source_location::current().line();
  Future<int> first = promise.get_future("answer");
  Future<int> future = std::move(first);
  const auto awaited = awaited_by([&](Deadline deadline) { return future.get(deadline); });
  EXPECT_EQ(awaited.site.line(), line + 1);
}

TEST(KnownQueueTest, TheDeadlineOfAWaitIsKnown) {
  Event event;
  const TimePoint end = now() + 5s;
  auto task = spawn("waiting", [&] { return event.wait(Deadline::at(end)); });
  auto patient = spawn("patient", [&] { return event.wait(Deadline::never()); });
  static_cast<void>(yield());
  EXPECT_EQ(info_of("waiting").wait_deadline, Deadline::at(end));
  EXPECT_TRUE(info_of("patient").wait_deadline.is_never());
  event.set();
}

TEST(KnownQueueTest, ASleepWaitsForNothingKnown) {
  auto task = spawn("sleeping", [] { return sleep_for(1s); });
  static_cast<void>(yield());
  EXPECT_FALSE(info_of("sleeping").awaited);
  EXPECT_EQ(info_of("sleeping").wait_deadline, Deadline::at(now() + 1s));
}

TEST(KnownQueueTest, ALockThatIgnoresCancellationIsKnownAndNotCutShort) {
  Mutex mutex;
  mutex.lock();
  bool has_locked = false;
  auto task = spawn("waiting", [&] {
    const std::scoped_lock held(mutex);
    has_locked = true;
  });
  static_cast<void>(yield());
  task.cancel();
  static_cast<void>(sleep_for(1s));
  EXPECT_FALSE(has_locked);
  EXPECT_TRUE(info_of("waiting").awaited);
  mutex.unlock();
  EXPECT_TRUE(task.join(Deadline::never()));
  EXPECT_TRUE(has_locked);
}

TEST(KnownQueueTest, TheTasksThatWaitForLocksAreListed) {
  Mutex mutex;
  Event event;
  mutex.lock();
  auto other = spawn("other", [&] { return event.wait(Deadline::after(1s)); });
  const auto lock_once = [&] { const std::unique_lock lock(mutex, 1s); };
  auto first = spawn("first", lock_once);
  auto second = spawn("second", lock_once);
  static_cast<void>(yield());
  const auto waits = Scheduler::current().lock_waits();
  ASSERT_EQ(waits.size(), 2u);
  EXPECT_EQ(waits[0].name, "first");
  EXPECT_EQ(waits[1].name, "second");
  EXPECT_EQ(waits[1].awaited->holder, current_task_id());
  EXPECT_EQ(waits[1].awaited->holder_name, info_of_running().name);
  EXPECT_EQ(waits[1].awaited->identity, waits[0].awaited->identity);
  EXPECT_EQ(Scheduler::current().lock_waits({.count_max = 1}).size(), 1u);
  mutex.unlock();
}

TEST(KnownQueueTest, WaitsForLocksThatAreLeftOutDoNotCount) {
  Mutex other("turn");
  Mutex mutex;
  other.lock();
  mutex.lock();
  auto left_out = spawn("left out", [&] { const std::unique_lock lock(other, 3s); });
  auto young = spawn("young", [&] {
    static_cast<void>(sleep_for(1s));
    const std::unique_lock lock(mutex, 3s);
  });
  auto old = spawn("old", [&] { const std::unique_lock lock(mutex, 3s); });
  static_cast<void>(sleep_for(1500ms));
  const auto waits =
      Scheduler::current().lock_waits({.count_max = 1, .time_min = 1s, .left_out = "turn"});
  ASSERT_EQ(waits.size(), 1u);
  EXPECT_EQ(waits[0].name, "old");
  other.unlock();
  mutex.unlock();
}

TEST(KnownQueueTest, OneTaskIsShownWithTheHolder) {
  Mutex mutex;
  const std::scoped_lock held(mutex);
  auto task = spawn("waiting", [&] { return mutex.try_lock_for(1s); });
  static_cast<void>(yield());
  const auto info = Scheduler::current().task(info_of("waiting").id);
  ASSERT_TRUE(info && info->awaited);
  EXPECT_EQ(info->awaited->holder, current_task_id());
}

}  // namespace
}  // namespace corolane::coroutine
