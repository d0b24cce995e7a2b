// SPDX-License-Identifier: MIT
#include "coroutine/sync/for_each.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <ranges>
#include <stdexcept>
#include <vector>

#include "coroutine/scheduler.h"
#include "coroutine/sync/mutex.h"
#include "coroutine/testing/matchers.h"
#include "coroutine/virtual_time.h"

namespace corolane::coroutine {
namespace {

using namespace std::chrono_literals;
using test::fails_with;

// Counts the calls that run at the same time.
class Running {
 public:
  explicit Running(int& count) : count_(count) { ++count_; }
  ~Running() { --count_; }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

 private:
  int& count_;
};

// Locking its mutex takes until that time has passed, also for a task that is cancelled.
struct BusyFor {
  explicit BusyFor(Duration time)
      : holder(spawn("holder", [this, time] {
          const std::scoped_lock lock(mutex);
          EXPECT_TRUE(sleep_for(time));
        })) {}

  Mutex mutex;
  Task<void> holder;
};

Result<void> pause(Duration time) { return sleep_for(time); }

TEST(ForEachTest, ValuesComeInTheOrderOfTheElements) {
  const std::vector<int> elements = {3, 1, 2};
  const auto doubled = for_each(
      elements, {.concurrency = 3},
      [](int element) -> Result<int> {
        if (auto slept = pause(element * 1s); !slept) return slept.error();
        return 2 * element;
      },
      Deadline::never());
  EXPECT_EQ(doubled, (Result<std::vector<int>>({6, 2, 4})));
}

TEST(ForEachTest, AFunctionMayReturnABareValueOrNothing) {
  const std::vector<int> elements = {1, 2};
  EXPECT_EQ(
      for_each(
          elements, {.concurrency = 1}, [](int element) { return element + 1; }, Deadline::never()),
      (Result<std::vector<int>>({2, 3})));
  int sum = 0;
  EXPECT_TRUE(for_each(
      elements, {.concurrency = 1}, [&](int element) { sum += element; }, Deadline::never()));
  EXPECT_EQ(sum, 3);
}

TEST(ForEachTest, ElementsAreReferencesAndValuesAreMoved) {
  std::vector<int> elements = {1, 2};
  const auto values = for_each(
      elements, {.concurrency = 2}, [](int& element) { return std::make_unique<int>(element++); },
      Deadline::never());
  ASSERT_TRUE(values);
  EXPECT_EQ(*values->at(1), 2);
  EXPECT_EQ(elements, (std::vector{2, 3}));
}

TEST(ForEachTest, AtMostSoManyCallsRunAtATime) {
  const TimePoint start = now();
  int running_count = 0;
  int most = 0;
  const auto done = for_each(
      std::views::iota(0, 10), {.concurrency = 4},
      [&](int) {
        const Running running(running_count);
        most = std::max(most, running_count);
        return pause(1s);
      },
      Deadline::never());
  EXPECT_TRUE(done);
  EXPECT_EQ(most, 4);
  EXPECT_EQ(now(), start + 3s);
}

TEST(ForEachTest, ALongRangeCostsNoMoreTasksThanAllowed) {
  const auto task_count = [] { return Scheduler::current().statistics().task_count; };
  const std::size_t before = task_count();
  std::size_t most = 0;
  const auto done = for_each(
      std::views::iota(0, 1000), {.concurrency = 8},
      [&](int) {
        most = std::max(most, task_count() - before);
        return yield();
      },
      Deadline::never());
  EXPECT_TRUE(done);
  EXPECT_EQ(most, 8u);
}

TEST(ForEachTest, AnEmptyRangeIsDoneAtOnce) {
  const std::vector<int> none;
  const auto call = [](int element) { return element; };
  EXPECT_EQ(for_each(none, {.concurrency = 8}, call, Deadline::passed()),
            Result<std::vector<int>>(std::vector<int>()));
}

TEST(ForEachTest, TheFirstErrorCancelsTheOthersAndIsReturned) {
  const TimePoint start = now();
  int begun_count = 0;
  int cancelled_count = 0;
  int running_count = 0;
  const auto done = for_each(
      std::views::iota(0, 10), {.concurrency = 3},
      [&](int element) -> Result<void> {
        const Running running(running_count);
        ++begun_count;
        if (element == 1) {
          EXPECT_TRUE(pause(1s));
          return Error(Code::data_loss, "on purpose");
        }
        auto slept = pause(1h);
        if (!slept) ++cancelled_count;
        return slept;
      },
      Deadline::never());
  EXPECT_THAT(done, fails_with(Code::data_loss));
  EXPECT_EQ(begun_count, 3);
  EXPECT_EQ(cancelled_count, 2);
  EXPECT_EQ(running_count, 0);
  EXPECT_EQ(now(), start + 1s);
}

TEST(ForEachTest, AnErrorStopsCallsThatNeverSuspend) {
  int begun_count = 0;
  const auto done = for_each(
      std::views::iota(0, 10), {.concurrency = 2},
      [&](int) -> Result<int> {
        if (++begun_count == 3) return Error(Code::aborted, "on purpose");
        return 0;
      },
      Deadline::never());
  EXPECT_THAT(done, fails_with(Code::aborted));
  EXPECT_EQ(begun_count, 3);
}

TEST(ForEachTest, AStrayExceptionIsAnInternalErrorAndCancelsTheOthers) {
  const TimePoint start = now();
  const auto done = for_each(
      std::views::iota(0, 2), {.concurrency = 2},
      [](int element) -> Result<void> {
        if (element == 0) throw std::runtime_error("on purpose");
        return pause(1h);
      },
      Deadline::never());
  EXPECT_THAT(done, fails_with(Code::internal));
  EXPECT_EQ(now(), start);
}

TEST(ForEachTest, ALateCallerCancelsTheCallsAndWaitsForThem) {
  const TimePoint start = now();
  BusyFor busy(20s);
  int running_count = 0;
  const auto done = for_each(
      std::views::iota(0, 5), {.concurrency = 2},
      [&](int) -> Result<void> {
        const Running running(running_count);
        auto slept = pause(1h);
        const std::scoped_lock tidying(busy.mutex);
        return slept;
      },
      Deadline::after(10s));
  EXPECT_THAT(done, fails_with(Code::deadline_exceeded));
  EXPECT_EQ(running_count, 0);
  EXPECT_EQ(now(), start + 20s);
}

TEST(ForEachTest, AnErrorBeforeTheDeadlineIsReturnedAlthoughTheOthersEndLater) {
  BusyFor busy(20s);
  const auto done = for_each(
      std::views::iota(0, 2), {.concurrency = 2},
      [&](int element) -> Result<void> {
        if (element == 0) {
          EXPECT_TRUE(pause(1s));
          return Error(Code::not_found, "on purpose");
        }
        static_cast<void>(pause(1h));
        const std::scoped_lock tidying(busy.mutex);
        return {};
      },
      Deadline::after(2s));
  EXPECT_THAT(done, fails_with(Code::not_found));
}

TEST(ForEachTest, ACancelledCallerCancelsTheCallsAndWaitsForThem) {
  int running_count = 0;
  auto caller = spawn("caller", [&] {
    return for_each(
        std::views::iota(0, 5), {.concurrency = 2},
        [&](int) {
          const Running running(running_count);
          return pause(1h);
        },
        Deadline::never());
  });
  EXPECT_TRUE(sleep_for(1s));
  EXPECT_EQ(running_count, 2);
  caller.cancel();
  EXPECT_THAT(caller.join(Deadline::never()), fails_with(Code::cancelled));
  EXPECT_EQ(running_count, 0);
}

TEST(ForEachTest, ACallerThatIsLateAlreadyBeginsNoCall) {
  int begun_count = 0;
  const auto done = for_each(
      std::views::iota(0, 3), {.concurrency = 2}, [&](int) { ++begun_count; }, Deadline::passed());
  EXPECT_THAT(done, fails_with(Code::deadline_exceeded));
  EXPECT_EQ(begun_count, 0);
}

}  // namespace
}  // namespace corolane::coroutine
