// SPDX-License-Identifier: MIT
#include "coroutine/stackless_info.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "coroutine/async/async_group.h"
#include "coroutine/scheduler.h"
#include "coroutine/sync/event.h"
#include "coroutine/task.h"
#include "coroutine/virtual_time.h"

namespace corolane::coroutine {
namespace {

using namespace std::chrono_literals;
using testing::EndsWith;
using testing::HasSubstr;

Async<void> wait_for(Event& event) { co_return co_await until(event.waiting(), Deadline::never()); }

Async<void> sleep_long() { co_return co_await until(Deadline::after(20h)); }

// The innermost coroutine waits.
Async<void> wait_inside(Event& event) { co_return co_await wait_for(event); }

TEST(StacklessInfoTest, CoroutinesThatWaitInTheSameFunctionForTheSameAreOneRow) {
  Event dawn("dawn");
  AsyncGroup birds;
  AsyncGroup bats;
  for (int number = 0; number < 5; ++number) birds.spawn(wait_for(dawn));
  birds.spawn(wait_inside(dawn));
  birds.spawn(sleep_long());
  EXPECT_TRUE(sleep_for(10min));
  bats.spawn(wait_for(dawn));
  EXPECT_TRUE(sleep_for(10s));
  bats.spawn(wait_for(dawn));  // Ready.

  const StacklessInfo info = Scheduler::current().stackless();
  EXPECT_EQ(info.count, 9u);
  EXPECT_EQ(info.seen_count, 9u);
  ASSERT_EQ(info.waits.size(), 4u);
  const StacklessWait& most = info.waits.front();
  EXPECT_EQ(most.count, 6u);
  EXPECT_EQ(most.waiting_for, "dawn");
  EXPECT_THAT(most.site.file_name(), EndsWith("stackless_info_test.cc"));
  EXPECT_NE(most.code, 0u);
  EXPECT_NEAR(static_cast<double>(most.longest / 1s), 610, 3);
  int ready_count = 0;
  for (const StacklessWait& wait : info.waits) {
    if (wait.waiting_for.empty()) ++ready_count;
    if (wait.waiting_for == "sleep") {
      EXPECT_NE(wait.code, most.code);
      EXPECT_EQ(wait.site.line(), most.site.line());
    }
  }
  EXPECT_EQ(ready_count, 1);
  EXPECT_THAT(to_text(info), HasSubstr("6 stackless coroutines, wait for dawn, 6"));
  dawn.set();
  birds.cancel();
  static_cast<void>(birds.join(Deadline::never()));
  EXPECT_TRUE(bats.join(Deadline::never()));
  EXPECT_EQ(Scheduler::current().stackless().count, 0u);
}

TEST(StacklessInfoTest, LooksAtAShareOfEachGroup) {
  Event event;
  AsyncGroup few;
  AsyncGroup many;
  for (int number = 0; number < 100; ++number) many.spawn(wait_for(event));
  few.spawn(wait_for(event));
  const StacklessInfo info = Scheduler::current().stackless(20);
  EXPECT_EQ(info.count, 101u);
  EXPECT_EQ(info.seen_count, 11u);
  EXPECT_THAT(to_text(info), HasSubstr("and 90 more"));
  event.set();
  EXPECT_TRUE(few.join(Deadline::never()));
  EXPECT_TRUE(many.join(Deadline::never()));
}

TEST(StacklessInfoTest, ASchedulerShowsItsOwn) {
  Event event;
  AsyncGroup group;
  group.spawn(wait_for(event));
  VirtualTime time;
  Scheduler inner(time);
  EXPECT_TRUE(inner.run("inner", [&] {
    Event inner_event;
    AsyncGroup inner_group;
    inner_group.spawn(wait_for(inner_event));
    inner_group.spawn(wait_for(inner_event));
    EXPECT_EQ(inner.stackless().count, 2u);
    inner_event.set();
    EXPECT_TRUE(inner_group.join(Deadline::never()));
  }));
  EXPECT_EQ(Scheduler::current().stackless().count, 1u);
  event.set();
  EXPECT_TRUE(group.join(Deadline::never()));
}

}  // namespace
}  // namespace corolane::coroutine
