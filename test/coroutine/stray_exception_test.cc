// SPDX-License-Identifier: MIT
// Every stray exception is reported, whatever owns the task and whatever it does with the result.
#include "coroutine/stray_exception.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "coroutine/async/async.h"
#include "coroutine/async/async_group.h"
#include "coroutine/scheduler.h"
#include "coroutine/task.h"
#include "coroutine/task_group.h"
#include "coroutine/virtual_time.h"

namespace corolane::coroutine {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

void fail() { throw std::runtime_error("out of cheese"); }

// The reports during `body`, which runs in a scheduler of its own: "task: what".
std::vector<std::string> told_while(std::move_only_function<void()> body) {
  std::vector<std::string> told;
  VirtualTime time;
  Scheduler scheduler(
      time, {.on_stray_exception = [&](const StrayException& stray) {
        told.push_back(std::string(stray.task_name) + ": " + std::string(stray.what));
      }});
  static_cast<void>(scheduler.run("main", std::move(body)));
  EXPECT_EQ(scheduler.statistics().stray_exception_count, told.size());
  return told;
}

TEST(StrayExceptionTest, IsReportedForAJoinedTask) {
  const auto told = told_while([] { EXPECT_FALSE(spawn("joined", fail).join(Deadline::never())); });
  EXPECT_THAT(told, ElementsAre("joined: out of cheese"));
}

TEST(StrayExceptionTest, IsReportedForATaskWhoseResultIsNotRead) {
  const auto told = told_while([] { auto dropped = spawn("dropped", fail); });
  EXPECT_THAT(told, ElementsAre("dropped: out of cheese"));
}

TEST(StrayExceptionTest, IsReportedForEveryChildOfAGroup) {
  const auto told = told_while([] {
    TaskGroup group;
    EXPECT_TRUE(group.spawn("first", fail));
    EXPECT_TRUE(group.spawn("second", fail));
    EXPECT_FALSE(group.join(Deadline::never()));
  });
  EXPECT_THAT(told, ElementsAre("first: out of cheese", "second: out of cheese"));
}

TEST(StrayExceptionTest, IsReportedForTheMainTask) {
  EXPECT_THAT(told_while(fail), ElementsAre("main: out of cheese"));
}

TEST(StrayExceptionTest, IsReportedWithoutAStdException) {
  const auto told = told_while([] { auto odd = spawn("odd", [] { throw 17; }); });
  EXPECT_THAT(told, ElementsAre("odd: (not a std::exception)"));
}

TEST(StrayExceptionTest, TheSpawnSiteIsReported) {
  std::source_location site;
  VirtualTime time;
  Scheduler scheduler(
      time, {.on_stray_exception = [&](const StrayException& stray) { site = stray.spawn_site; }});
  std::uint_least32_t line = 0;
  // Outside any macro, since all lines of a macro count as its first.
  const auto drop_one = [&] {
    auto dropped = spawn("dropped", fail);
    line = std::source_location::current().line() - 1;
  };
  EXPECT_TRUE(scheduler.run("main", drop_one));
  EXPECT_EQ(site.line(), line);
}

Async<void> fail_stackless() {
  fail();
  co_return {};
}

TEST(StrayExceptionTest, IsReportedForAStacklessCoroutineWithItsAwaitingTask) {
  const auto told = told_while([] {
    EXPECT_FALSE(await(fail_stackless()));
    AsyncGroup group;
    group.spawn(fail_stackless());
    EXPECT_FALSE(group.join(Deadline::never()));
  });
  EXPECT_THAT(told, ElementsAre("main: out of cheese", ": out of cheese"));
}

TEST(StrayExceptionTest, IsPrintedToStderrForAStacklessCoroutineByDefault) {
  testing::internal::CaptureStderr();
  EXPECT_FALSE(await(fail_stackless()));
  AsyncGroup group;
  group.spawn(fail_stackless());
  EXPECT_FALSE(group.join(Deadline::never()));
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_THAT(text, HasSubstr("stray exception: a stackless coroutine of task \""));
  EXPECT_THAT(text, HasSubstr("stray exception: a stackless coroutine of a group ended with "
                              "\"out of cheese\"\n"));
}

TEST(StrayExceptionTest, IsPrintedToStderrByDefault) {
  testing::internal::CaptureStderr();
  {
    auto dropped = spawn("a\n", fail);
  }
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_THAT(text, HasSubstr(R"(stray exception: task "a\n", spawned at )"));
  EXPECT_THAT(text, HasSubstr("stray_exception_test.cc:"));
  EXPECT_THAT(text, HasSubstr(", ended with \"out of cheese\"\n"));
}

TEST(StrayExceptionDeathTest, ACallbackThatSuspendsAborts) {
  const auto suspend = [] {
    VirtualTime time;
    Scheduler scheduler(
        time, {.on_stray_exception = [](const StrayException&) { static_cast<void>(yield()); }});
    static_cast<void>(scheduler.run("main", fail));
  };
  EXPECT_DEATH(suspend(), "nothing suspends inside the NoSuspend");
}

}  // namespace
}  // namespace corolane::coroutine
