// SPDX-License-Identifier: MIT
#include "coroutine/sync/future.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <utility>

#include "coroutine/scheduler.h"
#include "coroutine/task.h"
#include "coroutine/testing/matchers.h"

namespace corolane::coroutine {
namespace {

using namespace std::chrono_literals;
using test::fails_with;

TEST(FutureTest, GetsTheValueThatIsSetLater) {
  Promise<std::unique_ptr<int>> promise;
  auto future = promise.get_future();
  const TimePoint start = now();
  auto giver = spawn("giver", [&] {
    EXPECT_TRUE(sleep_for(1s));
    promise.set_value(std::make_unique<int>(5));
  });
  EXPECT_FALSE(future.is_ready());
  auto value = future.get(Deadline::never());
  ASSERT_TRUE(value);
  EXPECT_EQ(**value, 5);
  EXPECT_EQ(now() - start, 1s);
}

TEST(FutureTest, AnAvailableValueIsTakenOnceWithoutWaiting) {
  Promise<int> promise;
  auto future = promise.get_future();
  promise.set_value(5);
  EXPECT_TRUE(future.is_ready());
  EXPECT_EQ(future.get(Deadline::passed()), 5);
  EXPECT_THAT(future.get(Deadline::never()), fails_with(Code::failed_precondition));
  EXPECT_THAT(Future<int>().get(Deadline::never()), fails_with(Code::failed_precondition));
}

TEST(FutureTest, GetsAnError) {
  Promise<void> promise;
  auto future = promise.get_future();
  promise.set_error(Error(Code::not_found, "no such player"));
  EXPECT_THAT(future.get(Deadline::never()), fails_with(Code::not_found));
}

TEST(FutureTest, ABrokenPromiseIsAborted) {
  std::optional<Promise<void>> promise(std::in_place);
  auto future = promise->get_future();
  auto breaker = spawn("breaker", [&] { promise.reset(); });
  EXPECT_THAT(future.get(Deadline::never()), fails_with(Code::aborted));
}

TEST(FutureTest, AWaitThatFailedMayBeRepeated) {
  Promise<int> promise;
  auto future = promise.get_future();
  const TimePoint start = now();
  EXPECT_THAT(future.get(Deadline::after(1s)), fails_with(Code::deadline_exceeded));
  EXPECT_EQ(now() - start, 1s);
  auto getter = spawn("getter", [&] { return future.get(Deadline::never()); });
  EXPECT_TRUE(yield());
  getter.cancel();
  EXPECT_THAT(getter.join(Deadline::never()), fails_with(Code::cancelled));
  Scheduler::current().post([&] { promise.set_value(6); });
  EXPECT_EQ(future.get(Deadline::never()), 6);
}

TEST(FutureTest, OneOfSeveralWaitersGetsTheValue) {
  Promise<int> promise;
  auto future = promise.get_future();
  auto first = spawn("first", [&] { return future.get(Deadline::never()); });
  auto second = spawn("second", [&] { return future.get(Deadline::never()); });
  EXPECT_TRUE(yield());
  promise.set_value(7);
  EXPECT_EQ(first.join(Deadline::never()), 7);
  EXPECT_THAT(second.join(Deadline::never()), fails_with(Code::failed_precondition));
}

TEST(FutureTest, BothEndsMayMove) {
  Promise<int> promise;
  Future<int> future = promise.get_future();
  Promise<int> moved_promise(std::move(promise));
  Future<int> moved_future(std::move(future));
  promise = Promise<int>();
  promise = std::move(moved_promise);
  future = std::move(moved_future);
  promise.set_value(8);
  moved_future = std::move(future);
  EXPECT_EQ(moved_future.get(Deadline::passed()), 8);
}

TEST(FutureTest, AValueForAFutureThatIsGoneIsDropped) {
  const auto value = std::make_shared<int>(9);
  Promise<std::shared_ptr<int>> promise;
  static_cast<void>(promise.get_future());
  promise.set_value(value);
  EXPECT_EQ(value.use_count(), 1);
}

TEST(FutureTest, AFutureThatIsReplacedForgetsItsPromise) {
  Promise<int> promise;
  Promise<int> next;
  Future<int> future = promise.get_future();
  future = next.get_future();
  promise.set_value(1);
  EXPECT_FALSE(future.is_ready());
  next.set_value(2);
  EXPECT_EQ(future.get(Deadline::passed()), 2);
}

TEST(FutureDeathTest, APromiseIsKeptAfterItsFutureWasTaken) {
  Promise<int> promise;
  EXPECT_DEATH(promise.set_value(1), "a promise is kept after its future was taken");
}

TEST(FutureDeathTest, APromiseIsKeptOnce) {
  Promise<int> promise;
  auto future = promise.get_future();
  promise.set_value(1);
  EXPECT_DEATH(promise.set_value(2), "a promise is kept once");
  EXPECT_DEATH(static_cast<void>(promise.get_future()), "a promise has one future");
}

}  // namespace
}  // namespace corolane::coroutine
