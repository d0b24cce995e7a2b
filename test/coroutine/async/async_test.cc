// SPDX-License-Identifier: MIT
#include "coroutine/async/async.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "coroutine/async/async_group.h"
#include "coroutine/scheduler.h"
#include "coroutine/sync/event.h"
#include "coroutine/sync/mutex.h"
#include "coroutine/task.h"
#include "coroutine/testing/matchers.h"
#include "coroutine/virtual_time.h"

namespace corolane::coroutine {
namespace {

using namespace std::chrono_literals;
using test::fails_with;
using testing::HasSubstr;

Async<int> same(int number) { co_return number; }

Async<int> add(int left, int right) {
  const Result<int> first = co_await same(left);
  const Result<int> second = co_await same(right);
  co_return *first + *second;
}

TEST(AsyncTest, AwaitReturnsTheResultOfTheChild) {
  EXPECT_EQ(await(same(7)), 7);
  EXPECT_EQ(await(add(3, 4)), 7);
}

TEST(AsyncTest, AChildThatDoesNotWaitLetsNoOtherTaskRun) {
  bool other_ran = false;
  auto other = spawn("other", [&] { other_ran = true; });
  EXPECT_EQ(await(add(3, 4)), 7);
  EXPECT_FALSE(other_ran);
}

Async<int> fail(Code code) { co_return Error(code, "on purpose"); }

Async<void> pass_on(Code code) {
  if (auto number = co_await fail(code); !number) co_return number.error();
  co_return {};
}

TEST(AsyncTest, AnErrorIsAResultLikeAnyOther) {
  EXPECT_THAT(await(fail(Code::not_found)), fails_with(Code::not_found));
  EXPECT_THAT(await(pass_on(Code::data_loss)), fails_with(Code::data_loss));
}

Async<std::unique_ptr<std::string>> make_text(std::string text) {
  co_return std::make_unique<std::string>(std::move(text));
}

TEST(AsyncTest, ResultsNeedNoCopy) { EXPECT_EQ(**await(make_text("unique")), "unique"); }

Async<void> note(bool& ran) {
  ran = true;
  co_return {};
}

TEST(AsyncTest, BeginsOnlyWhenItIsAwaited) {
  bool ran = false;
  {
    const Async<void> dropped = note(ran);
  }
  Async<void> child = note(ran);
  EXPECT_FALSE(ran);
  EXPECT_TRUE(await(std::move(child)));
  EXPECT_TRUE(ran);
}

Async<int> careless(bool knows_why) {
  if (knows_why) throw std::runtime_error("index 9 of 8");
  throw 9;
  co_return 0;
}

Async<bool> survives() {
  const auto child = co_await careless(true);
  co_return !child && child.error().code() == Code::internal;
}

TEST(AsyncTest, AStrayExceptionIsAnInternalErrorAndIsCounted) {
  const auto count_before = Scheduler::current().statistics().stray_exception_count;
  const auto ended = await(careless(true));
  EXPECT_THAT(ended, fails_with(Code::internal));
  EXPECT_THAT(ended.error().message(), HasSubstr("index 9 of 8"));
  EXPECT_THAT(await(careless(false)), fails_with(Code::internal));
  EXPECT_EQ(await(survives()), true);
  EXPECT_EQ(Scheduler::current().statistics().stray_exception_count, count_before + 3);
}

Async<void> sleep_a_second() { co_return co_await until(Deadline::after(1s)); }

TEST(AsyncTest, ATaskMayAwaitWhileItHandlesAnException) {
  try {
    throw std::runtime_error("outer");
  } catch (const std::runtime_error&) {
    auto other = spawn("other", [] {
      EXPECT_EQ(std::current_exception(), nullptr);
      return sleep_for(2s);
    });
    EXPECT_TRUE(await(sleep_a_second()));
    EXPECT_EQ(await(survives()), true);
    try {
      throw;
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "outer");
    }
  }
}

Async<int> generations(int count) {
  if (count == 0) {
    if (auto slept = co_await until(Deadline::after(1s)); !slept) co_return slept.error();
    co_return 0;
  }
  const Result<int> younger = co_await generations(count - 1);
  if (!younger) co_return younger.error();
  co_return *younger + 1;
}

TEST(AsyncTest, AChainOfAMillionNeedsNoStack) {
  auto task = spawn("patriarch", [] { return await(generations(1'000'000)); },
                    {.stack_size_bytes = StackPool::stack_size_bytes_min});
  EXPECT_EQ(task.join(Deadline::never()), 1'000'000);
}

Async<int> count_up(int count) {
  int sum = 0;
  for (int number = 0; number < count; ++number) sum += *co_await same(1);
  co_return sum;
}

TEST(AsyncTest, AMillionChildrenOneAfterTheOtherNeedNoStack) {
  auto task = spawn("parent", [] { return await(count_up(1'000'000)); },
                    {.stack_size_bytes = StackPool::stack_size_bytes_min});
  EXPECT_EQ(task.join(Deadline::never()), 1'000'000);
}

TEST(AsyncTest, StatisticsCountLiveCoroutines) {
  const auto count = [] { return Scheduler::current().statistics().stackless_count; };
  const auto before = count();
  {
    const Async<int> unborn = same(1);
    EXPECT_EQ(count(), before + 1);
    auto task = spawn("task", [] { return await(generations(3)); });
    EXPECT_TRUE(yield());
    EXPECT_EQ(count(), before + 1 + 4);
    EXPECT_TRUE(task.join(Deadline::never()));
  }
  EXPECT_EQ(count(), before);
}

struct Aligned {
  alignas(16) std::array<double, 2> values{1, 2};
};

Async<double> sum_aligned() {
  Aligned aligned;
  EXPECT_TRUE(co_await let_others_run());
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&aligned) % 16, 0u);
  co_return aligned.values[0] + aligned.values[1];
}

