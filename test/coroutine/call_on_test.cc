// SPDX-License-Identifier: MIT
#include "coroutine/call_on.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <stdexcept>
#include <vector>

#include "coroutine/scheduler.h"
#include "coroutine/sync/event.h"
#include "coroutine/task.h"
#include "coroutine/task_group.h"
#include "coroutine/testing/matchers.h"
#include "coroutine/virtual_time.h"
#include "coroutine/wait_queue.h"

namespace corolane::coroutine {
namespace {

using namespace std::chrono_literals;
using test::fails_with;

constexpr Deadline never = Deadline::never();

// A scheduler that the test's own task drives in steps: what happens when is exact.
class Stepped {
 public:
  explicit Stepped(const Scheduler::Options& options = {}) : scheduler(time, options) {}

  void begin() {
    ASSERT_TRUE(scheduler.begin("main", [this] { EXPECT_TRUE(stop.wait(never)); }));
    step();
  }
  void step() { EXPECT_TRUE(scheduler.step()); }
  void end() {
    stop.set();
    while (scheduler.step()) {
    }
    EXPECT_TRUE(scheduler.finish());
  }

  VirtualTime time;
  Event stop;
  Scheduler scheduler;
};

// Lets the tasks of this scheduler run until all wait.
void settle() { EXPECT_TRUE(sleep_for(1us)); }

TEST(CallOnTest, TurnsAnExceptionIntoAnErrorAndReportsItThere) {
  int stray_count = 0;
  Stepped there({.on_stray_exception = [&](const StrayException&) { ++stray_count; }});
  there.begin();
  auto caller = spawn("caller", [&] {
    return call_on(there.scheduler, "throw", [] { throw std::runtime_error("boom"); }, never);
  });
  settle();
  there.step();
  EXPECT_THAT(caller.join(Deadline::never()), fails_with(Code::internal));
  EXPECT_EQ(stray_count, 1);
  there.end();
}

TEST(CallOnTest, RunsAtOnceOnTheOwnScheduler) {
  const TaskId caller = current_task_id();
  const auto got = call_on(Scheduler::current(), "here", [] { return current_task_id(); }, never);
  EXPECT_EQ(got, Result<TaskId>(caller));
}

TEST(CallOnTest, EndsACallOfTheOwnSchedulerAtTheDeadline) {
  const auto sleep = [] { return sleep_for(1h); };
  const auto got = call_on(Scheduler::current(), "here", sleep, Deadline::after(1s));
  EXPECT_THAT(got, fails_with(Code::deadline_exceeded));
  EXPECT_FALSE(is_cancelled());
}

TEST(CallOnTest, DoesNotBeginForACancelledCallerOrAPassedDeadline) {
  Stepped there;
  const auto call = [&](Scheduler& scheduler, Deadline deadline) {
    return call_on(scheduler, "never", [] { FAIL(); }, deadline);
  };
  for (Scheduler* const scheduler : {&there.scheduler, &Scheduler::current()}) {
    const auto late = call(*scheduler, Deadline::passed());
    EXPECT_THAT(late, fails_with(Code::deadline_exceeded));
    EXPECT_TRUE(late.error().not_executed());
    auto caller = spawn("caller", [&] {
      static_cast<void>(sleep_for(1h));
      return call(*scheduler, never);
    });
    settle();
    caller.cancel();
    const auto got = caller.join(Deadline::never());
    EXPECT_THAT(got, fails_with(Code::cancelled));
    EXPECT_TRUE(got.error().not_executed());
  }
}

TEST(CallOnTest, ACancelledCallerTakesBackWhatHasNotBegun) {
  Stepped there;
  auto caller = spawn("caller", [&] {
    // The queued letter outlives it.
    const auto local = std::make_unique<int>(1);
    return call_on(there.scheduler, "never", [&] { ++*local; }, never);
  });
  settle();
  caller.cancel();
  const auto got = caller.join(Deadline::never());
  EXPECT_THAT(got, fails_with(Code::cancelled));
  EXPECT_TRUE(got.error().not_executed());
  there.begin();
  EXPECT_EQ(there.scheduler.statistics().created_count, 1u);
  there.end();
}

TEST(CallOnTest, TakesBackAtTheDeadlineWhatHasNotBegun) {
  Stepped there;
  const auto got = call_on(there.scheduler, "never", [] { FAIL(); }, Deadline::after(1s));
  EXPECT_THAT(got, fails_with(Code::deadline_exceeded));
  EXPECT_TRUE(got.error().not_executed());
  there.begin();
  there.end();
}

TEST(CallOnTest, ACancelledCallerCancelsThereAndWaitsForTheEnd) {
  Stepped there;
  there.begin();
  bool has_ended = false;
  auto caller = spawn("caller", [&] {
    return call_on(
        there.scheduler, "sleep",
        [&] {
          auto slept = sleep_for(1h);
          EXPECT_TRUE(yield().error().code() == Code::cancelled);
          has_ended = true;
          return slept;
        },
        never);
  });
  settle();
  there.step();
  caller.cancel();
  settle();
  EXPECT_FALSE(caller.is_done());
  there.step();
  settle();
  EXPECT_TRUE(caller.is_done());
  EXPECT_TRUE(has_ended);
  const auto got = caller.join(Deadline::never());
  EXPECT_THAT(got, fails_with(Code::cancelled));
  EXPECT_FALSE(got.error().not_executed());
  there.end();
}

TEST(CallOnTest, ALateCallerCancelsThereAndSaysThatItWasLate) {
  Stepped there;
  there.begin();
  auto caller = spawn("caller", [&] {
    return call_on(there.scheduler, "sleep", [] { return sleep_for(1h); }, Deadline::after(1s));
  });
  settle();
  there.step();
  EXPECT_TRUE(sleep_for(1s));
  there.step();
  EXPECT_THAT(caller.join(Deadline::never()), fails_with(Code::deadline_exceeded));
  there.end();
}

TEST(CallOnTest, AValueIsReturnedEvenWhenItIsLate) {
  Stepped there;
  there.begin();
  auto caller = spawn("caller", [&] {
    return call_on(
        there.scheduler, "sleep",
        [] {
          static_cast<void>(sleep_for(1h));
          return 7;
        },
        Deadline::after(1s));
  });
  settle();
  there.step();
  EXPECT_TRUE(sleep_for(1s));
  there.step();
  EXPECT_EQ(caller.join(Deadline::never()), Result<int>(7));
  there.end();
}

TEST(CallOnTest, MayIgnoreTheCancellationOfItsCaller) {
  Stepped there;
  there.begin();
  auto caller = spawn("caller", [&] {
    return call_on(there.scheduler, "sleep",
                   [] {
                     EXPECT_TRUE(sleep_for(1s));
                     return 5;
                   },
                   never, {.cancellation = Cancellation::ignore});
  });
  caller.cancel();
  settle();
  there.step();
  settle();
  EXPECT_FALSE(caller.is_done());
  // The first wait ends at once: the scheduler was woken.
  static_cast<void>(there.time.wait(there.scheduler.next_step()));
  static_cast<void>(there.time.wait(there.scheduler.next_step()));
  there.step();
  EXPECT_EQ(caller.join(Deadline::never()), Result<int>(5));
  there.end();
}

TEST(CallOnTest, BeginsInTheNextRunOfAnIdleScheduler) {
  Stepped there;
  auto caller =
      spawn("caller", [&] { return call_on(there.scheduler, "answer", [] { return 1; }, never); });
  settle();
  there.begin();
  EXPECT_EQ(caller.join(Deadline::never()), Result<int>(1));
  there.end();
}

TEST(CallOnTest, IsUnavailableWhenTheSchedulerEndsFirst) {
  std::optional<Stepped> there(std::in_place);
  auto caller = spawn("caller", [&, &scheduler = there->scheduler] {
    return call_on(scheduler, "never", [] { FAIL(); }, never);
  });
  settle();
  there.reset();
  const auto got = caller.join(Deadline::never());
  EXPECT_THAT(got, fails_with(Code::unavailable));
  EXPECT_TRUE(got.error().not_executed());
}

TEST(CallOnTest, AMainTaskThatEndsCancelsAndAwaitsVisitorsAndRefusesNewOnes) {
  Stepped there;
  there.begin();
  WaitQueue last_words("last words");
  const auto stay = [&] {
    EXPECT_THAT(sleep_for(1h), fails_with(Code::cancelled));
    last_words.wait(never, Cancellation::ignore);
    return 3;
  };
  auto first = spawn("first", [&] { return call_on(there.scheduler, "stay", stay, never); });
  settle();
  there.step();
  there.stop.set();
  there.step();  // Its main task ends.
  auto second =
      spawn("second", [&] { return call_on(there.scheduler, "never", [] { FAIL(); }, never); });
  settle();
  there.step();
  const auto refused = second.join(Deadline::never());
  EXPECT_THAT(refused, fails_with(Code::unavailable));
  EXPECT_TRUE(refused.error().not_executed());
  EXPECT_TRUE(last_words.notify_one());
  there.end();
  EXPECT_EQ(first.join(Deadline::never()), Result<int>(3));
}

TEST(CallOnTest, IsRefusedWhenNoStackIsLeftThere) {
  Stepped there({.stacks = {.stack_count_max = 1, .control_count = 0}});
  there.begin();
  auto caller =
      spawn("caller", [&] { return call_on(there.scheduler, "never", [] { FAIL(); }, never); });
  settle();
  there.step();
  const auto got = caller.join(Deadline::never());
  EXPECT_THAT(got, fails_with(Code::resource_exhausted));
  EXPECT_TRUE(got.error().not_executed());
  there.end();
}

TEST(CallOnTest, LeavesTheLastStacksToOthersOnRequest) {
  Stepped there({.stacks = {.stack_count_max = 8, .control_count = 0}});
  there.begin();
  const auto call = [&](bool may_take_last_stacks) {
    return spawn("caller", [&there, may_take_last_stacks] {
      return call_on(there.scheduler, "visit", [&] { return there.stop.wait(never); }, never,
                     {.may_take_last_stacks = may_take_last_stacks});
    });
  };
  std::vector<Task<void>> callers;
  while (!there.scheduler.stacks().is_scarce()) {
    callers.push_back(call(true));
    settle();
    there.step();
  }
  auto modest = call(false);
  settle();
  there.step();
  EXPECT_THAT(modest.join(Deadline::never()), fails_with(Code::resource_exhausted));
  there.end();
  for (auto& caller : callers) EXPECT_TRUE(caller.join(Deadline::never()));
}

TEST(CallOnTest, IsRefusedWhenTooManyAreQueued) {
  Stepped there({.queued_call_count_max = 2});
  const auto call = [&] { return call_on(there.scheduler, "count", [] {}, Deadline::after(1s)); };
  // Those that were taken back are still queued.
  EXPECT_THAT(call(), fails_with(Code::deadline_exceeded));
  EXPECT_THAT(call(), fails_with(Code::deadline_exceeded));
  const auto got = call();
  EXPECT_THAT(got, fails_with(Code::resource_exhausted));
  EXPECT_TRUE(got.error().not_executed());
  there.begin();
  auto caller = spawn("caller", call);
  settle();
  there.step();
  EXPECT_TRUE(caller.join(Deadline::never()));
  there.end();
}

TEST(CallOnTest, EntersAFullQueueOnRequest) {
  Stepped there({.queued_call_count_max = 1});
  EXPECT_THAT(call_on(
                  there.scheduler, "fill", [] {}, Deadline::after(1s)),
              fails_with(Code::deadline_exceeded));
  EXPECT_THAT(
      call_on(there.scheduler, "count", [] {}, never), fails_with(Code::resource_exhausted));
  there.begin();
  auto caller = spawn("caller", [&] {
    return call_on(there.scheduler, "end", [] {}, never, {.may_exceed_queue = true});
  });
  settle();
  there.step();
  EXPECT_TRUE(caller.join(Deadline::never()));
  // It is counted no more.
  auto next = spawn("next", [&] { return call_on(there.scheduler, "count", [] {}, never); });
  settle();
  there.step();
  EXPECT_TRUE(next.join(Deadline::never()));
  there.end();
}

TEST(CallOnTest, LeavesAtTheEndOfTheTurnOnRequest) {
  Stepped there;
  there.begin();
  std::vector<int> order;
  TaskGroup callers;
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(callers.spawn("caller", [&, i] {
      return call_on(there.scheduler, "note", [&, i] { order.push_back(i); }, never,
                     {.may_gather = true});
    }));
  }
  EXPECT_TRUE(yield());
  EXPECT_EQ(there.scheduler.next_step(), never);
  settle();
  EXPECT_EQ(there.scheduler.next_step(), Deadline::passed());
  there.step();
  EXPECT_TRUE(callers.join(never));
  EXPECT_THAT(order, testing::ElementsAre(0, 1, 2));
  there.end();
}

TEST(CallOnTest, ManyGatheredCallsLeaveBeforeTheTurnEnds) {
  Stepped there;
  there.begin();
  std::vector<int> order;
  TaskGroup callers;
  for (int i = 0; i < 40; ++i) {
    EXPECT_TRUE(callers.spawn("caller", [&, i] {
      return call_on(there.scheduler, "note", [&, i] { order.push_back(i); }, never,
                     {.may_gather = true});
    }));
  }
  EXPECT_TRUE(yield());
  there.step();
  const std::size_t early_count = order.size();
  EXPECT_THAT(early_count, testing::AllOf(testing::Gt(0), testing::Lt(40)));
  settle();
  there.step();
  EXPECT_TRUE(callers.join(never));
  EXPECT_EQ(order.size(), 40);
  EXPECT_TRUE(std::ranges::is_sorted(order));
  there.end();
}

TEST(CallOnTest, AGatheredCallMayBeTakenBackBeforeItLeaves) {
  Stepped there;
  there.begin();
  bool has_run = false;
  auto caller = spawn("caller", [&] {
    return call_on(there.scheduler, "note", [&] { has_run = true; }, never, {.may_gather = true});
  });
  EXPECT_TRUE(yield());
  caller.cancel();
  const auto got = caller.join(never);
  EXPECT_THAT(got, fails_with(Code::cancelled));
  EXPECT_TRUE(got.error().not_executed());
  settle();
  there.step();
  EXPECT_FALSE(has_run);
  there.end();
}

TEST(CallOnTest, AGroupThereOwnsTheTaskOnRequest) {
  Stepped there;
  std::optional<TaskGroup> group;
  const auto inside = [&](auto&& work) {
    there.scheduler.post([&] { work(); });
    there.step();
  };
  there.begin();
  inside([&] { group.emplace(); });
  auto caller = spawn("caller", [&] {
    return call_on(there.scheduler, "sleep", [] { return sleep_for(1h); }, never,
                   {.group = &*group});
  });
  settle();
  there.step();
  EXPECT_EQ(group->size(), 1u);
  inside([&] { group->cancel(); });
  const auto got = caller.join(Deadline::never());
  EXPECT_THAT(got, fails_with(Code::cancelled));
  inside([&] { group.reset(); });
  there.end();
}

TEST(CallOnOrLeaveTest, ALateCallerLeavesWhatHasBegun) {
  Stepped there;
  there.begin();
  const auto held = std::make_shared<int>(0);
  const auto got = [&] {
    auto caller = spawn("caller", [&there, held] {
      return call_on_or_leave(
          there.scheduler, "sleep",
          [held] {
            static_cast<void>(sleep_for(1h));
            return std::make_unique<int>(++*held);
          },
          Deadline::after(1s));
    });
    settle();
    there.step();
    return caller.join(Deadline::never());
  }();
  EXPECT_THAT(got, fails_with(Code::deadline_exceeded));
  EXPECT_TRUE(got.error().maybe_executed());
  EXPECT_EQ(*held, 0);
  there.step();
  EXPECT_EQ(*held, 1);
  there.end();
  EXPECT_EQ(held.use_count(), 1);
}

TEST(CallOnOrLeaveTest, TakesBackWhatHasNotBegun) {
  const auto held = std::make_shared<int>(0);
  {
    Stepped there;
    const auto got =
        call_on_or_leave(there.scheduler, "never", [held] { ++*held; }, Deadline::after(1s));
    EXPECT_THAT(got, fails_with(Code::deadline_exceeded));
    EXPECT_TRUE(got.error().not_executed());
  }
  EXPECT_EQ(*held, 0);
  EXPECT_EQ(held.use_count(), 1);
}

TEST(SendCallTest, SeveralRunAtOnce) {
  Stepped left;
  Stepped right;
  left.begin();
  right.begin();
  auto first = send_call(left.scheduler, "first", [] { return 1; });
  auto second = send_call(right.scheduler, "second", [] { return 2; });
  left.step();
  right.step();
  EXPECT_EQ(second.join(never), Result<int>(2));
  EXPECT_EQ(first.join(never), Result<int>(1));
  EXPECT_THAT(first.join(never), fails_with(Code::failed_precondition));
  left.end();
  right.end();
}

TEST(SendCallTest, RunsInATaskOfItsOwnOnTheOwnScheduler) {
  auto call = send_call(Scheduler::current(), "here", [] { return sleep_for(1s); });
  const TimePoint start = now();
  EXPECT_TRUE(sleep_for(1s));
  EXPECT_TRUE(call.join(never));
  EXPECT_EQ(now() - start, 1s);
}

TEST(SendCallTest, AnOwnerThatIsDestroyedTakesItBackOrCancelsIt) {
  int begun_count = 0;
  int ended_count = 0;
  const auto sleep = [&] {
    ++begun_count;
    EXPECT_THAT(sleep_for(1h), fails_with(Code::cancelled));
    ++ended_count;
  };
  {
    auto call = send_call(Scheduler::current(), "never", sleep);
  }
  EXPECT_TRUE(sleep_for(1s));
  EXPECT_EQ(begun_count, 0);
  {
    auto call = send_call(Scheduler::current(), "sleep", sleep);
    EXPECT_TRUE(sleep_for(1s));
    EXPECT_EQ(begun_count, 1);
  }
  EXPECT_EQ(ended_count, 1);
}

}  // namespace
}  // namespace corolane::coroutine
