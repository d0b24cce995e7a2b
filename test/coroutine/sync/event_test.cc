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
  EXPECT_TRUE(group.join(Deadline::never()));
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
  EXPECT_TRUE(waiter.join(Deadline::never()));
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

TEST(EventTest, APulseTellsHowManyItWoke) {
  Event changed;
  EXPECT_EQ(changed.pulse(), 0u);
  EXPECT_FALSE(changed.pulse_one());
  EXPECT_FALSE(changed.has_waiters());
  int woken_count = 0;
  const auto wait = [&] {
    EXPECT_TRUE(changed.wait(Deadline::never()));
    ++woken_count;
  };
  auto first = spawn("first", wait);
  auto second = spawn("second", wait);
  auto third = spawn("third", wait);
  EXPECT_TRUE(yield());
  EXPECT_TRUE(changed.has_waiters());
  EXPECT_TRUE(changed.pulse_one());
  EXPECT_TRUE(first.join(Deadline::never()));
  EXPECT_EQ(woken_count, 1);
  EXPECT_EQ(changed.pulse(), 2u);
  EXPECT_TRUE(second.join(Deadline::never()));
  EXPECT_TRUE(third.join(Deadline::never()));
}

TEST(EventTest, AnUncancelledWaitLastsUntilTheEventOrTheDeadline) {
  Event event;
  auto waiting = spawn("waiting", [&] {
    EXPECT_FALSE(event.wait_uncancelled(Deadline::after(1s)));
    EXPECT_TRUE(event.wait_uncancelled(Deadline::never()));
    EXPECT_TRUE(event.wait_uncancelled(Deadline::passed()));
    return now();
  });
  EXPECT_TRUE(yield());
  waiting.cancel();
  EXPECT_TRUE(sleep_for(5s));
  const TimePoint set_at = now();
  event.set();
  EXPECT_EQ(waiting.join(Deadline::never()), Result<TimePoint>(set_at));
}

}  // namespace
}  // namespace corolane::coroutine
