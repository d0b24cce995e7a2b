#include "coroutine/sync/wait_any.h"

#include <gtest/gtest.h>

#include <chrono>
#include <span>
#include <vector>

#include "coroutine/sync/event.h"
#include "coroutine/sync/latch.h"
#include "coroutine/testing/matchers.h"

namespace corolane::coroutine {
namespace {

using namespace std::chrono_literals;
using test::fails_with;

Task<int> answer_after(Duration delay, int answer) {
  return spawn("answer", [delay, answer]() -> Result<int> {
    if (auto slept = sleep_for(delay); !slept) return slept.error();
    return answer;
  });
}

TEST(WaitAnyTest, ReturnsTheTaskThatEndedFirst) {
  auto slow = answer_after(2s, 1);
  auto fast = answer_after(1s, 2);
  const TimePoint start = now();
  EXPECT_EQ(wait_any(Deadline::never(), slow, fast), 1u);
  EXPECT_EQ(now() - start, 1s);
  EXPECT_EQ(fast.join(Deadline::passed()), 2);
}

TEST(WaitAnyTest, CompletedArgumentsAreTakenInOrder) {
  Event never_set;
  Event event;
  event.set();
  Latch latch(0);
  EXPECT_EQ(wait_any(Deadline::passed(), never_set.waiting(), event.waiting(), latch.waiting()),
            1u);
}

TEST(WaitAnyTest, TakesNothingFromAFuture) {
  Promise<int> promise;
  auto future = promise.get_future();
  Event event;
  auto setter = spawn("setter", [&] { promise.set_value(4); });
  EXPECT_EQ(wait_any(Deadline::never(), event.waiting(), future), 1u);
  EXPECT_EQ(wait_any(Deadline::never(), event.waiting(), future), 1u);
  EXPECT_EQ(future.get(Deadline::passed()), 4);
}

TEST(WaitAnyTest, FailsOnItsDeadlineOrWhenCancelled) {
  Event left;
  Event right;
  EXPECT_THAT(wait_any(Deadline::after(1s), left.waiting(), right.waiting()),
              fails_with(Code::deadline_exceeded));
  auto waiter = spawn("waiter", [&] {
    EXPECT_THAT(wait_any(Deadline::never(), left.waiting(), right.waiting()),
                fails_with(Code::cancelled));
  });
  EXPECT_TRUE(yield());
  waiter.cancel();
  EXPECT_TRUE(waiter.join());
}

TEST(WaitAnyTest, WorksForManyTasks) {
  std::vector<Task<int>> tasks;
  for (int number = 0; number < 100; ++number) {
    tasks.push_back(answer_after((number * 37 % 100 + 1) * 1s, number));
  }
  const TimePoint start = now();
  for (int second = 1; second <= 100; ++second) {
    const auto index = wait_any(Deadline::never(), std::span(tasks));
    ASSERT_TRUE(index);
    EXPECT_EQ(now() - start, second * 1s);
    EXPECT_TRUE(tasks[*index].join(Deadline::passed()));
    tasks.erase(tasks.begin() + static_cast<std::ptrdiff_t>(*index));
  }
}

TEST(WaitAnyTest, ManyTasksMayTakeTooLong) {
  std::vector<Task<int>> tasks;
  for (int number = 0; number < 3; ++number) tasks.push_back(answer_after(1h, number));
  EXPECT_THAT(wait_any(Deadline::after(1s), std::span(tasks)), fails_with(Code::deadline_exceeded));
  EXPECT_THAT(wait_any(Deadline::passed(), std::span(tasks)), fails_with(Code::deadline_exceeded));
}

}  // namespace
}  // namespace corolane::coroutine
