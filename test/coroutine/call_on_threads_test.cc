// SPDX-License-Identifier: MIT
// Calls between schedulers that run on two threads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <functional>
#include <latch>
#include <memory>
#include <string>
#include <thread>

#include "coroutine/call_on.h"
#include "coroutine/scheduler.h"
#include "coroutine/sync/event.h"
#include "coroutine/task.h"
#include "coroutine/task_group.h"
#include "coroutine/testing/matchers.h"
#include "coroutine/testing/virtual_time.h"
#include "coroutine/virtual_time.h"

namespace corolane::coroutine {
namespace {

using test::fails_with;

// A scheduler on a thread of its own.
class Threaded {
 public:
  Threaded() : thread_([this] { run(); }) { started_.wait(); }
  ~Threaded() {
    scheduler.post([this] { stop_.set(); });
    thread_.join();
  }
  Threaded(const Threaded&) = delete;
  Threaded& operator=(const Threaded&) = delete;

  VirtualTime time;
  Scheduler scheduler{time};

 private:
  void run() {
    EXPECT_TRUE(scheduler.run("main", [this] {
      const VirtualTime::Outside outside(time);
      started_.count_down();
      EXPECT_TRUE(stop_.wait(Deadline::never()));
    }));
  }

  Event stop_;
  std::latch started_{1};
  std::thread thread_;
};

TEST(CallOnThreadsTest, RunsThereAndReturnsTheResult) {
  const VirtualTime::Outside outside(test::virtual_time());
  Threaded there;
  const auto home = std::this_thread::get_id();
  const auto got = call_on(
      there.scheduler, "answer",
      [&] {
        EXPECT_NE(std::this_thread::get_id(), home);
        EXPECT_EQ(&Scheduler::current(), &there.scheduler);
        EXPECT_TRUE(yield());
        return std::make_unique<int>(42);
      },
      Deadline::never());
  ASSERT_TRUE(got);
  EXPECT_EQ(**got, 42);
}

TEST(CallOnThreadsTest, ReturnsTheErrorOfTheFunction) {
  const VirtualTime::Outside outside(test::virtual_time());
  Threaded there;
  const auto refuse = []() -> Result<int> { return Error(Code::not_found, "no player"); };
  const auto got = call_on(there.scheduler, "refuse", refuse, Deadline::never());
  EXPECT_THAT(got, fails_with(Code::not_found));
  EXPECT_FALSE(got.error().not_executed());
}

TEST(CallOnOrLeaveThreadsTest, ReturnsTheResult) {
  const VirtualTime::Outside outside(test::virtual_time());
  Threaded there;
  const auto got = call_on_or_leave(
      there.scheduler, "answer", [] { return std::string("yes"); }, Deadline::never());
  EXPECT_EQ(got, Result<std::string>("yes"));
}

TEST(CallOnThreadsTest, TwoSchedulersCallEachOtherAtOnce) {
  constexpr int round_count = 200;
  const VirtualTime::Outside outside(test::virtual_time());
  Threaded there;
  Scheduler& home = Scheduler::current();
  int calls_here = 0;
  int calls_there = 0;
  for (int round = 0; round < round_count; ++round) {
    // There calls back while the call to it lasts.
    const auto got = call_on(
        there.scheduler, "call back",
        [&] {
          ++calls_there;
          return call_on(home, "count", [&] { return ++calls_here; }, Deadline::never());
        },
        Deadline::never());
    EXPECT_EQ(got, Result<int>(round + 1));
  }
  EXPECT_EQ(calls_there, round_count);
}

TEST(CallOnThreadsTest, ManyCallersOfTwoThreads) {
  constexpr int caller_count = 100;
  constexpr int call_count = 50;
  const VirtualTime::Outside outside(test::virtual_time());
  Threaded there;
  Scheduler& home = Scheduler::current();
  // No locks: each is counted by one thread.
  int count_there = 0;
  int count_here = 0;
  const auto call_often = [](Scheduler& scheduler, int& count) {
    TaskGroup callers;
    for (int caller = 0; caller < caller_count; ++caller) {
      EXPECT_TRUE(callers.spawn("caller", [&] {
        for (int call = 0; call < call_count; ++call) {
          EXPECT_TRUE(call_on(scheduler, "count", [&] { ++count; }, Deadline::never()));
        }
      }));
    }
    EXPECT_TRUE(callers.join(Deadline::never()));
  };
  auto back = spawn("calls back", [&] {
    return call_on(
        there.scheduler, "call back", [&] { call_often(home, count_here); }, Deadline::never());
  });
  call_often(there.scheduler, count_there);
  EXPECT_TRUE(back.join(Deadline::never()));
  EXPECT_EQ(count_there, caller_count * call_count);
  EXPECT_EQ(count_here, caller_count * call_count);
}

// Cancels each of many calls at another moment: before it begins, while it runs, as it ends.
// `call` runs a call there that first adds one to `begun_count`. Returns how many never began.
int cancel_calls(int call_count, std::atomic<int>& begun_count,
                 const std::function<Result<void>()>& call) {
  int not_executed_count = 0;
  for (int number = 0; number < call_count; ++number) {
    const int before = begun_count;
    bool has_called = false;
    auto caller = spawn("caller", [&] {
      has_called = true;
      const auto got = call();
      if (!got && got.error().not_executed()) ++not_executed_count;
    });
    while (!has_called) EXPECT_TRUE(yield());
    if (number % 4 != 0) {
      while (begun_count == before) std::this_thread::yield();
    }
    for (int pause = number % 64; pause > 0; --pause) static_cast<void>(begun_count.load());
    caller.cancel();
    EXPECT_TRUE(caller.join(Deadline::never()));
  }
  return not_executed_count;
}

TEST(CallOnThreadsTest, CancelledCallsSettleOnce) {
  constexpr int call_count = 2'000;
  const VirtualTime::Outside outside(test::virtual_time());
  Threaded there;
  std::atomic<int> begun_count = 0;
  const int not_executed_count = cancel_calls(call_count, begun_count, [&]() -> Result<void> {
    std::array<int, 4> local{};
    return call_on(
        there.scheduler, "work",
        [&] {
          ++begun_count;
          for (int& value : local) {
            value = 1;
            if (!yield()) return;
          }
        },
        Deadline::never());
  });
  EXPECT_EQ(begun_count, call_count - not_executed_count);
}

TEST(CallOnOrLeaveThreadsTest, CancelledCallsSettleOnce) {
  constexpr int call_count = 2'000;
  const VirtualTime::Outside outside(test::virtual_time());
  std::atomic<int> begun_count = 0;
  const auto ended_count = std::make_shared<std::atomic<int>>(0);
  int not_executed_count = 0;
  {
    Threaded there;
    not_executed_count = cancel_calls(call_count, begun_count, [&]() -> Result<void> {
      return call_on_or_leave(
          there.scheduler, "work",
          [&begun_count, ended_count] {
            ++begun_count;
            static_cast<void>(yield());
            ++*ended_count;
          },
          Deadline::never());
    });
  }
  EXPECT_EQ(ended_count.use_count(), 1);
  EXPECT_EQ(*ended_count, call_count - not_executed_count);
}

TEST(CallOnThreadsTest, TheSchedulerThereMayEndAfterAnyCall) {
  const VirtualTime::Outside outside(test::virtual_time());
  for (int round = 0; round < 50; ++round) {
    Threaded there;
    EXPECT_TRUE(call_on(there.scheduler, "visit", [] {}, Deadline::never()));
  }
}

}  // namespace
}  // namespace corolane::coroutine
