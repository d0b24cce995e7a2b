// SPDX-License-Identifier: MIT
// Blocking work on real threads. A test opens a Door to let a function continue, and so decides the
// order of events.
#include "net/uv/uv_worker_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "coroutine/task.h"
#include "coroutine/task_group.h"
#include "coroutine/testing/matchers.h"
#include "test/fixtures/real_loop.h"

namespace corolane::net {
namespace {

using namespace std::chrono_literals;
using test::fails_with;
using test::RealLoop;
using test::run_on_real_loop;
using test::soon;

class Door {
 public:
  void pass() {
    std::unique_lock lock(mutex_);
    opened_.wait(lock, [this] { return is_open_; });
  }
  void open() {
    const std::scoped_lock lock(mutex_);
    is_open_ = true;
    opened_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable opened_;
  bool is_open_ = false;
};

// Suspends until a worker has set it.
void wait_for(const std::atomic<bool>& fact) {
  while (!fact) ASSERT_TRUE(coroutine::sleep_for(1ms));
}

TEST(UvWorkerPoolTest, TheFunctionRunsOnAnotherThreadAndTheTaskResumesOnItsOwn) {
  run_on_real_loop([](RealLoop& real) {
    UvWorkerPool pool(real.loop);
    const auto here = std::this_thread::get_id();
    const auto there = run_blocking(pool, [] { return std::this_thread::get_id(); }, soon());
    ASSERT_TRUE(there) << there;
    EXPECT_NE(*there, here);
    EXPECT_EQ(std::this_thread::get_id(), here);
    EXPECT_EQ(pool.job_count(), 0u);
  });
}

TEST(UvWorkerPoolTest, OtherTasksRunMeanwhile) {
  run_on_real_loop([](RealLoop& real) {
    UvWorkerPool pool(real.loop);
    auto door = std::make_shared<Door>();
    auto opener = coroutine::spawn("opener", [&] { door->open(); });
    EXPECT_TRUE(run_blocking(pool, [door] { door->pass(); }, soon()));
    EXPECT_TRUE(opener.is_done());
  });
}

TEST(UvWorkerPoolTest, ATaskThatGivesUpContinuesWhileItsFunctionRunsToItsEnd) {
  auto has_ended = std::make_shared<std::atomic<bool>>(false);
  run_on_real_loop([&](RealLoop& real) {
    UvWorkerPool pool(real.loop);
    auto door = std::make_shared<Door>();
    auto has_begun = std::make_shared<std::atomic<bool>>(false);
    auto waiting = coroutine::spawn("waiting", [&] {
      const auto work = [door, has_begun, has_ended] {
        *has_begun = true;
        door->pass();
        *has_ended = true;
      };
      return run_blocking(pool, work, soon());
    });
    ASSERT_TRUE(coroutine::yield());
    wait_for(*has_begun);
    waiting.cancel();
    EXPECT_THAT(waiting.join(soon()), fails_with(Code::cancelled));
    EXPECT_FALSE(*has_ended);
    EXPECT_EQ(pool.job_count(), 1u);
    EXPECT_EQ(real.loop.open_handle_count(), 0u);
    door->open();
  });
  EXPECT_TRUE(*has_ended) << "the loop waited for it";
}

TEST(UvWorkerPoolTest, TheStateOfAFunctionIsDestroyedOnTheSchedulersThread) {
  auto destroyed_on = std::make_shared<std::thread::id>();
  run_on_real_loop([&](RealLoop& real) {
    UvWorkerPool pool(real.loop);
    const auto note = [destroyed_on](int* value) {
      *destroyed_on = std::this_thread::get_id();
      delete value;
    };
    auto owned = std::shared_ptr<int>(new int(1), note);
    auto door = std::make_shared<Door>();
    auto work = [owned = std::move(owned), door] { door->pass(); };
    EXPECT_THAT(run_blocking(pool, std::move(work), Deadline::after(1ms)),
                fails_with(Code::deadline_exceeded));
    door->open();
  });
  EXPECT_EQ(*destroyed_on, std::this_thread::get_id());
}

TEST(UvWorkerPoolTest, AFunctionThatHasNotBegunNeverRunsAfterItsTaskGaveUp) {
  run_on_real_loop([](RealLoop& real) {
    UvWorkerPool pool(real.loop, {.job_count_max = 1000});
    auto door = std::make_shared<Door>();
    coroutine::TaskGroup blockers;
    for (int number = 0; number < 100; ++number) {  // More than there are threads.
      ASSERT_TRUE(blockers.spawn("blocker", [&]() -> Result<void> {
        return run_blocking(pool, [door] { door->pass(); }, soon());
      }));
    }
    ASSERT_TRUE(coroutine::yield());
    auto has_run = std::make_shared<std::atomic<bool>>(false);
    EXPECT_THAT(run_blocking(
                    pool, [has_run] { *has_run = true; }, Deadline::after(1ms)),
                fails_with(Code::deadline_exceeded));
    door->open();
    EXPECT_TRUE(blockers.join(soon()));
    EXPECT_FALSE(*has_run);
    EXPECT_EQ(pool.job_count(), 0u);
  });
}

TEST(UvWorkerPoolTest, OneJobTooManyIsRefusedEvenIfTheOthersWereAbandoned) {
  run_on_real_loop([](RealLoop& real) {
    UvWorkerPool pool(real.loop, {.job_count_max = 1});
    auto door = std::make_shared<Door>();
    auto has_begun = std::make_shared<std::atomic<bool>>(false);
    auto first = coroutine::spawn("first", [&] {
      const auto work = [door, has_begun] {
        *has_begun = true;
        door->pass();
      };
      return run_blocking(pool, work, soon());
    });
    ASSERT_TRUE(coroutine::yield());
    wait_for(*has_begun);
    first.cancel();
    EXPECT_THAT(first.join(soon()), fails_with(Code::cancelled));
    EXPECT_THAT(run_blocking(pool, [] {}, soon()), fails_with(Code::resource_exhausted));
    door->open();
    while (pool.job_count() > 0) ASSERT_TRUE(coroutine::sleep_for(1ms));
    EXPECT_TRUE(run_blocking(pool, [] {}, soon()));
  });
}

TEST(UvWorkerPoolTest, ManyTasksShareTheThreads) {
  run_on_real_loop([](RealLoop& real) {
    UvWorkerPool pool(real.loop);
    std::uint64_t sum = 0;
    coroutine::TaskGroup tasks;
    for (std::uint64_t number = 1; number <= 200; ++number) {
      ASSERT_TRUE(tasks.spawn("job", [&, number]() -> Result<void> {
        auto squared = run_blocking(pool, [number] { return number * number; }, soon());
        if (!squared) return squared.error();
        sum += *squared;
        return {};
      }));
    }
    EXPECT_TRUE(tasks.join(soon()));
    EXPECT_EQ(sum, 200u * 201u * 401u / 6u);
  });
}

TEST(UvWorkerPoolTest, GivingUpAtRandomMomentsLosesAndLeaksNothing) {
  auto alive = std::make_shared<int>(0);  // Counts by its owners.
  run_on_real_loop([&](RealLoop& real) {
    UvWorkerPool pool(real.loop);
    for (int round = 0; round < 200; ++round) {
      const auto deadline = Deadline::after(std::chrono::microseconds(round % 50));
      const auto done = run_blocking(pool, [alive] { return alive.use_count(); }, deadline);
      EXPECT_TRUE(done || done.error().code() == Code::deadline_exceeded) << done;
    }
  });
  EXPECT_EQ(alive.use_count(), 1);
}

}  // namespace
}  // namespace corolane::net
