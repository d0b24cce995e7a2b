// SPDX-License-Identifier: MIT
// Claims about what is allowed inside a NoSuspend.
#include "coroutine/no_suspend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "coroutine/scheduler.h"
#include "coroutine/sync/channel.h"
#include "coroutine/sync/event.h"
#include "coroutine/sync/mutex.h"
#include "coroutine/task.h"
#include "coroutine/task_group.h"
#include "coroutine/virtual_time.h"

namespace corolane::coroutine {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;

TEST(NoSuspendTest, CallsThatNeedNotWaitAreFine) {
  Mutex mutex;
  Channel<int> numbers(1);
  Event open("a door");
  open.set();
  TaskGroup nobody;
  const NoSuspend indivisible;
  mutex.lock();
  mutex.unlock();
  EXPECT_TRUE(numbers.send(1, Deadline::never()));
  EXPECT_TRUE(numbers.receive(Deadline::never()));
  EXPECT_TRUE(open.wait(Deadline::never()));
  EXPECT_TRUE(nobody.join(Deadline::never()));
}

TEST(NoSuspendTest, TheTaskSuspendsAgainAfterItsEnd) {
  {
    const NoSuspend outer;
    const NoSuspend inner;
  }
  EXPECT_TRUE(yield());
  EXPECT_TRUE(sleep_for(1s));
}

TEST(NoSuspendTest, OtherTasksMaySuspend) {
  auto other = spawn("other", [] { return sleep_for(1s); });
  {
    const NoSuspend indivisible;
  }
  EXPECT_TRUE(other.join(Deadline::never()));
}

TEST(NoSuspendTest, LeavesTheTaskCancelledOrNot) {
  auto task = spawn("cancelled", [] {
    const NoSuspend indivisible;
    return is_cancelled();
  });
  task.cancel();
  EXPECT_EQ(task.join(Deadline::never()), true);
}

TEST(NoSuspendTest, DoesNothingOnTheLoop) {
  bool done = false;
  Scheduler::current().post([&] {
    const NoSuspend indivisible;
    done = true;
  });
  EXPECT_TRUE(sleep_for(1s));
  EXPECT_TRUE(done);
}

// Matches a failed check() that names `line` of this file.
auto names_line(std::uint_least32_t line) {
  return AllOf(HasSubstr("check failed: nothing suspends inside the NoSuspend that began at "),
               HasSubstr("no_suspend_test.cc:" + std::to_string(line) + "\n"));
}

TEST(NoSuspendTest, ASchedulerInsideHasTasksOfItsOwn) {
  const NoSuspend indivisible;
  VirtualTime time;
  Scheduler inner(time);
  EXPECT_TRUE(inner.run("inner", [] {
    {
      const NoSuspend also_here;
    }
    EXPECT_TRUE(sleep_for(1s));
  }));
}

TEST(NoSuspendDeathTest, AWaitInsideIsABug) {
  const auto wait = [] {
    const NoSuspend indivisible;
    static_cast<void>(sleep_for(1s));
  };
  EXPECT_DEATH(wait(), names_line(std::source_location::current().line() - 3));
}

TEST(NoSuspendDeathTest, AYieldInsideIsABug) {
  const auto wait = [] {
    const NoSuspend indivisible;
    static_cast<void>(yield());
  };
  EXPECT_DEATH(wait(), names_line(std::source_location::current().line() - 3));
}

TEST(NoSuspendDeathTest, AHeldMutexIsABug) {
  Mutex mutex;
  const auto wait = [&] {
    auto holder = spawn("holder", [&] {
      mutex.lock();
      return sleep_for(1s);
    });
    static_cast<void>(yield());
    const NoSuspend indivisible;
    mutex.lock();
  };
  EXPECT_DEATH(wait(), names_line(std::source_location::current().line() - 3));
}

TEST(NoSuspendDeathTest, TheInnermostScopeIsNamed) {
  const auto wait = [] {
    const NoSuspend outer;
    const NoSuspend inner;
    static_cast<void>(yield());
  };
  EXPECT_DEATH(wait(), names_line(std::source_location::current().line() - 3));
}

TEST(NoSuspendDeathTest, TheOuterScopeOutlastsTheInnerOne) {
  const auto wait = [] {
    const NoSuspend outer;
    {
      const NoSuspend inner;
    }
    static_cast<void>(yield());
  };
  EXPECT_DEATH(wait(), names_line(std::source_location::current().line() - 6));
}

}  // namespace
}  // namespace corolane::coroutine
