// SPDX-License-Identifier: MIT
#include "coroutine/task.h"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "coroutine/scheduler.h"
#include "coroutine/sync/event.h"
#include "coroutine/task_group.h"
#include "coroutine/testing/matchers.h"
#include "coroutine/virtual_time.h"

namespace corolane::coroutine {
namespace {

using namespace std::chrono_literals;
using test::fails_with;

// Records its end, and suspends in doing so.
class Farewell {
 public:
  explicit Farewell(bool& said) : said_(&said) {}
  Farewell(Farewell&& other) noexcept : said_(std::exchange(other.said_, nullptr)) {}
  ~Farewell() {
    if (said_ == nullptr) return;
    static_cast<void>(sleep_for(1s));
    *said_ = true;
  }

 private:
  bool* said_;
};

TEST(TaskTest, JoinReturnsTheResultOfTheFunction) {
  auto task = spawn("answer", [] { return 42; });
  EXPECT_EQ(task.join(Deadline::never()), 42);
}

TEST(TaskTest, AResultIsNotWrappedTwice) {
  auto good = spawn("good", []() -> Result<int> { return 42; });
  auto bad = spawn("bad", []() -> Result<int> { return Error(Code::not_found, "no answer"); });
  static_assert(std::is_same_v<decltype(good), Task<int>>);
  EXPECT_EQ(good.join(Deadline::never()), 42);
  EXPECT_EQ(bad.join(Deadline::never()).error(), Error(Code::not_found, "no answer"));
}

TEST(TaskTest, AFunctionMayReturnNothing) {
  bool ran = false;
  auto task = spawn("silent", [&] { ran = true; });
  static_assert(std::is_same_v<decltype(task), Task<void>>);
  EXPECT_TRUE(task.join(Deadline::never()));
  EXPECT_TRUE(ran);
}

TEST(TaskTest, ResultsAndCapturesMayBeMoveOnly) {
  auto task =
      spawn("mover", [owner = std::make_unique<int>(7)]() mutable { return std::move(owner); });
  auto owner = task.join(Deadline::never());
  ASSERT_TRUE(owner);
  EXPECT_EQ(**owner, 7);
}

TEST(TaskTest, OveralignedCapturesAreAligned) {
  struct alignas(256) Wide {
    char text[300] = "wide";
  };
  auto task = spawn("wide", [wide = Wide()] {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&wide) % 256, 0u);
    return std::string(wide.text);
  });
  EXPECT_EQ(task.join(Deadline::never()), "wide");
}

// The frames that the previous task left there must not matter.
TEST(TaskTest, AStackIsReusedForTasksWithSmallAndLargeCaptures) {
  for (int round = 0; round < 10; ++round) {
    EXPECT_EQ(spawn("small", [] { return 1; }).join(Deadline::never()), 1);
    EXPECT_EQ(spawn("large", [text = std::array<char, 8000>{'x'}] { return text[0]; })
                  .join(Deadline::never()),
              'x');
  }
}

TEST(TaskTest, AStackAboveTheLargestIsRefusedNotReduced) {
  const TaskOptions largest{.stack_size_bytes = StackPool::stack_size_bytes_max};
  EXPECT_TRUE(spawn("largest", [] {}, largest).join(Deadline::never()));
  const TaskOptions above{.stack_size_bytes = StackPool::stack_size_bytes_max + 1};
  EXPECT_THAT(
      spawn("too large", [] {}, above).join(Deadline::never()), fails_with(Code::invalid_argument));
}

TEST(TaskTest, SpawnDoesNotRunTheFunctionYet) {
  bool ran = false;
  auto task = spawn("later", [&] { ran = true; });
  EXPECT_FALSE(ran);
  EXPECT_FALSE(task.is_done());
  EXPECT_TRUE(yield());
  EXPECT_TRUE(ran);
  EXPECT_TRUE(task.is_done());
}

TEST(TaskTest, TheDestructorCancelsAndJoins) {
  Result<void> slept;
  {
    auto task = spawn("sleeper", [&] {
      slept = sleep_for(24h);
      EXPECT_TRUE(Scheduler::current().statistics().task_count > 0);
    });
    EXPECT_TRUE(yield());
  }
  EXPECT_THAT(slept, fails_with(Code::cancelled));
}

