// SPDX-License-Identifier: MIT
// Claims about which calls suspend under a shuffle seed although they need not, and which never do.
#include "coroutine/might_suspend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>

#include "coroutine/async/async.h"
#include "coroutine/async/async_group.h"
#include "coroutine/cancel_scope.h"
#include "coroutine/no_suspend.h"
#include "coroutine/scheduler.h"
#include "coroutine/sync/channel.h"
#include "coroutine/sync/event.h"
#include "coroutine/sync/future.h"
#include "coroutine/sync/latch.h"
#include "coroutine/sync/mutex.h"
#include "coroutine/sync/select.h"
#include "coroutine/sync/semaphore.h"
#include "coroutine/sync/shared_mutex.h"
#include "coroutine/task_group.h"
#include "coroutine/testing/matchers.h"
#include "coroutine/virtual_time.h"

namespace corolane::coroutine {
namespace {

using namespace std::chrono_literals;
using test::fails_with;
using testing::Gt;

constexpr std::uint64_t seed_count = 50;

// Runs `call` once for each seed and returns how often another task, which is ready, runs
// meanwhile.
std::size_t times_suspended(const std::function<void()>& call, SchedulerOptions options = {}) {
  std::size_t count = 0;
  for (options.shuffle_seed = 1; options.shuffle_seed <= seed_count; ++options.shuffle_seed) {
    VirtualTime time;
    Scheduler scheduler(time, options);
    EXPECT_TRUE(scheduler.run("main", [&] {
      bool has_other_run = false;
      auto other = spawn("other", [&] { has_other_run = true; });
      call();
      if (has_other_run) ++count;
      EXPECT_TRUE(other.join(Deadline::never()));
    }));
  }
  return count;
}

void run_under_each_seed(const std::function<void()>& body) {
  for (std::uint64_t seed = 1; seed <= seed_count; ++seed) {
    VirtualTime time;
    Scheduler scheduler(time, {.shuffle_seed = seed});
    EXPECT_TRUE(scheduler.run("main", body));
  }
}

void lock_free_mutex() {
  Mutex mutex;
  const std::scoped_lock lock(mutex);
}

TEST(MightSuspendTest, CallsThatNeedNotWaitSuspendUnderSomeSeeds) {
  EXPECT_THAT(times_suspended(lock_free_mutex), Gt(0u));
  EXPECT_THAT(times_suspended([] {
                SharedMutex mutex;
                mutex.lock_shared();
                mutex.unlock_shared();
              }),
              Gt(0u));
  EXPECT_THAT(times_suspended([] { EXPECT_TRUE(Semaphore(1).acquire(Deadline::never())); }),
              Gt(0u));
  EXPECT_THAT(times_suspended([] { EXPECT_TRUE(Channel<int>(1).send(1, Deadline::never())); }),
              Gt(0u));
  EXPECT_THAT(times_suspended([] { EXPECT_TRUE(Latch(0).wait(Deadline::never())); }), Gt(0u));
  EXPECT_THAT(times_suspended([] { EXPECT_TRUE(TaskGroup().join(Deadline::never())); }), Gt(0u));
  EXPECT_THAT(times_suspended([] { EXPECT_TRUE(sleep_for(0s)); }), Gt(0u));
  EXPECT_THAT(times_suspended([] {
                Semaphore one(1);
                Semaphore none(0);
                EXPECT_TRUE(select(one.acquiring(), none.acquiring(), Deadline::never()));
              }),
              Gt(0u));
  EXPECT_THAT(times_suspended([] { might_suspend(); }), Gt(0u));
}

TEST(MightSuspendTest, CallsThatPromiseNotToSuspendDoNot) {
  EXPECT_EQ(times_suspended([] {
              Mutex mutex;
              EXPECT_TRUE(mutex.try_lock());
              mutex.unlock();
              SharedMutex shared;
              EXPECT_TRUE(shared.try_lock());
              shared.unlock();
              EXPECT_TRUE(Semaphore(1).try_acquire());
              Channel<int> numbers(1);
              EXPECT_TRUE(numbers.try_send(1));
              EXPECT_EQ(numbers.try_receive(), 1);
              Event().set();
            }),
            0u);
}

TEST(MightSuspendTest, APassedDeadlineTurnsAWaitIntoATry) {
  EXPECT_EQ(times_suspended([] {
              EXPECT_TRUE(Semaphore(1).acquire(Deadline::passed()));
              EXPECT_THAT(Semaphore(0).acquire(Deadline::passed()),
                          fails_with(Code::deadline_exceeded));
              EXPECT_TRUE(sleep_until(Deadline::passed()));
            }),
            0u);
}

TEST(MightSuspendTest, NothingSuspendsInsideANoSuspend) {
  EXPECT_EQ(times_suspended([] {
              const NoSuspend indivisible;
              lock_free_mutex();
              EXPECT_TRUE(Channel<int>(1).send(1, Deadline::never()));
              EXPECT_TRUE(sleep_for(0s));
            }),
            0u);
}

TEST(MightSuspendTest, NothingSuspendsWithoutExploration) {
  EXPECT_EQ(times_suspended(lock_free_mutex, {.explores_suspensions = false}), 0u);
}

TEST(MightSuspendTest, ACancelledTaskIsGivenWhatIsThereAtOnce) {
  EXPECT_EQ(times_suspended([] {
              const CancelScope part(Deadline::passed());
              Channel<int> numbers(1);
              EXPECT_TRUE(numbers.send(1, Deadline::never()));
              EXPECT_EQ(numbers.receive(Deadline::never()), 1);
              EXPECT_THAT(numbers.receive(Deadline::never()), fails_with(Code::cancelled));
            }),
            0u);
}

TEST(MightSuspendTest, ALockIgnoresCancellationAsEver) {
  EXPECT_THAT(times_suspended([] {
                const CancelScope part(Deadline::passed());
                lock_free_mutex();
              }),
              Gt(0u));
}

TEST(MightSuspendTest, ATaskThatIsCancelledMeanwhileIsGivenWhatIsThere) {
  run_under_each_seed([] {
    Channel<int> numbers(1);
    EXPECT_TRUE(numbers.try_send(1));
    auto task = spawn("receiver", [&] { return numbers.receive(Deadline::never()); });
    EXPECT_TRUE(yield());
    task.cancel();
    EXPECT_EQ(task.join(Deadline::never()), 1);
  });
}

// Between the look at the event and the place in its queue nothing else may run.
TEST(MightSuspendTest, AWaitMissesNoPulse) {
  run_under_each_seed([] {
    Event changed;
    bool is_done = false;
    auto waiter = spawn("waiter", [&]() -> Result<void> {
      while (!is_done) {
        if (auto waited = changed.wait(Deadline::after(1s)); !waited) return waited;
      }
      return {};
    });
    auto other = spawn("other", [&] {
      is_done = true;
      changed.pulse();
    });
    EXPECT_TRUE(waiter.join(Deadline::never()));
    EXPECT_TRUE(other.join(Deadline::never()));
  });
}

TEST(MightSuspendTest, TheSameSeedSuspendsInTheSamePlaces) {
  const auto places_of = [](std::uint64_t seed) {
    VirtualTime time;
    Scheduler scheduler(time, {.shuffle_seed = seed});
    std::string places;
    EXPECT_TRUE(scheduler.run("main", [&] {
      for (int i = 0; i < 20; ++i) {
        const std::uint64_t before = scheduler.switch_count();
        lock_free_mutex();
        places.push_back(scheduler.switch_count() == before ? '.' : 's');
      }
    }));
    return places;
  };
  EXPECT_EQ(places_of(7), places_of(7));
  EXPECT_NE(places_of(7), places_of(8));
}

// Runs others while it should not: takes the lock and gives it back.
Async<void> lock(Mutex& mutex) {
  auto locked = co_await until(mutex.locking(), Deadline::never());
  if (!locked) co_return locked.error();
  mutex.unlock();
  co_return {};
}

Async<void> select_one() {
  Semaphore one(1);
  Semaphore none(0);
  auto first = co_await until(none.acquiring(), one.acquiring(), Deadline::never());
  if (!first) co_return first.error();
  EXPECT_EQ(first->index(), 1u);
  co_return {};
}

Async<void> pause() {
  auto slept = co_await until(Deadline::after(0s));
  if (!slept) co_return slept.error();
  co_return {};
}

TEST(MightSuspendTest, AStacklessCoroutineSuspendsUnderSomeSeeds) {
  EXPECT_THAT(times_suspended([] {
                Mutex mutex;
                EXPECT_TRUE(await(lock(mutex)));
              }),
              Gt(0u));
  EXPECT_THAT(times_suspended([] { EXPECT_TRUE(await(select_one())); }), Gt(0u));
  EXPECT_THAT(times_suspended([] { EXPECT_TRUE(await(pause())); }), Gt(0u));
}

TEST(MightSuspendTest, AStacklessCoroutineRespectsTheNoSuspendOfItsTask) {
  EXPECT_EQ(times_suspended([] {
              const NoSuspend indivisible;
              Mutex mutex;
              EXPECT_TRUE(await(lock(mutex)));
              EXPECT_TRUE(await(select_one()));
            }),
            0u);
}

// A lock that was free when the detour began may be held when it ends: then the coroutine waits.
TEST(MightSuspendTest, StacklessCoroutinesShareALockUnderEachSeed) {
  run_under_each_seed([] {
    Mutex mutex;
    AsyncGroup group;
    for (int i = 0; i < 5; ++i) group.spawn(lock(mutex));
    auto holder = spawn("holder", [&] {
      const std::scoped_lock held(mutex);
      return sleep_for(1s);
    });
    EXPECT_TRUE(await(lock(mutex)));
    EXPECT_TRUE(group.join(Deadline::never()));
    EXPECT_TRUE(holder.join(Deadline::never()));
  });
}

TEST(MightSuspendTest, CancellingStacklessCoroutinesLeavesNothingBehindUnderAnySeed) {
  run_under_each_seed([] {
    Mutex mutex;
    AsyncGroup group;
    for (int i = 0; i < 5; ++i) group.spawn(lock(mutex));
    static_cast<void>(yield());
    group.cancel_and_join();
    auto task = spawn("awaiter", [&] { return await(lock(mutex)); });
    static_cast<void>(yield());
    task.cancel();
  });
}

}  // namespace
}  // namespace corolane::coroutine
