// SPDX-License-Identifier: MIT
#include "coroutine/sync/event.h"

#include <gtest/gtest.h>

#include <chrono>
#include <vector>

#include "coroutine/scheduler.h"
#include "coroutine/task_group.h"
#include "coroutine/testing/matchers.h"

namespace corolane::coroutine {
namespace {

using namespace std::chrono_literals;
using test::fails_with;

TEST(EventTest, SetWakesAllInTheOrderOfTheirWaits) {
  Event event;
  std::vector<int> woken;
  TaskGroup group;
  for (int number = 0; number < 3; ++number) {
    EXPECT_TRUE(group.spawn("waiter", [&, number]() -> Result<void> {
      if (auto waited = event.wait(Deadline::never()); !waited) return waited;
      woken.push_back(number);
      return {};
    }));
  }
  EXPECT_TRUE(sleep_for(1s));
  EXPECT_TRUE(woken.empty());
  event.set();
  EXPECT_TRUE(group.join());
  EXPECT_EQ(woken, std::vector({0, 1, 2}));
}

TEST(EventTest, ASetEventIsNotWaitedFor) {
  Event event;
  EXPECT_FALSE(event.is_set());
  event.set();
  EXPECT_TRUE(event.is_set());
  EXPECT_TRUE(event.wait(Deadline::never()));
  EXPECT_TRUE(event.wait(Deadline::passed()));
}

TEST(EventTest, AResetEventIsWaitedForAgain) {
  Event event;
  event.set();
  event.reset();
  EXPECT_FALSE(event.is_set());
  EXPECT_THAT(event.wait(Deadline::after(1s)), fails_with(Code::deadline_exceeded));
}

TEST(EventTest, APulseWakesPresentWaitersAndIsNotRemembered) {
  Event event;
  auto waiter = spawn("waiter", [&] { return event.wait(Deadline::never()); });
  EXPECT_TRUE(yield());
  event.pulse();
  EXPECT_TRUE(waiter.join());
  EXPECT_FALSE(event.is_set());
  EXPECT_THAT(event.wait(Deadline::after(1s)), fails_with(Code::deadline_exceeded));
}

TEST(EventTest, AWaitGivesUpExactlyOnItsDeadline) {
  Event event("a letter");
  const TimePoint start = now();
  const auto waited = event.wait(Deadline::after(3s));
  EXPECT_THAT(waited, fails_with(Code::deadline_exceeded));
  EXPECT_NE(waited.error().message().find("a letter"), std::string::npos);
  EXPECT_EQ(now(), start + 3s);
}

TEST(EventTest, TheLoopMaySetIt) {
  Event event;
  Scheduler::current().post([&] { event.set(); });
  EXPECT_TRUE(event.wait(Deadline::never()));
}

}  // namespace
}  // namespace corolane::coroutine
