#include "coroutine/sync/wait_all.h"

#include <gtest/gtest.h>

#include <chrono>
#include <span>
#include <vector>

#include "coroutine/sync/event.h"
#include "coroutine/testing/matchers.h"

namespace corolane::coroutine {
namespace {

using namespace std::chrono_literals;
using test::fails_with;

TEST(WaitAllTest, WaitsForTheLast) {
  auto first = spawn("first", [] { return sleep_for(2s); });
  auto second = spawn("second", []() -> Result<int> { return Error(Code::not_found, "nothing"); });
  Promise<int> promise;
  auto future = promise.get_future();
  Event event;
  auto giver = spawn("giver", [&] {
    event.set();
    EXPECT_TRUE(sleep_for(3s));
    promise.set_value(4);
  });
  const TimePoint start = now();
  EXPECT_TRUE(wait_all(Deadline::never(), first, second, event.waiting(), future));
  EXPECT_EQ(now() - start, 3s);
  EXPECT_TRUE(first.join(Deadline::passed()));
  EXPECT_THAT(second.join(Deadline::passed()), fails_with(Code::not_found));
  EXPECT_EQ(future.get(Deadline::passed()), 4);
}

TEST(WaitAllTest, WorksForManyTasks) {
  std::vector<Task<void>> tasks;
  for (int number = 0; number < 100; ++number) {
    tasks.push_back(spawn("sleeper", [number] { return sleep_for((number * 37 % 100) * 1s); }));
  }
  const TimePoint start = now();
  EXPECT_THAT(wait_all(Deadline::after(50s), std::span(tasks)),
              fails_with(Code::deadline_exceeded));
  EXPECT_TRUE(wait_all(Deadline::never(), std::span(tasks)));
  EXPECT_EQ(now() - start, 99s);
  for (auto& task : tasks) EXPECT_TRUE(task.join(Deadline::passed()));
}

TEST(WaitAllTest, FailsOnItsDeadlineOrWhenCancelled) {
  Event set;
  set.set();
  Event never_set;
  const TimePoint start = now();
  EXPECT_THAT(wait_all(Deadline::after(1s), set.waiting(), never_set.waiting(), set.waiting()),
              fails_with(Code::deadline_exceeded));
  EXPECT_EQ(now() - start, 1s);
  auto waiter = spawn(
      "waiter", [&] { return wait_all(Deadline::never(), set.waiting(), never_set.waiting()); });
  EXPECT_TRUE(yield());
  waiter.cancel();
  EXPECT_THAT(waiter.join(), fails_with(Code::cancelled));
}

TEST(WaitAllTest, AnEmptyWaitSucceedsAtOnce) {
  EXPECT_TRUE(wait_all(Deadline::passed()));
  EXPECT_TRUE(wait_all(Deadline::passed(), std::span<Task<int>>()));
}

}  // namespace
}  // namespace corolane::coroutine
