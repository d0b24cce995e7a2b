// SPDX-License-Identifier: MIT
#include "coroutine/async/async_group.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "coroutine/base/allocations.h"
#include "coroutine/scheduler.h"
#include "coroutine/sync/event.h"
#include "coroutine/sync/mutex.h"
#include "coroutine/task.h"
#include "coroutine/task_group.h"
#include "coroutine/testing/matchers.h"
#include "coroutine/testing/random.h"
#include "coroutine/testing/sanitizers.h"
#include "coroutine/virtual_time.h"

namespace corolane::coroutine {
namespace {

using namespace std::chrono_literals;
using test::fails_with;
using testing::AllOf;
using testing::HasSubstr;

Async<void> sleep(Duration duration) { co_return co_await until(Deadline::after(duration)); }

Async<void> sleep_and_count(Duration duration, int& count) {
  const auto slept = co_await until(Deadline::after(duration));
  ++count;
  co_return slept;
}

Async<void> wait_for(Event& event) { co_return co_await until(event.waiting(), Deadline::never()); }

TEST(AsyncGroupTest, JoinWaitsForAllChildren) {
  const TimePoint start = now();
  AsyncGroup group;
  int ended_count = 0;
  for (int number = 1; number <= 10; ++number) {
    group.spawn(sleep_and_count(number * 1s, ended_count));
  }
  EXPECT_EQ(group.size(), 10u);
  EXPECT_TRUE(group.join(Deadline::never()));
  EXPECT_EQ(ended_count, 10);
  EXPECT_EQ(group.size(), 0u);
  EXPECT_EQ(now(), start + 10s);
}

TEST(AsyncGroupTest, ItsChildrenAreCancelledBetweenTheRunsOfTheirScheduler) {
  VirtualTime time;
  Scheduler scheduler(time);
  AsyncGroup group;
  EXPECT_TRUE(scheduler.run("spawn", [&] { group.spawn(sleep(1h)); }));
  group.cancel();
  EXPECT_TRUE(scheduler.run(
      "join", [&] { EXPECT_THAT(group.join(Deadline::never()), fails_with(Code::cancelled)); }));
}

TEST(AsyncGroupTest, ACoroutineBecomesReadyInItsOwnSchedulerWhileAnotherRuns) {
  Event event;
  AsyncGroup group;
  group.spawn(wait_for(event));
  EXPECT_TRUE(yield());
  VirtualTime time;
  Scheduler inner(time);
  EXPECT_TRUE(inner.run("inner", [&] {
    event.set();
    EXPECT_EQ(inner.ready_count(), 0u);
  }));
  EXPECT_TRUE(group.join(Deadline::never()));
}

TEST(AsyncGroupTest, AnEmptyGroupIsJoinedAtOnce) {
  AsyncGroup group;
  EXPECT_TRUE(group.join(Deadline::never()));
  EXPECT_TRUE(group.join(Deadline::passed()));
}

Async<void> note(std::vector<int>& order, int number) {
  order.push_back(number);
  co_return {};
}

TEST(AsyncGroupTest, ChildrenAndTasksBeginInTheOrderOfSpawning) {
  std::vector<int> order;
  AsyncGroup group;
  TaskGroup tasks;
  for (int number = 0; number < 6; number += 2) {
    group.spawn(note(order, number));
    EXPECT_TRUE(tasks.spawn("task", [&, number] { order.push_back(number + 1); }));
  }
  EXPECT_TRUE(order.empty());
  EXPECT_TRUE(yield());
  EXPECT_EQ(order, std::vector({0, 1, 2, 3, 4, 5}));
  EXPECT_TRUE(group.join(Deadline::never()));
  EXPECT_TRUE(tasks.join(Deadline::never()));
}

Async<void> note_wake_up(Event& event, std::vector<int>& order, int number) {
  EXPECT_TRUE(co_await until(event.waiting(), Deadline::never()));
  order.push_back(number);
  co_return {};
}

TEST(AsyncGroupTest, ChildrenWakeUpInOrderOfArrivalMixedWithTasks) {
  Event event;
  std::vector<int> order;
  AsyncGroup group;
  TaskGroup tasks;
  for (int number = 0; number < 6; number += 2) {
    EXPECT_TRUE(tasks.spawn("task", [&, number] {
      EXPECT_TRUE(event.wait(Deadline::never()));
      order.push_back(number);
    }));
    group.spawn(note_wake_up(event, order, number + 1));
  }
  EXPECT_TRUE(yield());
  event.set();
  EXPECT_TRUE(yield());
  EXPECT_EQ(order, std::vector({0, 1, 2, 3, 4, 5}));
}

Async<void> fail_after(Duration delay, Code code) {
  if (auto slept = co_await until(Deadline::after(delay)); !slept) co_return slept.error();
  co_return Error(code, "on purpose");
}

Async<void> careless() {
  throw std::runtime_error("index 9 of 8");
  co_return {};
}

TEST(AsyncGroupTest, JoinReturnsTheFirstErrorSinceTheLastJoin) {
  AsyncGroup group;
  group.spawn(fail_after(2s, Code::aborted));
  group.spawn(fail_after(1s, Code::not_found));
  EXPECT_THAT(group.join(Deadline::never()), fails_with(Code::not_found));
  EXPECT_TRUE(group.join(Deadline::never()));
  group.spawn(careless());
  const auto joined = group.join(Deadline::never());
  EXPECT_THAT(joined, fails_with(Code::internal));
  EXPECT_THAT(joined.error().message(), HasSubstr("index 9 of 8"));
}

Async<void> spawn_next(AsyncGroup& group, int rest, int& count) {
  ++count;
  if (rest > 0) group.spawn(spawn_next(group, rest - 1, count));
  co_return {};
}

TEST(AsyncGroupTest, ChildrenMaySpawnSiblingsMeanwhile) {
  AsyncGroup group;
  int count = 0;
  group.spawn(spawn_next(group, 9, count));
  EXPECT_TRUE(group.join(Deadline::never()));
  EXPECT_EQ(count, 10);
}

TEST(AsyncGroupTest, CancelEndsEveryChildAndTheGroupCanBeUsedAgain) {
  const TimePoint start = now();
  AsyncGroup group;
  for (int number = 0; number < 10; ++number) group.spawn(sleep(24h));
  EXPECT_TRUE(yield());
  group.spawn(sleep(24h));  // Cancelled before it begins.
  group.cancel();
  EXPECT_EQ(group.size(), 11u);
  EXPECT_THAT(group.join(Deadline::never()), fails_with(Code::cancelled));
  EXPECT_EQ(now(), start);
  group.spawn(sleep(1s));
  EXPECT_TRUE(group.join(Deadline::never()));
}

Async<void> resist(int& wait_count) {
  while (wait_count < 5) {
    EXPECT_THAT(co_await until(Deadline::after(24h)), fails_with(Code::cancelled));
    ++wait_count;
  }
  co_return {};
}

TEST(AsyncGroupTest, EveryWaitOfACancelledChildFailsAtOnce) {
  const TimePoint start = now();
  AsyncGroup group;
  int wait_count = 0;
  group.spawn(resist(wait_count));
  EXPECT_TRUE(yield());
  group.cancel();
  EXPECT_TRUE(group.join(Deadline::never()));
  EXPECT_EQ(wait_count, 5);
  EXPECT_EQ(now(), start);
}

Async<void> spawn_when_cancelled(AsyncGroup& group) {
  EXPECT_THAT(co_await until(Deadline::after(24h)), fails_with(Code::cancelled));
  group.spawn(sleep(24h));
  co_return {};
}

TEST(AsyncGroupTest, TheDestructorEndsTheChildrenAndThoseThatTheyStillSpawn) {
  const TimePoint start = now();
  int ended_count = 0;
  {
    AsyncGroup group;
    for (int number = 0; number < 10; ++number) group.spawn(sleep_and_count(24h, ended_count));
    group.spawn(spawn_when_cancelled(group));
    EXPECT_TRUE(yield());
  }
  EXPECT_EQ(ended_count, 10);
  EXPECT_EQ(now(), start);
}

TEST(AsyncGroupTest, AJoinThatFailsLeavesTheChildrenOwned) {
  const TimePoint start = now();
  AsyncGroup group;
  group.spawn(sleep(5s));
  EXPECT_THAT(group.join(Deadline::after(2s)), fails_with(Code::deadline_exceeded));
  auto joiner = spawn("joiner", [&] { return group.join(Deadline::never()); });
  EXPECT_TRUE(yield());
  joiner.cancel();
  EXPECT_THAT(joiner.join(Deadline::never()), fails_with(Code::cancelled));
  EXPECT_EQ(group.size(), 1u);
  EXPECT_TRUE(group.join(Deadline::never()));
  EXPECT_EQ(now(), start + 5s);
}

TEST(AsyncGroupTest, TheLoopMaySpawn) {
  AsyncGroup group;
  Event spawned;
  Scheduler::current().post([&] {
    group.spawn(sleep(1s));
    spawned.set();
  });
  EXPECT_TRUE(spawned.wait(Deadline::never()));
  EXPECT_TRUE(group.join(Deadline::never()));
}

struct Witness {
  explicit Witness(AsyncGroup& own_group) : group(&own_group) {}
  Witness(Witness&& other) noexcept : group(std::exchange(other.group, nullptr)) {}
  ~Witness() {
    if (group != nullptr) {
      EXPECT_EQ(group->size(), 1u);
    }
  }
  AsyncGroup* group;
};

Async<void> hold(Witness) { co_return co_await let_others_run(); }

TEST(AsyncGroupTest, TheContentsOfAChildEndBeforeTheChildDoes) {
  AsyncGroup group;
  group.spawn(hold(Witness(group)));
  EXPECT_TRUE(group.join(Deadline::never()));
}

TEST(AsyncGroupTest, RunsInASchedulerOfItsOwnOnAnotherThread) {
  VirtualTime time;
  Scheduler scheduler(time);
  const auto run = [&] {
    EXPECT_TRUE(scheduler.run("main", [] {
      AsyncGroup group;
      for (int number = 0; number < 1000; ++number) group.spawn(sleep(number * 1s));
      EXPECT_TRUE(group.join(Deadline::never()));
    }));
  };
  std::thread(run).join();
  std::thread(run).join();
  run();
}

// Entities lock, sleep, wait and are cancelled at random.
Async<void> live(test::Random& random, Mutex& mutex, Event& pulse, int& holder_count) {
  for (int round = 0; round < 10; ++round) {
    static_cast<void>(co_await until(Deadline::after(random.up_to(20ms))));
    if (random.one_in(3)) static_cast<void>(co_await let_others_run());
    const Deadline deadline = Deadline::after(random.up_to(20ms));
    auto first = co_await until(pulse.waiting(), mutex.locking(), deadline);
    if (!first || first->index() == 0) {
      pulse.pulse();
      continue;
    }
    EXPECT_EQ(holder_count++, 0);
    static_cast<void>(co_await until(Deadline::after(random.up_to(2ms))));
    EXPECT_EQ(--holder_count, 0);
    mutex.unlock();
  }
  co_return {};
}

TEST(AsyncGroupPropertyTest, AMutexHasOneHolderAtATime) {
  test::Random random;
  Mutex mutex;
  Event pulse;
  int holder_count = 0;
  AsyncGroup group;
  for (int number = 0; number < 100; ++number)
    group.spawn(live(random, mutex, pulse, holder_count));
  EXPECT_TRUE(sleep_for(random.up_to(300ms)));
  for (int number = 0; number < 50; ++number) pulse.pulse();
  if (random.one_in(2)) group.cancel();
  EXPECT_TRUE(group.join(Deadline::never()));
}

std::int64_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::int64_t total = 0;
  std::int64_t resident = 0;
  statm >> total >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

Async<void> wait_quietly(Event& event) {
  static_cast<void>(co_await until(event.waiting(), Deadline::never()));
  co_return {};
}

// Runs on a thread of its own: memory freed earlier on this thread would be reused first.
TEST(AsyncGroupMemoryTest, AMillionWaitingChildrenTakeATenthOf2GiB) {
  if (test::under_slow_watch()) GTEST_SKIP() << "memory checkers add memory around each frame";
  constexpr int count = 1'000'000;
  constexpr std::int64_t size_bytes_max = 2LL * 1024 * 1024 * 1024 / 10;
  const auto spawn_all = [&] {
    Event event;
    AsyncGroup group;
    const std::int64_t before = resident_bytes();
    for (int number = 0; number < count; ++number) {
      group.spawn(wait_quietly(event));
      if (number % 1000 == 0) static_cast<void>(yield());
    }
    EXPECT_TRUE(yield());
    EXPECT_LT(resident_bytes() - before, size_bytes_max);
    EXPECT_GT(resident_bytes() - before, size_bytes_max / 2);  // Guards against measuring nothing.
    event.set();
    EXPECT_TRUE(group.join(Deadline::never()));
  };
  std::thread([&] {
    VirtualTime time;
    Scheduler scheduler(time);
    EXPECT_TRUE(scheduler.run("main", spawn_all));
  }).join();
}

// The memory of a burst of coroutines goes back when it has not been needed for a while.
TEST(AsyncGroupMemoryTest, FramesGoBackToTheSystemAfterABurst) {
  if (test::under_slow_watch()) GTEST_SKIP() << "memory checkers add memory around each frame";
  constexpr int count = 300'000;
  constexpr std::int64_t left_bytes_max = 4LL * 1024 * 1024;
  // They begin and end a thousand at a time: the heap of a thread would keep the memory of a ready
  // ring for all of them.
  const auto burst = [&](AsyncGroup& survivors, Event& last) {
    std::vector<std::unique_ptr<Event>> events;
    AsyncGroup group;
    for (int number = 0; number < count; ++number) {
      if (number % 1000 == 0) events.push_back(std::make_unique<Event>());
      group.spawn(wait_quietly(*events.back()));
      if (number % (count / 10) == 0) survivors.spawn(wait_quietly(last));
      if (number % 1000 == 999) static_cast<void>(yield());
    }
    for (const auto& event : events) {
      event->set();
      EXPECT_TRUE(yield());
    }
    EXPECT_TRUE(group.join(Deadline::never()));
  };
  const auto measure = [&] {
    AsyncGroup survivors;
    Event last;
    const std::int64_t before = resident_bytes();
    burst(survivors, last);
    const std::int64_t grown = resident_bytes() - before;
    EXPECT_GT(grown, count * 100LL);
    // A second one needs nothing more, whether or not the first one's memory has gone.
    burst(survivors, last);
    EXPECT_LT(resident_bytes() - before, grown * 5 / 4);
    EXPECT_TRUE(sleep_for(1min));
    EXPECT_LT(resident_bytes() - before, left_bytes_max);
    burst(survivors, last);
    EXPECT_LT(resident_bytes() - before, grown * 5 / 4);
    EXPECT_TRUE(sleep_for(1min));
    EXPECT_LT(resident_bytes() - before, left_bytes_max);
    last.set();
    EXPECT_TRUE(survivors.join(Deadline::never()));
  };
  std::thread([&] {
    VirtualTime time;
    Scheduler scheduler(time);
    EXPECT_TRUE(scheduler.run("main", measure));
  }).join();
}

Async<int> child(int number) { co_return number; }

Async<void> work(Event& event) {
  for (int round = 0; round < 100; ++round) {
    EXPECT_TRUE(co_await child(round));
    EXPECT_TRUE(co_await until(Deadline::after(1ms)));
    static_cast<void>(co_await until(event.waiting(), Deadline::after(1ms)));
    EXPECT_TRUE(co_await let_others_run());
  }
  co_return {};
}

TEST(AsyncGroupMemoryTest, AWarmPoolAllocatesNothing) {
  if (test::under_sanitizer) GTEST_SKIP() << "under sanitizers frames come from the heap";
  Event event;
  AsyncGroup group;
  const auto run_all = [&] {
    event.reset();
    for (int number = 0; number < 100; ++number) {
      group.spawn(work(event));
      group.spawn(wait_for(event));
    }
    EXPECT_TRUE(yield());
    event.set();
    EXPECT_TRUE(group.join(Deadline::never()));
    EXPECT_EQ(await(child(7)), 7);
  };
  run_all();
  const std::uint64_t before = allocations().count;
  run_all();
  EXPECT_EQ(allocations().count, before);
}

TEST(AsyncGroupDeathTest, ADeadlockOfStacklessCoroutinesIsFound) {
  const auto deadlock = [] {
    VirtualTime time;
    Scheduler scheduler(time);
    static_cast<void>(scheduler.run("main", [] {
      Event holiday("a holiday");
      AsyncGroup group;
      for (int number = 0; number < 3; ++number) group.spawn(wait_for(holiday));
      static_cast<void>(group.join(Deadline::never()));
    }));
  };
  EXPECT_DEATH(deadlock(), AllOf(HasSubstr("deadlock: every task waits"),
                                 HasSubstr("every stackless coroutine waits too, 3"),
                                 HasSubstr("  3 stackless coroutines, wait for a holiday, "),
                                 HasSubstr("waits for end of a group of stackless coroutines")));
}

}  // namespace
}  // namespace corolane::coroutine
