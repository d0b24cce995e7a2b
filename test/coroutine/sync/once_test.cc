// SPDX-License-Identifier: MIT
#include "coroutine/sync/once.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <string>

#include "coroutine/cancel_scope.h"
#include "coroutine/task.h"
#include "coroutine/testing/matchers.h"
#include "coroutine/virtual_time.h"

namespace corolane::coroutine {
namespace {

using namespace std::chrono_literals;
using test::fails_with;

// Loads in a second, the number of the call; counts.
struct Store {
  int load_count = 0;
  int running_count = 0;
  int running_most = 0;
  int failures_left = 0;

  Result<int> load() {
    running_most = std::max(running_most, ++running_count);
    const int number = ++load_count;
    auto slept = sleep_for(1s);
    --running_count;
    if (!slept) return slept.error();
    if (failures_left > 0) {
      --failures_left;
      return Error(Code::not_found, "on purpose");
    }
    return number;
  }
};

class OnceTest : public testing::Test {
 protected:
  Result<int> get(const std::string& key, Deadline deadline = Deadline::never()) {
    return once_.get(key, [&] { return store_.load(); }, deadline);
  }
  Task<int> begin_get(const std::string& key, Deadline deadline = Deadline::never()) {
    return spawn("get " + key, [this, key, deadline] { return get(key, deadline); });
  }

  Store store_;
  Once<std::string, int> once_;
};

TEST_F(OnceTest, AValueIsLoadedOnceAndKept) {
  EXPECT_EQ(once_.find("a"), nullptr);
  EXPECT_EQ(get("a"), Result<int>(1));
  EXPECT_EQ(get("a", Deadline::passed()), Result<int>(1));
  EXPECT_EQ(store_.load_count, 1);
  ASSERT_NE(once_.find("a"), nullptr);
  EXPECT_EQ(*once_.find("a"), 1);
  EXPECT_EQ(once_.size(), 1u);
}

TEST_F(OnceTest, TasksThatAskMeanwhileShareTheResult) {
  const TimePoint start = now();
  auto first = begin_get("a");
  auto second = begin_get("a");
  auto third = begin_get("a");
  EXPECT_EQ(first.join(Deadline::never()), Result<int>(1));
  EXPECT_EQ(second.join(Deadline::never()), Result<int>(1));
  EXPECT_EQ(third.join(Deadline::never()), Result<int>(1));
  EXPECT_EQ(store_.load_count, 1);
  EXPECT_EQ(now(), start + 1s);
}

TEST_F(OnceTest, DifferentKeysDoNotWaitForOneAnother) {
  const TimePoint start = now();
  auto a = begin_get("a");
  auto b = begin_get("b");
  EXPECT_TRUE(a.join(Deadline::never()));
  EXPECT_TRUE(b.join(Deadline::never()));
  EXPECT_EQ(store_.running_most, 2);
  EXPECT_EQ(now(), start + 1s);
}

TEST_F(OnceTest, AnErrorIsSharedButNotKept) {
  store_.failures_left = 1;
  auto first = begin_get("a");
  auto second = begin_get("a");
  EXPECT_THAT(first.join(Deadline::never()), fails_with(Code::not_found));
  EXPECT_THAT(second.join(Deadline::never()), fails_with(Code::not_found));
  EXPECT_EQ(store_.load_count, 1);
  EXPECT_EQ(once_.size(), 0u);
  EXPECT_EQ(get("a"), Result<int>(2));
}

TEST_F(OnceTest, ACancelledLoaderHandsOverToTheLongestWaiter) {
  auto first = begin_get("a");
  auto second = begin_get("a");
  auto third = begin_get("a");
  EXPECT_TRUE(sleep_for(500ms));
  first.cancel();
  EXPECT_THAT(first.join(Deadline::never()), fails_with(Code::cancelled));
  EXPECT_EQ(second.join(Deadline::never()), Result<int>(2));
  EXPECT_EQ(third.join(Deadline::never()), Result<int>(2));
  EXPECT_EQ(store_.running_most, 1);
}

TEST_F(OnceTest, ALateLoaderHandsOverToTheLongestWaiter) {
  auto first = spawn("first", [&] {
    const Deadline deadline = Deadline::after(500ms);
    return once_.get(
        "a",
        [&]() -> Result<int> {
          if (auto slept = sleep_until(deadline); !slept) return slept.error();
          return Error(Code::deadline_exceeded, "too late");
        },
        deadline);
  });
  auto second = begin_get("a");
  EXPECT_THAT(first.join(Deadline::never()), fails_with(Code::deadline_exceeded));
  EXPECT_EQ(second.join(Deadline::never()), Result<int>(1));
}

TEST_F(OnceTest, ALoaderWhoseScopeIsCancelledHandsOver) {
  auto first = spawn("first", [&] {
    const CancelScope scope(Deadline::after(500ms));
    return get("a");
  });
  auto second = begin_get("a");
  EXPECT_THAT(first.join(Deadline::never()), fails_with(Code::cancelled));
  EXPECT_EQ(second.join(Deadline::never()), Result<int>(2));
}

TEST_F(OnceTest, NothingIsLeftWhenTheOnlyLoaderIsCancelled) {
  auto first = begin_get("a");
  EXPECT_TRUE(sleep_for(500ms));
  first.cancel();
  EXPECT_THAT(first.join(Deadline::never()), fails_with(Code::cancelled));
  EXPECT_EQ(once_.size(), 0u);
}

TEST_F(OnceTest, AWaiterThatGivesUpDisturbsNobody) {
  auto first = begin_get("a");
  auto second = begin_get("a", Deadline::after(100ms));
  auto third = begin_get("a");
  EXPECT_TRUE(sleep_for(200ms));
  third.cancel();
  EXPECT_THAT(second.join(Deadline::never()), fails_with(Code::deadline_exceeded));
  EXPECT_THAT(third.join(Deadline::never()), fails_with(Code::cancelled));
  EXPECT_EQ(first.join(Deadline::never()), Result<int>(1));
}

TEST_F(OnceTest, AnExceptionGoesToTheLoaderAndAWaiterLoads) {
  auto first = spawn("first", [&] {
    return once_.get(
        "a",
        []() -> Result<int> {
          EXPECT_TRUE(sleep_for(1s));
          throw std::runtime_error("on purpose");
        },
        Deadline::never());
  });
  auto second = begin_get("a");
  EXPECT_THAT(first.join(Deadline::never()), fails_with(Code::internal));
  EXPECT_EQ(second.join(Deadline::never()), Result<int>(1));
}

TEST_F(OnceTest, AForgottenValueIsLoadedAgain) {
  EXPECT_EQ(get("a"), Result<int>(1));
  once_.forget("a");
  once_.forget("b");
  EXPECT_EQ(once_.find("a"), nullptr);
  EXPECT_EQ(get("a"), Result<int>(2));
}

TEST_F(OnceTest, AValueForgottenWhileItIsLoadedIsNotKept) {
  auto first = begin_get("a");
  auto second = begin_get("a");
  EXPECT_TRUE(sleep_for(500ms));
  once_.forget("a");
  EXPECT_EQ(first.join(Deadline::never()), Result<int>(1));
  EXPECT_EQ(second.join(Deadline::never()), Result<int>(1));
  EXPECT_EQ(once_.size(), 0u);
}

}  // namespace
}  // namespace corolane::coroutine
