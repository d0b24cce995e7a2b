// SPDX-License-Identifier: MIT
#include "coroutine/async/in_task.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <shared_mutex>
#include <stdexcept>
#include <string>

#include "coroutine/async/async_group.h"
#include "coroutine/scheduler.h"
#include "coroutine/sync/shared_mutex.h"
#include "coroutine/task.h"
#include "coroutine/testing/matchers.h"
#include "coroutine/wait_queue.h"

namespace corolane::coroutine {
namespace {

using namespace std::chrono_literals;
using test::fails_with;

// Stands for a call that is written for tasks.
Result<std::string> answer_later(Duration delay) {
  if (auto slept = sleep_for(delay); !slept) return slept.error();
  return std::string("answer");
}

Async<std::string> ask(Duration delay) {
  co_return co_await in_task("ask", [=] { return answer_later(delay); });
}

TEST(InTaskTest, ACoroutineGetsTheResultOfACallThatNeedsAStack) {
  const TimePoint start = now();
  EXPECT_EQ(await(ask(2s)).value_or(""), "answer");
  EXPECT_EQ(now(), start + 2s);
}

Async<void> add_length(Duration delay, std::size_t& sum) {
  auto answer = co_await in_task("ask", [&] { return answer_later(delay); });
  if (!answer) co_return answer.error();
  sum += answer->size();
  co_return {};
}

TEST(InTaskTest, OnlyCoroutinesInsideACallHaveATask) {
  AsyncGroup group;
  std::size_t sum = 0;
  for (int number = 0; number < 100; ++number) group.spawn(add_length(number * 1s, sum));
  const std::size_t before = Scheduler::current().statistics().task_count;
  EXPECT_TRUE(sleep_for(49500ms));
  EXPECT_EQ(Scheduler::current().statistics().task_count, before + 50);
  EXPECT_TRUE(group.join(Deadline::never()));
  EXPECT_EQ(Scheduler::current().statistics().task_count, before);
  EXPECT_EQ(sum, 600u);
}

TEST(InTaskTest, CancellingTheCoroutineCancelsTheCall) {
  const TimePoint start = now();
  AsyncGroup group;
  std::size_t sum = 0;
  group.spawn(add_length(1h, sum));
  EXPECT_TRUE(sleep_for(1s));
  group.cancel();
  EXPECT_THAT(group.join(Deadline::never()), fails_with(Code::cancelled));
  auto asking = spawn("asking", [] { return await(ask(1h)); });
  EXPECT_TRUE(yield());
  asking.cancel();
  EXPECT_THAT(asking.join(Deadline::never()), fails_with(Code::cancelled));
  EXPECT_EQ(now(), start + 1s);
}

Async<void> hold(WaitQueue& release, bool& has_ended) {
  int part = 0;
  auto held = co_await in_task("hold", [&]() -> Result<void> {
    // Does not obey its cancellation, and works with a local of the coroutine.
    release.wait(Deadline::never(), Cancellation::ignore);
    part = 1;
    return {};
  });
  EXPECT_TRUE(held);
  EXPECT_EQ(part, 1);
  has_ended = true;
  co_return {};
}

TEST(InTaskTest, ACancelledCoroutineWaitsForTheEndOfItsCall) {
  WaitQueue release("release");
  bool has_ended = false;
  AsyncGroup group;
  group.spawn(hold(release, has_ended));
  EXPECT_TRUE(yield());
  for (int round = 0; round < 5; ++round) {
    group.cancel();
    EXPECT_TRUE(yield());
    EXPECT_FALSE(has_ended);
  }
  EXPECT_TRUE(release.notify_one());
  EXPECT_TRUE(group.join(Deadline::never()));
  EXPECT_TRUE(has_ended);

  has_ended = false;
  auto holding = spawn("holding", [&] { return await(hold(release, has_ended)); });
  for (int round = 0; round < 5; ++round) {
    EXPECT_TRUE(yield());
    holding.cancel();
    EXPECT_FALSE(has_ended);
  }
  EXPECT_TRUE(release.notify_one());
  EXPECT_TRUE(holding.join(Deadline::never()));
  EXPECT_TRUE(has_ended);
}

TEST(InTaskTest, ACoroutineThatIsCancelledBeforehandStillGetsTheResult) {
  AsyncGroup group;
  std::size_t sum = 0;
  group.spawn(add_length(-1s, sum));
  group.cancel();
  EXPECT_THAT(group.join(Deadline::never()),
              fails_with(Code::cancelled));  // sleep_for() of a cancelled task.
  EXPECT_EQ(sum, 0u);
}

Async<int> read_guarded(SharedMutex& mutex, int& value) {
  co_return co_await in_task("read", [&]() -> Result<int> {
    const std::shared_lock lock(mutex);
    return value;
  });
}

TEST(InTaskTest, CallsThatNeedAStackWork) {
  SharedMutex mutex;
  int value = 7;
  EXPECT_EQ(await(read_guarded(mutex, value)).value_or(0), 7);
}

Async<void> throw_on_stack() {
  co_return co_await in_task("throws",
                             []() -> Result<void> { throw std::runtime_error("9 of 8"); });
}

Async<int> too_deep() {
  co_return co_await in_task("deep", [] { return 1; }, {.stack_size_bytes = std::size_t{1} << 40});
}

TEST(InTaskTest, AnExceptionAndAMissingStackAreErrors) {
  EXPECT_THAT(await(throw_on_stack()), fails_with(Code::internal));
  EXPECT_THAT(await(too_deep()), fails_with(Code::invalid_argument));
}

}  // namespace
}  // namespace corolane::coroutine
