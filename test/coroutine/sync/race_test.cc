// SPDX-License-Identifier: MIT
#include "coroutine/sync/race.h"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <stdexcept>
#include <vector>

#include "coroutine/task.h"
#include "coroutine/testing/matchers.h"
#include "coroutine/virtual_time.h"

namespace corolane::coroutine {
namespace {

using namespace std::chrono_literals;
using test::fails_with;

// A way to a value, with its result and its duration.
struct Way {
  Duration time;
  Result<int> outcome;
};

// Walks the ways, and counts those that were walked and those that were left early.
struct Walk {
  int begun_count = 0;
  int cancelled_count = 0;
  int running_count = 0;

  Result<int> operator()(const Way& way) {
    ++begun_count;
    ++running_count;
    auto slept = sleep_for(way.time);
    --running_count;
    if (slept) return way.outcome;
    ++cancelled_count;
    return slept.error();
  }
};

Error failure(Code code) { return Error(code, "on purpose"); }

TEST(RaceTest, TheFirstSuccessWinsAndTheOthersAreCancelled) {
  const TimePoint start = now();
  const std::vector<Way> ways = {{3s, 3}, {1s, 1}, {2s, 2}};
  Walk walk;
  EXPECT_EQ(race(ways, {}, std::ref(walk), Deadline::never()), Result<int>(1));
  EXPECT_EQ(walk.begun_count, 3);
  EXPECT_EQ(walk.cancelled_count, 2);
  EXPECT_EQ(walk.running_count, 0);
  EXPECT_EQ(now(), start + 1s);
}

TEST(RaceTest, AFailureDoesNotEndIt) {
  const std::vector<Way> ways = {{1s, failure(Code::aborted)}, {2s, 2}};
  EXPECT_EQ(race(ways, {}, Walk(), Deadline::never()), Result<int>(2));
}

TEST(RaceTest, WhenAllFailTheFirstErrorIsReturned) {
  const TimePoint start = now();
  const std::vector<Way> ways = {{2s, failure(Code::aborted)}, {1s, failure(Code::not_found)}};
  EXPECT_THAT(race(ways, {}, Walk(), Deadline::never()), fails_with(Code::not_found));
  EXPECT_EQ(now(), start + 2s);
}

TEST(RaceTest, TheNextBeginsAfterTheHeadStart) {
  const TimePoint start = now();
  const std::vector<Way> ways = {{25ms, 1}, {1s, 2}, {1s, 3}, {1s, 4}};
  Walk walk;
  EXPECT_EQ(race(ways, {.head_start = 10ms}, std::ref(walk), Deadline::never()), Result<int>(1));
  EXPECT_EQ(walk.begun_count, 3);
  EXPECT_EQ(now(), start + 25ms);
}

TEST(RaceTest, TheNextBeginsAtOnceWhenOneHasFailed) {
  const TimePoint start = now();
  const std::vector<Way> ways = {{1s, failure(Code::unavailable)}, {1s, 2}};
  EXPECT_EQ(race(ways, {.head_start = 1h}, Walk(), Deadline::never()), Result<int>(2));
  EXPECT_EQ(now(), start + 2s);
}

TEST(RaceTest, TheNextDoesNotBeginOnceOneHasWon) {
  const std::vector<Way> ways = {{1s, 1}, {1s, 2}};
  Walk walk;
  EXPECT_EQ(race(ways, {.head_start = 1h}, std::ref(walk), Deadline::never()), Result<int>(1));
  EXPECT_EQ(walk.begun_count, 1);
}

TEST(RaceTest, ALateCallerCancelsTheTriesAndWaitsForThem) {
  const TimePoint start = now();
  const std::vector<Way> ways = {{1h, 1}, {1h, 2}};
  Walk walk;
  EXPECT_THAT(race(ways, {}, std::ref(walk), Deadline::after(1s)),
              fails_with(Code::deadline_exceeded));
  EXPECT_THAT(race(ways, {.head_start = 1h}, std::ref(walk), Deadline::after(1s)),
              fails_with(Code::deadline_exceeded));
  EXPECT_EQ(walk.begun_count, 3);
  EXPECT_EQ(walk.cancelled_count, 3);
  EXPECT_EQ(walk.running_count, 0);
  EXPECT_EQ(now(), start + 2s);
}

TEST(RaceTest, ACancelledCallerCancelsTheTriesAndWaitsForThem) {
  const std::vector<Way> ways = {{1h, 1}, {1h, 2}};
  for (const Duration head_start : {Duration(0s), Duration(1h)}) {
    Walk walk;
    auto caller = spawn("caller", [&] {
      return race(ways, {.head_start = head_start}, std::ref(walk), Deadline::never());
    });
    EXPECT_TRUE(sleep_for(1s));
    EXPECT_GT(walk.running_count, 0);
    caller.cancel();
    EXPECT_THAT(caller.join(Deadline::never()), fails_with(Code::cancelled));
    EXPECT_EQ(walk.running_count, 0);
  }
}

TEST(RaceTest, ASuccessAlthoughCancelledStillWins) {
  const std::vector<int> one = {17};
  const auto won = race(
      one, {},
      [](int value) -> Result<int> {
        EXPECT_FALSE(sleep_for(1h));
        return value;
      },
      Deadline::after(1s));
  EXPECT_EQ(won, Result<int>(17));
}

TEST(RaceTest, AStrayExceptionIsAFailureLikeOthers) {
  const std::vector<int> values = {0, 1};
  const auto odd = [](int value) {
    if (value % 2 == 0) throw std::runtime_error("on purpose");
    return std::make_unique<int>(value);
  };
  const auto won = race(values, {.head_start = 1h}, odd, Deadline::never());
  ASSERT_TRUE(won);
  EXPECT_EQ(**won, 1);
  const std::vector<int> even = {0, 2};
  EXPECT_THAT(race(even, {.head_start = 1h}, odd, Deadline::never()), fails_with(Code::internal));
}

}  // namespace
}  // namespace corolane::coroutine