TEST(AsyncTest, LocalsHaveTheAlignmentOfTheirTypes) {
  for (int round = 0; round < 10; ++round) {
    EXPECT_EQ(await(same(1)), 1);
    EXPECT_EQ(await(sum_aligned()), 3.0);
  }
}

Async<std::size_t> fill(std::size_t index) {
  std::array<std::byte, 4000> large;
  large.fill(std::byte{7});
  EXPECT_TRUE(co_await until(Deadline::after(1s)));
  co_return static_cast<std::size_t>(large[index]);
}

TEST(AsyncTest, LargeFramesComeFromTheHeap) { EXPECT_EQ(await(fill(3999)), 7u); }

Async<void> call(void (*function)()) {
  function();
  co_return {};
}

TEST(AsyncDeathTest, ACallThatNeedsAStackAborts) {
  constexpr auto claim = "only a task may suspend, the loop may not, and a stackless coroutine";
  EXPECT_DEATH(static_cast<void>(await(call([] { static_cast<void>(sleep_for(1s)); }))), claim);
  EXPECT_DEATH(static_cast<void>(await(call([] { static_cast<void>(yield()); }))), claim);
  EXPECT_DEATH(static_cast<void>(await(call([] { Mutex().lock(); }))), claim);
  EXPECT_DEATH(static_cast<void>(await(
                   call([] { static_cast<void>(spawn("task", [] {}).join(Deadline::never())); }))),
               claim);
  EXPECT_DEATH(static_cast<void>(await(call([] { static_cast<void>(await(same(1))); }))), claim);
}

#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ == 12
Async<void> await_in_condition(Event& event) {
  if (co_await until(event.waiting(), Deadline::never())) co_return {};
  co_return Error(Code::aborted, "on purpose");
}

TEST(AsyncDeathTest, AMiscompiledConditionAbortsWhenItIsCalled) {
  Event event;
  EXPECT_DEATH(static_cast<void>(await(await_in_condition(event))),
               "no condition of an if, a switch or a loop is a co_await");
}
#endif

#if !defined(__clang__)  // Clang refuses to compile it.
Async<int> falls_off(bool does) {
  if (!does) co_return 1;
}

Async<void> falls_off_too() { static_cast<void>(co_await let_others_run()); }

TEST(AsyncDeathTest, EndsByCoReturn) {
  EXPECT_EQ(await(falls_off(false)), 1);
  EXPECT_DEATH(static_cast<void>(await(falls_off(true))),
               "a stackless coroutine ends by co_return");
  const auto in_a_group = [] {
    AsyncGroup group;
    group.spawn(falls_off_too());
    static_cast<void>(group.join(Deadline::never()));
  };
  EXPECT_DEATH(in_a_group(), "a stackless coroutine ends by co_return");
}
#endif

Async<void> lists_tasks(std::vector<TaskInfo>& infos) {
  infos = Scheduler::current().tasks({.traces = true});
  co_return {};
}

TEST(AsyncTest, ATaskOnWhoseStackACoroutineRunsIsRunning) {
  std::vector<TaskInfo> infos;
  ASSERT_TRUE(await(lists_tasks(infos)));
  EXPECT_EQ(infos.front().state, TaskState::running);
  EXPECT_FALSE(infos.front().trace.return_addresses.empty());
}

TEST(AsyncTest, ATaskThatAwaitsIsCancelledBetweenTwoSteps) {
  VirtualTime time;
  Scheduler scheduler(time);
  std::optional<Code> code;
  ASSERT_TRUE(scheduler.begin("main", [&] { code = await(sleep_a_second()).error().code(); }));
  EXPECT_TRUE(scheduler.step());
  scheduler.cancel();
  while (scheduler.step()) {
  }
  EXPECT_TRUE(scheduler.finish());
  EXPECT_EQ(code, Code::cancelled);
}

TEST(AsyncDeathTest, IsAwaitedOnce) {
  const auto await_twice = [] {
    Async<int> child = same(1);
    static_cast<void>(await(std::move(child)));
    static_cast<void>(await(std::move(child)));  // NOLINT(bugprone-use-after-move): the claim.
  };
  EXPECT_DEATH(await_twice(), "a stackless coroutine is awaited once");
}

Async<int> awaits_twice() {
  Async<int> child = same(1);
  const auto first = co_await std::move(child);
  const auto second = co_await std::move(child);  // NOLINT(bugprone-use-after-move): the claim.
  co_return first.value_or(0) + second.value_or(0);
}

TEST(AsyncDeathTest, IsAwaitedOnceByAnotherCoroutine) {
  EXPECT_DEATH(static_cast<void>(await(awaits_twice())), "a stackless coroutine is awaited once");
}

}  // namespace
}  // namespace corolane::coroutine
