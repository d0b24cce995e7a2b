// SPDX-License-Identifier: MIT
// The waits of a stackless coroutine: deadlines, operations and turns.
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <mutex>
#include <variant>
#include <vector>

#include "coroutine/async/async.h"
#include "coroutine/scheduler.h"
#include "coroutine/sync/channel.h"
#include "coroutine/sync/event.h"
#include "coroutine/sync/mutex.h"
#include "coroutine/task.h"
#include "coroutine/task_group.h"
#include "coroutine/testing/matchers.h"
#include "coroutine/virtual_time.h"

namespace corolane::coroutine {
namespace {

using namespace std::chrono_literals;
using test::fails_with;

Async<void> sleep(Duration duration) { co_return co_await until(Deadline::after(duration)); }

Async<void> wait_for(Event& event, Deadline deadline) {
  co_return co_await until(event.waiting(), deadline);
}

TEST(AsyncWaitTest, SleepsUntilTheDeadline) {
  const TimePoint start = now();
  EXPECT_TRUE(await(sleep(10s)));
  EXPECT_EQ(now(), start + 10s);
  EXPECT_TRUE(await(sleep(0s)));
  EXPECT_TRUE(await(sleep(-1s)));
  EXPECT_EQ(now(), start + 10s);
}

TEST(AsyncWaitTest, AWaitEndsWhenItIsNotifiedOrAtItsDeadline) {
  const TimePoint start = now();
  Event event;
  auto setter = spawn("setter", [&] {
    EXPECT_TRUE(sleep_for(3s));
    event.set();
  });
  EXPECT_THAT(await(wait_for(event, Deadline::after(2s))), fails_with(Code::deadline_exceeded));
  EXPECT_EQ(now(), start + 2s);
  EXPECT_TRUE(await(wait_for(event, Deadline::after(2s))));
  EXPECT_EQ(now(), start + 3s);
  EXPECT_TRUE(await(wait_for(event, Deadline::passed())));  // Completes without waiting.
  event.reset();
  const auto late = await(wait_for(event, Deadline::passed()));
  EXPECT_THAT(late, fails_with(Code::deadline_exceeded));
  EXPECT_EQ(late.error().message(), "deadline passed while waiting: event");
}

Async<int> sum_all(Channel<int>& numbers) {
  int sum = 0;
  while (auto number = co_await until(numbers.receiving(), Deadline::never())) sum += *number;
  co_return sum;
}

Async<void> send_all(Channel<int>& numbers, int count) {
  for (int number = 1; number <= count; ++number) {
    auto sent = co_await until(numbers.sending(int{number}), Deadline::never());
    if (!sent) co_return sent.error();
  }
  numbers.close();
  co_return {};
}

TEST(AsyncWaitTest, ChannelsConnectCoroutinesAndTasks) {
  for (const std::size_t capacity : {1u, 7u}) {
    Channel<int> numbers(capacity);
    auto sender = spawn("sender", [&] { return await(send_all(numbers, 100)); });
    EXPECT_EQ(await(sum_all(numbers)), 5050);
    EXPECT_TRUE(sender.join(Deadline::never()));
  }
}

Async<int> join_task(Task<int>& task) {
  co_return co_await until(task.joining(), Deadline::never());
}

TEST(AsyncWaitTest, MayJoinATask) {
  auto task = spawn("task", [] {
    EXPECT_TRUE(sleep_for(1s));
    return 9;
  });
  EXPECT_EQ(await(join_task(task)), 9);
}

using Selected = std::variant<Result<int>, Result<void>>;

Async<Selected> select_either(Channel<int>& numbers, Event& event, Deadline deadline) {
  co_return co_await until(numbers.receiving(), event.waiting(), deadline);
}

TEST(AsyncWaitTest, SelectCompletesTheFirstReadyOneInOrderOfArguments) {
  Channel<int> numbers(4);
  Event event;
  event.set();
  EXPECT_TRUE(numbers.try_send(5));
  const auto first = await(select_either(numbers, event, Deadline::passed()));
  ASSERT_TRUE(first);
  ASSERT_EQ(first->index(), 0u);
  EXPECT_EQ(std::get<0>(*first), 5);
  const auto second = await(select_either(numbers, event, Deadline::passed()));
  ASSERT_TRUE(second);
  ASSERT_EQ(second->index(), 1u);
  EXPECT_TRUE(std::get<1>(*second));
}

TEST(AsyncWaitTest, SelectWaitsForAllAndTakesOne) {
  Channel<int> numbers(1);
  Event event;
  auto waker = spawn("waker", [&] {
    EXPECT_TRUE(sleep_for(1s));
    EXPECT_TRUE(numbers.try_send(5));
    event.set();
    EXPECT_TRUE(sleep_for(1s));
    event.reset();
    EXPECT_TRUE(sleep_for(1s));
    event.set();
    EXPECT_TRUE(numbers.try_send(6));
  });
  const auto first = await(select_either(numbers, event, Deadline::never()));
  ASSERT_TRUE(first);
  EXPECT_EQ(std::get<0>(*first), 5);
  EXPECT_TRUE(sleep_for(1500ms));
  const auto second = await(select_either(numbers, event, Deadline::never()));
  ASSERT_TRUE(second);
  EXPECT_EQ(second->index(), 1u);
  EXPECT_EQ(numbers.size(), 1u);  // The value was not taken: it came after the wait.
}

TEST(AsyncWaitTest, SelectFailsAtItsDeadlineOrWhenCancelled) {
  Channel<int> numbers(1);
  Event event;
  const TimePoint start = now();
  EXPECT_THAT(await(select_either(numbers, event, Deadline::after(2s))),
              fails_with(Code::deadline_exceeded));
  EXPECT_EQ(now(), start + 2s);
  auto task =
      spawn("task", [&] { return await(select_either(numbers, event, Deadline::never())); });
  EXPECT_TRUE(yield());
  task.cancel();
  EXPECT_THAT(task.join(Deadline::never()), fails_with(Code::cancelled));
}

Async<void> collect_codes(Channel<int>& numbers, Event& event, std::vector<Code>& codes) {
  const auto code = [](const auto& result) {
    return result ? Code::unknown : result.error().code();
  };
  codes.push_back(code(co_await until(numbers.receiving(), Deadline::never())));
  codes.push_back(code(co_await until(event.waiting(), Deadline::never())));
  codes.push_back(code(co_await until(numbers.receiving(), event.waiting(), Deadline::never())));
  codes.push_back(code(co_await until(Deadline::after(1s))));
  codes.push_back(code(co_await let_others_run()));
  codes.push_back(code(co_await wait_for(event, Deadline::never())));
  EXPECT_TRUE(numbers.try_send(1));
  codes.push_back(code(co_await until(numbers.receiving(), Deadline::never())));
  co_return {};
}

TEST(AsyncWaitTest, EveryWaitInACancelledTaskFailsAtOnceButAvailableValuesAreHandedOut) {
  Channel<int> numbers(1);
  Event event;
  std::vector<Code> codes;
  const TimePoint start = now();
  auto task = spawn("task", [&] { return await(collect_codes(numbers, event, codes)); });
  EXPECT_TRUE(yield());
  task.cancel();
  EXPECT_TRUE(codes.empty());  // Its turn has not come yet.
  EXPECT_TRUE(task.join(Deadline::never()));
  std::vector<Code> expected(6, Code::cancelled);
  expected.push_back(Code::unknown);
  EXPECT_EQ(codes, expected);
  EXPECT_EQ(now(), start);
}

Async<void> ignore_cancellation(Event& cancelled, bool& ended) {
  EXPECT_THAT(co_await until(Deadline::after(1h)), fails_with(Code::cancelled));
  cancelled.set();
  EXPECT_THAT(co_await until(Deadline::after(1h)), fails_with(Code::cancelled));
  ended = true;
  co_return {};
}

TEST(AsyncWaitTest, AwaitReturnsOnlyWhenTheChildHasEnded) {
  Event cancelled;
  bool ended = false;
  auto task = spawn("task", [&] {
    const auto result = await(ignore_cancellation(cancelled, ended));
    EXPECT_TRUE(ended);
    return result;
  });
  EXPECT_TRUE(yield());
  task.cancel();
  EXPECT_TRUE(cancelled.wait(Deadline::never()));
  EXPECT_TRUE(task.join(Deadline::never()));
}

TEST(AsyncWaitTest, ACancellationBetweenTheWakeUpAndItsTurnEndsTheNextWait) {
  Event event;
  auto task = spawn("task", [&]() -> Result<void> {
    if (auto waited = await(wait_for(event, Deadline::never())); !waited) return waited;
    return await(sleep(1h));
  });
  EXPECT_TRUE(yield());
  event.set();
  task.cancel();
  const TimePoint start = now();
  EXPECT_THAT(task.join(Deadline::never()), fails_with(Code::cancelled));
  EXPECT_EQ(now(), start);
}

Async<void> note_turns(std::vector<int>& order, int number) {
  for (int turn = 0; turn < 3; ++turn) {
    order.push_back(number);
    if (auto ran = co_await let_others_run(); !ran) co_return ran.error();
  }
  co_return {};
}

TEST(AsyncWaitTest, TakesItsTurnAmongTasks) {
  std::vector<int> order;
  TaskGroup group;
  for (int number = 0; number < 4; ++number) {
    EXPECT_TRUE(group.spawn("task", [&, number] {
      if (number % 2 == 0) return await(note_turns(order, number));
      for (int turn = 0; turn < 3; ++turn) {
        order.push_back(number);
        EXPECT_TRUE(yield());
      }
      return Result<void>();
    }));
  }
  EXPECT_TRUE(group.join(Deadline::never()));
  EXPECT_EQ(order, std::vector({0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3}));
}

Async<void> note_wake_up(Event& event, std::vector<int>& order, int number) {
  EXPECT_TRUE(co_await until(event.waiting(), Deadline::never()));
  order.push_back(number);
  co_return {};
}

TEST(AsyncWaitTest, WakeUpIsInOrderOfArrivalMixedWithTasks) {
  Event event;
  std::vector<int> order;
  TaskGroup group;
  for (int number = 0; number < 6; ++number) {
    EXPECT_TRUE(group.spawn("task", [&, number] {
      if (number % 3 != 0) return await(note_wake_up(event, order, number));
      EXPECT_TRUE(event.wait(Deadline::never()));
      order.push_back(number);
      return Result<void>();
    }));
  }
  EXPECT_TRUE(yield());
  event.set();
  EXPECT_TRUE(group.join(Deadline::never()));
  // Tasks continue where they were; an awaited child also first ends in its turn.
  EXPECT_EQ(order, std::vector({0, 1, 2, 3, 4, 5}));
}

Async<void> hold(Mutex& mutex, int& holder_count) {
  if (auto locked = co_await until(mutex.locking(), Deadline::never()); !locked) {
    co_return locked.error();
  }
  EXPECT_EQ(++holder_count, 1);
  const auto slept = co_await until(Deadline::after(1s));
  --holder_count;
  mutex.unlock();
  co_return slept;
}

TEST(AsyncWaitTest, HoldsAMutexOverItsWaits) {
  const TimePoint start = now();
  Mutex mutex;
  int holder_count = 0;
  TaskGroup group;
  for (int number = 0; number < 5; ++number) {
    EXPECT_TRUE(group.spawn("stackless", [&] { return await(hold(mutex, holder_count)); }));
    EXPECT_TRUE(group.spawn("task", [&] {
      const std::scoped_lock lock(mutex);
      EXPECT_EQ(++holder_count, 1);
      EXPECT_TRUE(sleep_for(1s));
      --holder_count;
    }));
  }
  EXPECT_TRUE(group.join(Deadline::never()));
  EXPECT_EQ(now(), start + 10s);
}

Async<void> wait_twice(Event& first, Event& second) {
  EXPECT_TRUE(co_await until(first.waiting(), Deadline::never()));
  EXPECT_TRUE(co_await until(second.waiting(), Deadline::never()));
  co_return {};
}

TEST(AsyncWaitTest, TheAwaitingTaskShowsWhatItsChildWaitsFor) {
  Event rain("rain");
  Event sun("sun");
  auto task = spawn("farmer", [&] { return await(wait_twice(rain, sun)); });
  const auto waiting_for = [] { return Scheduler::current().tasks().back().waiting_for; };
  EXPECT_TRUE(yield());
  EXPECT_EQ(waiting_for(), "rain");
  rain.set();
  EXPECT_EQ(waiting_for(), "stackless coroutine");
  EXPECT_TRUE(yield());
  EXPECT_EQ(waiting_for(), "sun");
  sun.set();
  EXPECT_TRUE(task.join(Deadline::never()));
}

Async<void> yield_forever(const bool& ended) {
  while (!ended) EXPECT_TRUE(co_await let_others_run());
  co_return {};
}

TEST(AsyncWaitTest, ACoroutineThatAlwaysYieldsDoesNotStarveTimersOrPosts) {
  bool ended = false;
  Event posted;
  auto task = spawn("task", [&] { return await(yield_forever(ended)); });
  auto sleeper = spawn("sleeper", [&] {
    Scheduler::current().post([&] { posted.set(); });
    EXPECT_TRUE(posted.wait(Deadline::never()));
    ended = true;
  });
  EXPECT_TRUE(sleeper.join(Deadline::never()));
  EXPECT_TRUE(task.join(Deadline::never()));
}

}  // namespace
}  // namespace corolane::coroutine