// A task that ignores its cancellation until `end` is notified.
Task<int> spawn_stubborn(WaitQueue& end) {
  return spawn("stubborn", [&] {
    end.wait(Deadline::never(), Cancellation::ignore);
    return 3;
  });
}

TEST(TaskTest, TwoTasksMayEndATaskAtOnce) {
  WaitQueue end("the end");
  auto task = spawn_stubborn(end);
  auto first = spawn("first", [&] { task = {}; });
  auto second = spawn("second", [&] { task = {}; });
  EXPECT_TRUE(sleep_for(1s));
  end.notify_all();
  EXPECT_TRUE(first.join(Deadline::never()));
  EXPECT_TRUE(second.join(Deadline::never()));
  EXPECT_THAT(task.join(Deadline::never()), fails_with(Code::failed_precondition));
}

TEST(TaskTest, TheLastOfTwoReplacementsStays) {
  WaitQueue end("the end");
  std::vector<int> ended;
  auto task = spawn_stubborn(end);
  const auto replace_by = [&](int number) {
    task = spawn("replacement", [&, number] {
      static_cast<void>(sleep_for(1h));
      ended.push_back(number);
      return number;
    });
  };
  auto first = spawn("first", [&] { replace_by(1); });
  auto second = spawn("second", [&] { replace_by(2); });
  EXPECT_TRUE(sleep_for(1s));
  end.notify_all();
  EXPECT_TRUE(first.join(Deadline::never()));
  EXPECT_TRUE(second.join(Deadline::never()));
  EXPECT_EQ(ended, std::vector({1}));
  EXPECT_EQ(task.join(Deadline::never()), 2);
}

TEST(TaskTest, TheDestructorWaitsAsLongAsTheTaskTakes) {
  const TimePoint start = now();
  {
    bool said = false;
    auto task = spawn("farewell", [farewell = Farewell(said)] {
      WaitQueue stubborn("its own way");
      EXPECT_EQ(stubborn.wait(Deadline::after(5s), Cancellation::ignore), Wake::deadline);
    });
    EXPECT_TRUE(yield());
  }
  EXPECT_EQ(now(), start + 5s);  // The farewell's sleep was cancelled.
}

TEST(TaskTest, AssigningToATaskEndsTheOneItOwned) {
  bool first_ended = false;
  Task<void> task = spawn("first", [&] {
    EXPECT_THAT(sleep_for(1h), fails_with(Code::cancelled));
    first_ended = true;
  });
  task = spawn("second", [] {});
  EXPECT_TRUE(first_ended);
  EXPECT_TRUE(task.join(Deadline::never()));
}

TEST(TaskTest, AMovedTaskIsOwnedByItsNewHandle) {
  auto task = spawn("moved", [] { return 3; });
  Task<int> owner = std::move(task);
  EXPECT_EQ(owner.join(Deadline::never()), 3);
}

TEST(TaskTest, AFunctionWhoseCopyThrowsLeavesNothingBehind) {
  struct Uncopyable {
    Uncopyable() = default;
    Uncopyable(const Uncopyable&) { throw std::runtime_error("not this one"); }
    void operator()() const {}
  };
  const Uncopyable body;
  const auto created_count = Scheduler::current().statistics().created_count;
  EXPECT_THROW(static_cast<void>(spawn("never was", body).join(Deadline::never())),
               std::runtime_error);
  EXPECT_EQ(Scheduler::current().statistics().created_count, created_count);
}

TEST(TaskTest, ARefusalIsMovedLikeATask) {
  const TaskOptions above{.stack_size_bytes = StackPool::stack_size_bytes_max + 1};
  Task<void> refused = spawn("too large", [] {}, above);
  Task<void> moved = std::move(refused);
  EXPECT_THAT(refused.join(Deadline::never()),
              fails_with(Code::failed_precondition));  // NOLINT: promised.
  EXPECT_THAT(moved.join(Deadline::never()), fails_with(Code::invalid_argument));
  refused = std::move(moved);
  EXPECT_THAT(refused.join(Deadline::never()), fails_with(Code::invalid_argument));
}

