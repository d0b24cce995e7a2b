#include "coroutine/async.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "coroutine/async_group.h"
#include "coroutine/channel.h"
#include "coroutine/event.h"
#include "coroutine/mutex.h"
#include "coroutine/task.h"
#include "coroutine/task_group.h"
#include "coroutine/virtual_time.h"
#include "test/support/matchers.h"

namespace corolane::coroutine {
namespace {

using namespace std::chrono_literals;
using test::fails_with;
using testing::HasSubstr;

Async<int> same(int number) { co_return number; }

Async<void> sleep(Duration duration) { co_return co_await until(Deadline::after(duration)); }

Async<void> wait_for(Event& event, Deadline deadline) {
  co_return co_await until(deadline, event.waiting());
}

Async<int> add(int left, int right) {
  const Result<int> first = co_await same(left);
  const Result<int> second = co_await same(right);
  co_return *first + *second;
}

TEST(AsyncTest, AwaitReturnsWhatTheChildReturns) {
  EXPECT_EQ(await(same(7)), 7);
  EXPECT_EQ(await(add(3, 4)), 7);
}

TEST(AsyncTest, AChildThatDoesNotWaitLetsNobodyElseRun) {
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

TEST(AsyncTest, BeginsWhenItIsAwaitedAndNotBefore) {
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

TEST(AsyncTest, ATaskMayAwaitWhileItHandlesAnException) {
  try {
    throw std::runtime_error("outer");
  } catch (const std::runtime_error&) {
    auto other = spawn("other", [] {
      EXPECT_EQ(std::current_exception(), nullptr);
      return sleep_for(2s);
    });
    EXPECT_TRUE(await(sleep(1s)));
    EXPECT_EQ(await(survives()), true);
    try {
      throw;
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "outer");
    }
  }
}

TEST(AsyncTest, SleepsUntilTheDeadline) {
  const TimePoint start = now();
  EXPECT_TRUE(await(sleep(10s)));
  EXPECT_EQ(now(), start + 10s);
  EXPECT_TRUE(await(sleep(0s)));
  EXPECT_TRUE(await(sleep(-1s)));
  EXPECT_EQ(now(), start + 10s);
}

TEST(AsyncTest, AWaitEndsWhenItIsNotifiedOrAtItsDeadline) {
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
  EXPECT_TRUE(await(wait_for(event, Deadline::passed())));  // Complete without waiting.
  event.reset();
  const auto late = await(wait_for(event, Deadline::passed()));
  EXPECT_THAT(late, fails_with(Code::deadline_exceeded));
  EXPECT_EQ(late.error().message(), "deadline passed while waiting: event");
}

Async<int> sum_all(Channel<int>& numbers) {
  int sum = 0;
  while (auto number = co_await until(Deadline::never(), numbers.receiving())) sum += *number;
  co_return sum;
}

Async<void> send_all(Channel<int>& numbers, int count) {
  for (int number = 1; number <= count; ++number) {
    auto sent = co_await until(Deadline::never(), numbers.sending(number));
    if (!sent) co_return sent.error();
  }
  numbers.close();
  co_return {};
}

TEST(AsyncTest, ChannelsLinkThemWithOneAnotherAndWithTasks) {
  for (const std::size_t capacity : {1u, 7u}) {
    Channel<int> numbers(capacity);
    auto sender = spawn("sender", [&] { return await(send_all(numbers, 100)); });
    EXPECT_EQ(await(sum_all(numbers)), 5050);
    EXPECT_TRUE(sender.join());
  }
}

Async<int> join_task(Task<int>& task) {
  co_return co_await until(Deadline::never(), task.joining());
}

TEST(AsyncTest, MayJoinATask) {
  auto task = spawn("task", [] {
    EXPECT_TRUE(sleep_for(1s));
    return 9;
  });
  EXPECT_EQ(await(join_task(task)), 9);
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

TEST(AsyncTest, AMillionGenerationsNeedNoStack) {
  auto task = spawn("patriarch", [] { return await(generations(1'000'000)); },
                    {.stack_size_bytes = StackPool::stack_size_bytes_min});
  EXPECT_EQ(task.join(), 1'000'000);
}

Async<int> count_up(int count) {
  int sum = 0;
  for (int number = 0; number < count; ++number) sum += *co_await same(1);
  co_return sum;
}

TEST(AsyncTest, AMillionChildrenOneAfterTheOtherNeedNoStack) {
  auto task = spawn("parent", [] { return await(count_up(1'000'000)); },
                    {.stack_size_bytes = StackPool::stack_size_bytes_min});
  EXPECT_EQ(task.join(), 1'000'000);
}

using Selected = std::variant<Result<int>, Result<void>>;

Async<Selected> select_either(Channel<int>& numbers, Event& event, Deadline deadline) {
  co_return co_await until(deadline, numbers.receiving(), event.waiting());
}

TEST(AsyncTest, SelectCompletesTheFirstThatCanBeInOrderOfArguments) {
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

TEST(AsyncTest, SelectWaitsForAllAndTakesOne) {
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
  EXPECT_EQ(numbers.size(), 1u);  // Nobody took what was sent when it no longer waited.
}

TEST(AsyncTest, SelectFailsAtItsDeadlineOrWhenCancelled) {
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
  EXPECT_THAT(task.join(), fails_with(Code::cancelled));
}

Async<void> collect_codes(Channel<int>& numbers, Event& event, std::vector<Code>& codes) {
  const auto code = [](const auto& result) {
    return result ? Code::unknown : result.error().code();
  };
  codes.push_back(code(co_await until(Deadline::never(), numbers.receiving())));
  codes.push_back(code(co_await until(Deadline::never(), event.waiting())));
  codes.push_back(code(co_await until(Deadline::never(), numbers.receiving(), event.waiting())));
  codes.push_back(code(co_await until(Deadline::after(1s))));
  codes.push_back(code(co_await let_others_run()));
  codes.push_back(code(co_await wait_for(event, Deadline::never())));
  EXPECT_TRUE(numbers.try_send(1));
  codes.push_back(code(co_await until(Deadline::never(), numbers.receiving())));
  co_return {};
}

TEST(AsyncTest, EveryWaitOfACancelledTasksChildFailsAtOnceButWhatIsThereIsHandedOut) {
  Channel<int> numbers(1);
  Event event;
  std::vector<Code> codes;
  const TimePoint start = now();
  auto task = spawn("task", [&] { return await(collect_codes(numbers, event, codes)); });
  EXPECT_TRUE(yield());
  task.cancel();
  EXPECT_TRUE(codes.empty());  // Its turn has not come.
  EXPECT_TRUE(task.join());
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

TEST(AsyncTest, AwaitReturnsWhenTheChildHasEndedAndNeverBefore) {
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
  EXPECT_TRUE(task.join());
}

TEST(AsyncTest, ACancellationBetweenTheWakeUpAndItsTurnEndsTheNextWait) {
  Event event;
  auto task = spawn("task", [&]() -> Result<void> {
    if (auto waited = await(wait_for(event, Deadline::never())); !waited) return waited;
    return await(sleep(1h));
  });
  EXPECT_TRUE(yield());
  event.set();
  task.cancel();
  const TimePoint start = now();
  EXPECT_THAT(task.join(), fails_with(Code::cancelled));
  EXPECT_EQ(now(), start);
}

Async<void> note_turns(std::vector<int>& order, int number) {
  for (int turn = 0; turn < 3; ++turn) {
    order.push_back(number);
    if (auto ran = co_await let_others_run(); !ran) co_return ran.error();
  }
  co_return {};
}

TEST(AsyncTest, TakesItsTurnAmongTasks) {
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
  EXPECT_TRUE(group.join());
  EXPECT_EQ(order, std::vector({0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3}));
}

Async<void> note_wake_up(Event& event, std::vector<int>& order, int number) {
  EXPECT_TRUE(co_await until(Deadline::never(), event.waiting()));
  order.push_back(number);
  co_return {};
}

TEST(AsyncTest, WakeUpIsInOrderOfArrivalMixedWithTasks) {
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
  EXPECT_TRUE(group.join());
  // Those with a stack go on where they were; a child that was awaited ends first in its turn too.
  EXPECT_EQ(order, std::vector({0, 1, 2, 3, 4, 5}));
}

Async<void> hold(Mutex& mutex, int& holder_count) {
  if (auto locked = co_await until(Deadline::never(), mutex.locking()); !locked) {
    co_return locked.error();
  }
  EXPECT_EQ(++holder_count, 1);
  const auto slept = co_await until(Deadline::after(1s));
  --holder_count;
  mutex.unlock();
  co_return slept;
}

TEST(AsyncTest, HoldsAMutexOverItsWaits) {
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
  EXPECT_TRUE(group.join());
  EXPECT_EQ(now(), start + 10s);
}

Async<void> wait_twice(Event& first, Event& second) {
  EXPECT_TRUE(co_await until(Deadline::never(), first.waiting()));
  EXPECT_TRUE(co_await until(Deadline::never(), second.waiting()));
  co_return {};
}

TEST(AsyncTest, TheAwaitingTaskShowsWhatItsChildWaitsFor) {
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
  EXPECT_TRUE(task.join());
}

TEST(AsyncTest, StatisticsCountThoseThatAreAlive) {
  const auto count = [] { return Scheduler::current().statistics().stackless_count; };
  const auto before = count();
  {
    const Async<int> unborn = same(1);
    EXPECT_EQ(count(), before + 1);
    auto task = spawn("task", [] { return await(generations(3)); });
    EXPECT_TRUE(yield());
    EXPECT_EQ(count(), before + 1 + 4);
    EXPECT_TRUE(task.join());
  }
  EXPECT_EQ(count(), before);
}

Async<void> yield_forever(const bool& ended) {
  while (!ended) EXPECT_TRUE(co_await let_others_run());
  co_return {};
}

TEST(AsyncTest, OneThatAlwaysYieldsKeepsNobodyFromTimersOrPosts) {
  bool ended = false;
  Event posted;
  auto task = spawn("task", [&] { return await(yield_forever(ended)); });
  auto sleeper = spawn("sleeper", [&] {
    Scheduler::current().post([&] { posted.set(); });
    EXPECT_TRUE(posted.wait(Deadline::never()));
    ended = true;
  });
  EXPECT_TRUE(sleeper.join());
  EXPECT_TRUE(task.join());
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

TEST(AsyncTest, LocalsAreAlignedAsTheyAskFor) {
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

TEST(AsyncDeathTest, WhatNeedsAStackIsForTasks) {
  constexpr auto claim = "only a task may suspend, the loop may not, and a stackless coroutine";
  EXPECT_DEATH(static_cast<void>(await(call([] { static_cast<void>(sleep_for(1s)); }))), claim);
  EXPECT_DEATH(static_cast<void>(await(call([] { static_cast<void>(yield()); }))), claim);
  EXPECT_DEATH(static_cast<void>(await(call([] { Mutex().lock(); }))), claim);
  EXPECT_DEATH(
      static_cast<void>(await(call([] { static_cast<void>(spawn("task", [] {}).join()); }))),
      claim);
  EXPECT_DEATH(static_cast<void>(await(call([] { static_cast<void>(await(same(1))); }))), claim);
}

#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ == 12
Async<void> await_in_condition(Event& event) {
  if (co_await until(Deadline::never(), event.waiting())) co_return {};
  co_return Error(Code::aborted, "on purpose");
}

TEST(AsyncDeathTest, WhatTheCompilerMiscompilesIsFoundWhenItIsCalled) {
  Event event;
  EXPECT_DEATH(static_cast<void>(await(await_in_condition(event))),
               "no condition of an if, a switch or a loop is a co_await");
}
#endif

#if !defined(__clang__)  // Which refuses to compile it.
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
    static_cast<void>(group.join());
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

TEST(AsyncDeathTest, IsAwaitedOnce) {
  const auto await_twice = [] {
    Async<int> child = same(1);
    static_cast<void>(await(std::move(child)));
    static_cast<void>(await(std::move(child)));  // NOLINT(bugprone-use-after-move): the claim.
  };
  EXPECT_DEATH(await_twice(), "a stackless coroutine is awaited once");
}

}  // namespace
}  // namespace corolane::coroutine
