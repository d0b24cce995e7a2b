// SPDX-License-Identifier: MIT
#include "coroutine/task_group.h"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <stdexcept>
#include <vector>

#include "coroutine/scheduler.h"
#include "coroutine/testing/matchers.h"
#include "coroutine/virtual_time.h"

namespace corolane::coroutine {
namespace {

using namespace std::chrono_literals;
using test::fails_with;

TEST(TaskGroupTest, JoinWaitsForAllChildren) {
  const TimePoint start = now();
  TaskGroup group;
  int ended_count = 0;
  for (int number = 1; number <= 10; ++number) {
    EXPECT_TRUE(group.spawn("child", [&, number] {
      EXPECT_TRUE(sleep_for(number * 1s));
      ++ended_count;
    }));
  }
  EXPECT_EQ(group.size(), 10u);
  EXPECT_TRUE(group.join(Deadline::never()));
  EXPECT_EQ(ended_count, 10);
  EXPECT_EQ(group.size(), 0u);
  EXPECT_EQ(now(), start + 10s);
}

TEST(TaskGroupTest, AnEmptyGroupIsJoinedAtOnce) {
  TaskGroup group;
  EXPECT_TRUE(group.join(Deadline::never()));
  EXPECT_TRUE(group.join(Deadline::passed()));
}

TEST(TaskGroupTest, JoinReturnsTheFirstErrorSinceTheLastJoin) {
  TaskGroup group;
  const auto fail_after = [&](Duration delay, Code code) {
    EXPECT_TRUE(group.spawn("child", [delay, code]() -> Result<void> {
      EXPECT_TRUE(sleep_for(delay));
      return Error(code, "on purpose");
    }));
  };
  fail_after(2s, Code::aborted);
  fail_after(1s, Code::not_found);
  EXPECT_THAT(group.join(Deadline::never()), fails_with(Code::not_found));
  EXPECT_TRUE(group.join(Deadline::never()));
  fail_after(1s, Code::data_loss);
  EXPECT_THAT(group.join(Deadline::never()), fails_with(Code::data_loss));
}

TEST(TaskGroupTest, AFailedChildCancelsTheOthersWhenAskedTo) {
  const TimePoint start = now();
  TaskGroup group({.cancel_on_error = true});
  EXPECT_TRUE(group.spawn("sleeper", [] { return sleep_for(1h); }));
  EXPECT_TRUE(group.spawn("failing", []() -> Result<void> {
    EXPECT_TRUE(sleep_for(1s));
    return Error(Code::data_loss, "on purpose");
  }));
  EXPECT_THAT(group.join(Deadline::never()), fails_with(Code::data_loss));
  EXPECT_EQ(now(), start + 1s);
}

TEST(TaskGroupTest, AfterAnErrorNewChildrenAreCancelledUntilItIsReported) {
  TaskGroup group({.cancel_on_error = true});
  EXPECT_TRUE(group.spawn("failing", []() -> Result<void> { return Error(Code::aborted, ""); }));
  EXPECT_TRUE(sleep_for(1s));
  const auto expect_cancelled = [&](bool expected) {
    EXPECT_TRUE(group.spawn("child", [expected] { EXPECT_EQ(is_cancelled(), expected); }));
  };
  expect_cancelled(true);
  EXPECT_THAT(group.join(Deadline::never()), fails_with(Code::aborted));
  expect_cancelled(false);
  EXPECT_TRUE(group.join(Deadline::never()));
}

TEST(TaskGroupTest, JoinOrCancelLeavesNoChildToALateCaller) {
  const TimePoint start = now();
  TaskGroup group;
  bool was_cancelled = false;
  EXPECT_TRUE(group.spawn("sleeper", [&]() -> Result<void> {
    auto slept = sleep_for(1h);
    was_cancelled = !slept;
    return slept;
  }));
  EXPECT_THAT(group.join_or_cancel(Deadline::after(1s)), fails_with(Code::deadline_exceeded));
  EXPECT_TRUE(was_cancelled);
  EXPECT_EQ(now(), start + 1s);
  EXPECT_TRUE(group.join_or_cancel(Deadline::passed()));
}

TEST(TaskGroupTest, JoinOrCancelPrefersAnErrorBeforeTheDeadline) {
  TaskGroup group;
  EXPECT_TRUE(group.spawn("failing", []() -> Result<void> { return Error(Code::data_loss, ""); }));
  EXPECT_TRUE(group.spawn("sleeper", [] { return sleep_for(1h); }));
  EXPECT_THAT(group.join_or_cancel(Deadline::after(1s)), fails_with(Code::data_loss));
}

TEST(TaskGroupTest, JoinOrCancelEndsTheChildrenOfACancelledCaller) {
  int ended_count = 0;
  auto caller = spawn("caller", [&] {
    TaskGroup group;
    EXPECT_TRUE(group.spawn("sleeper", [&] {
      EXPECT_FALSE(sleep_for(1h));
      ++ended_count;
    }));
    auto joined = group.join_or_cancel(Deadline::never());
    EXPECT_EQ(group.size(), 0u);
    return joined;
  });
  EXPECT_TRUE(sleep_for(1s));
  caller.cancel();
  EXPECT_THAT(caller.join(Deadline::never()), fails_with(Code::cancelled));
  EXPECT_EQ(ended_count, 1);
}

TEST(TaskGroupTest, AStrayExceptionOfAChildIsAnInternalError) {
  TaskGroup group;
  EXPECT_TRUE(group.spawn("careless", [] { throw std::runtime_error("index 9 of 8"); }));
  const auto joined = group.join(Deadline::never());
  EXPECT_THAT(joined, fails_with(Code::internal));
  EXPECT_NE(joined.error().message().find("index 9 of 8"), std::string::npos);
}

TEST(TaskGroupTest, ChildrenMaySpawnSiblingsMeanwhile) {
  TaskGroup group;
  int count = 0;
  std::function<void(int)> spawn_next = [&](int rest) {
    ++count;
    if (rest == 0) return;
    EXPECT_TRUE(group.spawn("sibling", [&, rest] { spawn_next(rest - 1); }));
  };
  EXPECT_TRUE(group.spawn("first", [&] { spawn_next(9); }));
  EXPECT_TRUE(group.join(Deadline::never()));
  EXPECT_EQ(count, 10);
}

TEST(TaskGroupTest, AChildGivesItsStackBackAsSoonAsItEnds) {
  const auto in_use = [] { return Scheduler::current().stacks().statistics().in_use_count; };
  const std::size_t in_use_before = in_use();
  TaskGroup group;
  EXPECT_TRUE(group.spawn("short", [] {}));
  EXPECT_TRUE(group.spawn("long", [] { return sleep_for(1s); }));
  EXPECT_EQ(in_use(), in_use_before + 2);
  EXPECT_TRUE(yield());
  EXPECT_EQ(in_use(), in_use_before + 1);
  EXPECT_EQ(group.size(), 1u);
  EXPECT_TRUE(group.join(Deadline::never()));
  EXPECT_EQ(in_use(), in_use_before);
}

TEST(TaskGroupTest, CancelEndsEveryChildAndTheGroupCanBeUsedAgain) {
  TaskGroup group;
  for (int number = 0; number < 10; ++number) {
    EXPECT_TRUE(group.spawn("sleeper", [] { return sleep_for(24h); }));
  }
  EXPECT_TRUE(yield());
  group.cancel();
  EXPECT_EQ(group.size(), 10u);
  EXPECT_THAT(group.join(Deadline::never()), fails_with(Code::cancelled));
  EXPECT_TRUE(group.spawn("sleeper", [] { return sleep_for(1s); }));
  EXPECT_TRUE(group.join(Deadline::never()));
}

TEST(TaskGroupTest, ARefNamesOneChildForCancelling) {
  TaskGroup group;
  const auto first = group.spawn("first", [] { return sleep_for(24h); });
  const auto second = group.spawn("second", [] { return sleep_for(1s); });
  ASSERT_TRUE(first && second);
  EXPECT_TRUE(*first);
  EXPECT_FALSE(TaskRef());
  first->cancel();
  const TimePoint start = now();
  EXPECT_THAT(group.join(Deadline::never()), fails_with(Code::cancelled));
  EXPECT_EQ(now(), start + 1s);
}

TEST(TaskGroupTest, TheDestructorCancelsAndWaitsForAllChildren) {
  int ended_count = 0;
  {
    TaskGroup group;
    for (int number = 0; number < 10; ++number) {
      EXPECT_TRUE(group.spawn("sleeper", [&] {
        EXPECT_THAT(sleep_for(24h), fails_with(Code::cancelled));
        ++ended_count;
      }));
    }
  }
  EXPECT_EQ(ended_count, 10);
}

TEST(TaskGroupTest, TheDestructorAlsoEndsTasksThatChildrenSpawnMeanwhile) {
  const TimePoint start = now();
  {
    TaskGroup group;
    EXPECT_TRUE(group.spawn("parent", [&group] {
      EXPECT_TRUE(group.spawn("late child", [] { return sleep_for(24h); }));
    }));
  }
  EXPECT_EQ(now(), start);
}

TEST(TaskGroupTest, ACancelledAndJoinedGroupCanBeUsedAgain) {
  TaskGroup group;
  EXPECT_TRUE(group.spawn("sleeper", [] { return sleep_for(24h); }));
  const TimePoint start = now();
  group.cancel_and_join();
  EXPECT_EQ(group.size(), 0u);
  EXPECT_EQ(now(), start);
  EXPECT_TRUE(group.spawn("sleeper", [] { return sleep_for(1s); }));
  EXPECT_THAT(group.join(Deadline::never()),
              fails_with(Code::cancelled));  // The first sleeper's error.
  EXPECT_EQ(now(), start + 1s);
}

TEST(TaskGroupTest, JoinAlsoWaitsForAChildSpawnedBeforeItCouldReturn) {
  const TimePoint start = now();
  TaskGroup group;
  EXPECT_TRUE(group.spawn("child", [] { return sleep_for(1s); }));
  // Runs after the last child has ended and before the joiner that this made ready.
  auto stranger = spawn("stranger", [&] {
    EXPECT_TRUE(sleep_for(1s));
    EXPECT_TRUE(group.spawn("another child", [] { return sleep_for(1s); }));
  });
  EXPECT_TRUE(group.join(Deadline::never()));
  EXPECT_EQ(now(), start + 2s);
}

TEST(TaskGroupTest, AJoinThatTimesOutLeavesTheChildrenOwned) {
  const TimePoint start = now();
  TaskGroup group;
  EXPECT_TRUE(group.spawn("slow", [] { return sleep_for(5s); }));
  EXPECT_THAT(group.join(Deadline::after(2s)), fails_with(Code::deadline_exceeded));
  EXPECT_EQ(group.size(), 1u);
  EXPECT_TRUE(group.join(Deadline::never()));
  EXPECT_EQ(now(), start + 5s);
}

TEST(TaskGroupTest, ACancelledJoinerLeavesTheChildrenRunning) {
  TaskGroup group;
  EXPECT_TRUE(group.spawn("slow", [] { return sleep_for(5s); }));
  auto joiner = spawn("joiner", [&] { return group.join(Deadline::never()); });
  EXPECT_TRUE(yield());
  joiner.cancel();
  EXPECT_THAT(joiner.join(Deadline::never()), fails_with(Code::cancelled));
  EXPECT_TRUE(group.join(Deadline::never()));
}

TEST(TaskGroupTest, AReferenceToAnEndedTaskCancelsNoOther) {
  TaskGroup group;
  const auto ended = group.spawn("short", [] {});
  ASSERT_TRUE(ended);
  EXPECT_TRUE(group.join(Deadline::never()));
  ended->cancel();
  // Gets the stack of the one that has ended.
  auto innocent = spawn("innocent", [] { return sleep_for(1s); });
  ended->cancel();
  EXPECT_TRUE(yield());
  ended->cancel();
  EXPECT_TRUE(innocent.join(Deadline::never()));
  ended->cancel();
  EXPECT_TRUE(yield());
  TaskRef().cancel();
}

TEST(TaskGroupTest, SpawnFailsWithResourceExhaustedAtTheCap) {
  VirtualTime time;
  Scheduler scheduler(time, {.stacks = {.stack_count_max = 3}});
  const auto ran = scheduler.run("main", [] {
    TaskGroup group;
    EXPECT_TRUE(group.spawn("first", [] {}));
    EXPECT_TRUE(group.spawn("second", [] {}));
    EXPECT_THAT(group.spawn("third", [] {}), fails_with(Code::resource_exhausted));
    EXPECT_EQ(group.size(), 2u);
    EXPECT_TRUE(group.join(Deadline::never()));
    EXPECT_TRUE(group.spawn("fourth", [] {}));
    EXPECT_TRUE(group.join(Deadline::never()));
  });
  EXPECT_TRUE(ran);
}

}  // namespace
}  // namespace corolane::coroutine