TEST(TaskTest, ATaskIsJoinedOnce) {
  auto task = spawn("once", [] { return 3; });
  EXPECT_EQ(task.join(Deadline::never()), 3);
  EXPECT_THAT(task.join(Deadline::never()), fails_with(Code::failed_precondition));
  EXPECT_THAT(Task<int>().join(Deadline::never()), fails_with(Code::failed_precondition));
}

TEST(TaskTest, OneOfTwoJoinersGetsTheResult) {
  auto task = spawn("contested", [] {
    EXPECT_TRUE(sleep_for(1s));
    return 3;
  });
  auto first = spawn("first", [&] { return task.join(Deadline::never()); });
  auto second = spawn("second", [&] { return task.join(Deadline::never()); });
  EXPECT_EQ(first.join(Deadline::never()), 3);
  EXPECT_THAT(second.join(Deadline::never()), fails_with(Code::failed_precondition));
}

TEST(TaskTest, CancellingATaskThatHasEndedDoesNothing) {
  auto task = spawn("ended", [] { return 3; });
  EXPECT_TRUE(yield());
  task.cancel();
  EXPECT_EQ(task.join(Deadline::never()), 3);
}

TEST(TaskTest, AStrayExceptionIsAnInternalErrorThatNamesTheTask) {
  const auto count_before = Scheduler::current().statistics().stray_exception_count;
  auto known = spawn("careless", []() -> int { throw std::runtime_error("index 9 of 8"); });
  auto unknown = spawn("reckless", []() -> int { throw 42; });
  const auto known_result = known.join(Deadline::never());
  const auto unknown_result = unknown.join(Deadline::never());
  EXPECT_THAT(known_result, fails_with(Code::internal));
  EXPECT_NE(known_result.error().message().find("careless"), std::string::npos);
  EXPECT_NE(known_result.error().message().find("index 9 of 8"), std::string::npos);
  EXPECT_THAT(unknown_result, fails_with(Code::internal));
  EXPECT_NE(unknown_result.error().message().find("reckless"), std::string::npos);
  EXPECT_EQ(Scheduler::current().statistics().stray_exception_count, count_before + 2);
}

TEST(TaskTest, ATaskThatGetsNoStackIsJoinedWithResourceExhausted) {
  VirtualTime time;
  Scheduler scheduler(time, {.stacks = {.stack_count_max = 2}});
  const auto ran = scheduler.run("main", [] {
    auto first = spawn("first", [] { return 1; });
    auto second = spawn("second", [] { return 2; });
    EXPECT_TRUE(second.is_done());
    EXPECT_THAT(second.join(Deadline::never()), fails_with(Code::resource_exhausted));
    EXPECT_EQ(first.join(Deadline::never()), 1);
    auto third = spawn("third", [] { return 3; });
    EXPECT_EQ(third.join(Deadline::never()), 3);
  });
  EXPECT_TRUE(ran);
}

TEST(TaskTest, ControlWorkGetsAStackWhenOrdinaryWorkGetsNone) {
  static constexpr TaskOptions control = {.purpose = StackPool::Purpose::control};
  VirtualTime time;
  Scheduler scheduler(time, {.stacks = {.stack_count_max = 16, .control_count = 2}});
  const auto ran = scheduler.run("main", [] {
    TaskGroup load;
    while (load.spawn("load", [] { static_cast<void>(sleep_for(1h)); })) continue;
    EXPECT_EQ(load.size(), 13u);  // Main has the fourteenth.
    auto first = spawn("control", [] { return 1; }, control);
    auto second = spawn("control", [] { return 2; }, control);
    auto third = spawn("control", [] { return 3; }, control);
    EXPECT_EQ(first.join(Deadline::never()), 1);
    EXPECT_EQ(second.join(Deadline::never()), 2);
    EXPECT_THAT(third.join(Deadline::never()), fails_with(Code::resource_exhausted));
  });
  EXPECT_TRUE(ran);
}

TEST(TaskTest, AJoinThatTimesOutLeavesTheTaskOwned) {
  const TimePoint start = now();
  auto task = spawn("slow", [] {
    EXPECT_TRUE(sleep_for(5s));
    return 3;
  });
  EXPECT_THAT(task.join(Deadline::after(2s)), fails_with(Code::deadline_exceeded));
  EXPECT_EQ(now(), start + 2s);
  EXPECT_EQ(task.join(Deadline::never()), 3);
  EXPECT_EQ(now(), start + 5s);
}

TEST(TaskTest, ACancelledJoinerLeavesTheTaskOwnedAndRunning) {
  auto task = spawn("slow", [] {
    EXPECT_TRUE(sleep_for(5s));
    return 3;
  });
  auto joiner = spawn("joiner", [&] { return task.join(Deadline::never()); });
  EXPECT_TRUE(sleep_for(1s));
  joiner.cancel();
  EXPECT_THAT(joiner.join(Deadline::never()), fails_with(Code::cancelled));
  EXPECT_EQ(task.join(Deadline::never()), 3);
}

TEST(TaskTest, CapturesEndInsideTheTaskAndMaySuspend) {
  bool said = false;
  const TimePoint start = now();
  auto task = spawn("farewell", [farewell = Farewell(said)] { return 3; });
  EXPECT_EQ(task.join(Deadline::never()), 3);
  EXPECT_TRUE(said);
  EXPECT_EQ(now(), start + 1s);
}

TEST(TaskTest, CapturesEndAlsoAfterAStrayException) {
  bool said = false;
  auto task = spawn("farewell", [farewell = Farewell(said)] { throw std::runtime_error("oops"); });
  EXPECT_THAT(task.join(Deadline::never()), fails_with(Code::internal));
  EXPECT_TRUE(said);
}

TEST(TaskTest, AnUnjoinedResultIsDestroyed) {
  auto result = std::make_shared<int>(3);
  {
    auto task = spawn("result", [result] { return result; });
    EXPECT_TRUE(yield());
    EXPECT_EQ(result.use_count(), 2);
  }
  EXPECT_EQ(result.use_count(), 1);
}

TEST(TaskTest, TasksMaySpawnTasks) {
  const auto count_down = [](const auto& self, int depth) -> Result<int> {
    if (depth == 0) return 0;
    auto child = spawn("child", [&] { return self(self, depth - 1); });
    auto below = child.join(Deadline::never());
    if (!below) return below.error();
    return *below + 1;
  };
  EXPECT_EQ(count_down(count_down, 50), 50);
}

TEST(TaskTest, ANameMayBeEmptyAndIsCutTo31Bytes) {
  const std::string longest(31, 'x');
  auto nameless = spawn({}, [] {});
  auto verbose = spawn(longest + "yz", [] {});
  const auto tasks = Scheduler::current().tasks();
  ASSERT_EQ(tasks.size(), 3u);
  EXPECT_EQ(tasks[1].name, "");
  EXPECT_EQ(tasks[2].name, longest);
}

TEST(TaskTest, SleepingUntilThePastDoesNotSuspend) {
  bool other_ran = false;
  auto other = spawn("other", [&] { other_ran = true; });
  EXPECT_TRUE(sleep_until(Deadline::passed()));
  EXPECT_TRUE(sleep_for(-1s));
  EXPECT_FALSE(other_ran);
}

TEST(TaskTest, IsCancelledIsTrueOnlyInTheCancelledTask) {
  auto task = spawn("worker", [] {
    int rounds = 0;
    while (!is_cancelled()) {
      ++rounds;
      static_cast<void>(yield());
    }
    return rounds;
  });
  for (int turn = 0; turn < 3; ++turn) EXPECT_TRUE(yield());
  task.cancel();
  EXPECT_EQ(task.join(Deadline::never()), 3);
  EXPECT_FALSE(is_cancelled());
}

TEST(TaskDeathTest, AResultThatWouldFillTheStackIsReported) {
  using Large = std::array<std::byte, 400 * 1024>;
  EXPECT_DEATH(static_cast<void>(spawn("large", [] { return Large(); })),
               "a task's captures and result fill at most half of its stack");
}

}  // namespace
}  // namespace corolane::coroutine
