// SPDX-License-Identifier: MIT
#include "coroutine/scheduler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "coroutine/async/async.h"
#include "coroutine/async/async_group.h"
#include "coroutine/detail/short_intervals.h"
#include "coroutine/sync/event.h"
#include "coroutine/task.h"
#include "coroutine/task_group.h"
#include "coroutine/testing/matchers.h"
#include "coroutine/testing/virtual_time.h"
#include "coroutine/virtual_time.h"

namespace corolane::coroutine {
namespace {

using namespace std::chrono_literals;
using test::fails_with;
using testing::AllOf;
using testing::HasSubstr;

constexpr TaskOptions small_stack = {.stack_size_bytes = StackPool::stack_size_bytes_min};

TEST(SchedulerTest, ReadyTasksRunInTheOrderTheyBecameReady) {
  std::vector<int> order;
  TaskGroup group;
  for (int number = 0; number < 3; ++number) {
    EXPECT_TRUE(group.spawn("task", [&, number] {
      for (int turn = 0; turn < 2; ++turn) {
        order.push_back(number);
        EXPECT_TRUE(yield());
      }
    }));
  }
  EXPECT_TRUE(group.join(Deadline::never()));
  EXPECT_EQ(order, std::vector({0, 1, 2, 0, 1, 2}));
}

TEST(SchedulerTest, ThousandsOfReadyTasksKeepTheirOrder) {
  constexpr int count = 2100;
  std::vector<int> order;
  TaskGroup group;
  for (int number = 0; number < count; ++number) {
    EXPECT_TRUE(group.spawn(
        "task",
        [&, number] {
          order.push_back(number);
          EXPECT_TRUE(yield());
          order.push_back(count + number);
        },
        small_stack));
    // Makes the queue grow while its beginning lies in the middle.
    if (number == 700) static_cast<void>(yield());
  }
  EXPECT_TRUE(group.join(Deadline::never()));
  std::vector<int> first_steps;
  std::ranges::copy_if(order, std::back_inserter(first_steps),
                       [](int step) { return step < count; });
  EXPECT_TRUE(std::ranges::is_sorted(first_steps));
  EXPECT_EQ(order.size(), 2u * count);
}

TEST(SchedulerTest, TasksSwitchToOneAnotherWithoutTheLoop) {
  constexpr int turn_count = 10'000;
  VirtualTime time;
  Scheduler scheduler(time);
  const auto ran = scheduler.run("main", [] {
    const auto take_turns = [] {
      for (int turn = 0; turn < turn_count; ++turn) EXPECT_TRUE(yield());
    };
    auto left = spawn("left", take_turns);
    auto right = spawn("right", take_turns);
    EXPECT_TRUE(left.join(Deadline::never()));
    EXPECT_TRUE(right.join(Deadline::never()));
  });
  EXPECT_TRUE(ran);
  // Each task starts once and resumes after each yield; main starts, and resumes after a join.
  EXPECT_EQ(scheduler.statistics().switch_count, 2u * (1 + turn_count) + 2);
  EXPECT_LT(scheduler.statistics().turn_count, 20u);
}

TEST(SchedulerTest, WorkPostedByThreadsRunsOnTheLoopInOrderPerThread) {
  constexpr int thread_count = 4;
  constexpr int post_count = 2000;
  Scheduler& scheduler = Scheduler::current();
  const VirtualTime::Outside outside(test::virtual_time());
  const auto test_thread = std::this_thread::get_id();
  Event all_ran;
  std::array<int, thread_count> next{};
  int ran_count = 0;

  std::vector<std::jthread> threads;
  threads.reserve(thread_count);
  for (std::size_t thread = 0; thread < thread_count; ++thread) {
    threads.emplace_back([&, thread] {
      for (int number = 0; number < post_count; ++number) {
        scheduler.post([&, thread, number] {
          ASSERT_EQ(std::this_thread::get_id(), test_thread);
          ASSERT_EQ(next[thread]++, number);
          if (++ran_count == thread_count * post_count) all_ran.set();
        });
      }
    });
  }
  EXPECT_TRUE(all_ran.wait(Deadline::never()));
}

TEST(SchedulerTest, WorkThatIsPostedByWorkRunsToo) {
  Scheduler& scheduler = Scheduler::current();
  Event done;
  scheduler.post([&] { scheduler.post([&] { done.set(); }); });
  EXPECT_TRUE(done.wait(Deadline::never()));
}

TEST(SchedulerTest, TheLoopMaySpawn) {
  TaskGroup group;
  Event spawned;
  Scheduler::current().post([&] {
    EXPECT_TRUE(group.spawn("child", [] { return sleep_for(1s); }));
    spawned.set();
  });
  EXPECT_TRUE(spawned.wait(Deadline::never()));
  EXPECT_EQ(group.size(), 1u);
  EXPECT_TRUE(group.join(Deadline::never()));
}

TEST(SchedulerTest, WorkPostedBeforeRunRunsFirst) {
  VirtualTime time;
  Scheduler scheduler(time);
  std::vector<int> order;
  scheduler.post([&] { order.push_back(1); });
  scheduler.post([&] { order.push_back(2); });
  EXPECT_TRUE(scheduler.run("main", [&] { order.push_back(3); }));
  EXPECT_EQ(order, std::vector({1, 2, 3}));
}

TEST(SchedulerTest, WorkPostedAfterTheLastRunIsDestroyedUnrun) {
  VirtualTime time;
  const auto held = std::make_shared<int>(0);
  {
    Scheduler scheduler(time);
    EXPECT_TRUE(scheduler.run("main", [] {}));
    scheduler.post([held] { ++*held; });
  }
  EXPECT_EQ(*held, 0);
  EXPECT_EQ(held.use_count(), 1);
}

TEST(SchedulerTest, RunsAgain) {
  VirtualTime time;
  Scheduler scheduler(time);
  for (int round = 1; round <= 3; ++round) {
    EXPECT_TRUE(scheduler.run("main", [] { EXPECT_TRUE(sleep_for(1s)); }));
    EXPECT_EQ(time.now(), TimePoint(round * 1s));
  }
  EXPECT_EQ(scheduler.statistics().created_count, 3u);
  EXPECT_EQ(scheduler.statistics().task_count, 0u);
}

TEST(SchedulerTest, RunsAgainOnAnotherThread) {
  VirtualTime time;
  Scheduler scheduler(time);
  const auto run = [&] {
    const auto ran = scheduler.run("main", [] {
      auto child = spawn("child", [] { return sleep_for(1s); });
      EXPECT_TRUE(child.join(Deadline::never()));
    });
    EXPECT_TRUE(ran);
  };
  std::thread(run).join();
  std::thread(run).join();
  run();
  EXPECT_EQ(time.now(), TimePoint(3s));
}

TEST(SchedulerTest, ASchedulerInsideATaskHasItsOwnTasksAndTime) {
  const TimePoint start = now();
  Scheduler& outer = Scheduler::current();
  VirtualTime time;
  Scheduler inner(time);
  for (int round = 0; round < 2; ++round) {
    // From different tasks, so that the inner loop runs on different stacks.
    auto host = spawn("host", [&] {
      const auto ran = inner.run("main", [&] {
        EXPECT_EQ(&Scheduler::current(), &inner);
        EXPECT_EQ(inner.tasks().size(), 1u);
        auto child = spawn("child", [] { return sleep_for(1h); });
        EXPECT_TRUE(child.join(Deadline::never()));
      });
      EXPECT_TRUE(ran);
      EXPECT_EQ(&Scheduler::current(), &outer);
      EXPECT_TRUE(yield());
    });
    EXPECT_TRUE(host.join(Deadline::never()));
  }
  EXPECT_EQ(time.now(), TimePoint(2h));
  EXPECT_EQ(now(), start);
}

TEST(SchedulerTest, AThreadWithoutASchedulerHasNone) {
  const Scheduler* there = &Scheduler::current();
  std::thread([&] { there = Scheduler::current_or_null(); }).join();
  EXPECT_EQ(there, nullptr);
}

TEST(SchedulerTest, AStrayExceptionOfTheMainTaskIsAnInternalError) {
  VirtualTime time;
  Scheduler scheduler(time);
  EXPECT_THAT(scheduler.run("main", [] { throw std::runtime_error("oops"); }),
              fails_with(Code::internal));
  EXPECT_EQ(scheduler.statistics().stray_exception_count, 1u);
  EXPECT_TRUE(scheduler.run("main", [] {}));
}

TEST(SchedulerTest, RunFailsWhenThereIsNoStack) {
  VirtualTime time;
  Scheduler scheduler(time, {.stacks = {.stack_count_max = 0}});
  EXPECT_THAT(scheduler.run("main", [] { FAIL(); }), fails_with(Code::resource_exhausted));
  EXPECT_EQ(Scheduler::current_or_null(), &Scheduler::current());
}

TEST(SchedulerTest, CountsTasksAndTheirPeak) {
  VirtualTime time;
  Scheduler scheduler(time);
  const auto ran = scheduler.run("main", [&] {
    {
      auto first = spawn("first", [] {});
      auto second = spawn("second", [] {});
      EXPECT_EQ(scheduler.statistics().task_count, 3u);
      EXPECT_TRUE(yield());
      EXPECT_EQ(scheduler.statistics().task_count, 3u);  // Ended, but not joined.
      EXPECT_TRUE(first.join(Deadline::never()));
      EXPECT_EQ(scheduler.statistics().task_count, 2u);
    }
    EXPECT_EQ(scheduler.statistics().task_count, 1u);
  });
  EXPECT_TRUE(ran);
  EXPECT_EQ(scheduler.statistics().task_count, 0u);
  EXPECT_EQ(scheduler.statistics().task_count_peak, 3u);
  EXPECT_EQ(scheduler.statistics().created_count, 3u);
}

// Otherwise the mean of many samples is recorded once (short_intervals_test.cc).
bool records_each_sample() { return detail::ShortIntervals().batch_count() == 1; }

TEST(SchedulerTest, RecordsTheCostOfSwitchingAndCreating) {
  if (!records_each_sample()) GTEST_SKIP() << "the counter of this processor ticks rarely";
  VirtualTime time;
  Scheduler scheduler(time, {.switch_sample_interval = 1, .create_sample_interval = 1});
  const auto ran = scheduler.run("main", [] {
    TaskGroup group;
    for (int number = 0; number < 10; ++number) {
      EXPECT_TRUE(group.spawn("task", [] { EXPECT_TRUE(yield()); }));
    }
    EXPECT_TRUE(group.join(Deadline::never()));
  });
  EXPECT_TRUE(ran);
  const auto statistics = scheduler.statistics();
  EXPECT_EQ(statistics.create_ns.count(), statistics.created_count);
  EXPECT_GT(statistics.create_ns.max(), 0u);
  // All switches except those from and to the loop.
  EXPECT_LE(statistics.switch_ns.count(), statistics.switch_count);
  EXPECT_GE(statistics.switch_ns.count(), 20u);
}

TEST(SchedulerTest, AYieldWithoutASwitchDoesNotDistortTheNextSample) {
  if (!records_each_sample()) GTEST_SKIP() << "the counter of this processor ticks rarely";
  VirtualTime time;
  Scheduler scheduler(time, {.switch_sample_interval = 2});
  ASSERT_TRUE(scheduler.run("main", [] {
    EXPECT_TRUE(yield());
    EXPECT_TRUE(yield());  // The second switch, had there been one.
    EXPECT_TRUE(spawn("child", [] {}).join(Deadline::never()));
  }));
  EXPECT_EQ(scheduler.statistics().switch_ns.count(), 1u);  // Back from the child, the fourth.
}

TEST(SchedulerTest, SamplesNothingWhenSwitchedOff) {
  VirtualTime time;
  Scheduler scheduler(time, {.switch_sample_interval = 0, .create_sample_interval = 0});
  EXPECT_TRUE(scheduler.run("main", [] {
    for (int turn = 0; turn < 1000; ++turn)
      EXPECT_TRUE(spawn("task", [] {}).join(Deadline::never()));
  }));
  EXPECT_EQ(scheduler.statistics().switch_ns.count(), 0u);
  EXPECT_EQ(scheduler.statistics().create_ns.count(), 0u);
}

TEST(SchedulerDeathTest, ADeadlockIsReportedWithWhatEachTaskWaitsFor) {
  const auto deadlock = [] {
    VirtualTime time;
    Scheduler scheduler(time);
    static_cast<void>(scheduler.run("main", [] {
      Event holiday("a holiday");
      auto worker = spawn("worker", [&] { return holiday.wait(Deadline::never()); });
      static_cast<void>(worker.join(Deadline::never()));
    }));
  };
  EXPECT_DEATH(deadlock(), AllOf(HasSubstr("deadlock: every task waits"),
                                 HasSubstr("\"main\": suspended, waits for end of a task"),
                                 HasSubstr("\"worker\": suspended, waits for a holiday"),
                                 HasSubstr("1 task suspended, waits for a holiday"),
                                 HasSubstr("    at corolane::coroutine::Event::wait")));
}

TEST(SchedulerDeathTest, AMainTaskThatEndsBeforeTheOthersAborts) {
  const auto forget = [] {
    VirtualTime time;
    Scheduler scheduler(time);
    static_cast<void>(scheduler.run(
        "main", [] { new Task<void>(spawn("orphan", [] { return sleep_for(1h); })); }));
  };
  EXPECT_DEATH(forget(), AllOf(HasSubstr("\"orphan\""),
                               HasSubstr("no task is left when the main task ends")));
}

TEST(SchedulerDeathTest, ARunInsideItselfAborts) {
  const auto nest = [] { static_cast<void>(Scheduler::current().run("main", [] {})); };
  EXPECT_DEATH(nest(), "run\\(\\) is not called while it runs");
}

TEST(SchedulerDeathTest, ATaskThatAnotherThreadWakesIsNamed) {
  const auto set_elsewhere = [] {
    Event event;
    auto waiter = spawn("waiter", [&] { return event.wait(Deadline::never()); });
    static_cast<void>(yield());
    std::thread([&] { event.set(); }).join();
    static_cast<void>(waiter.join(Deadline::never()));
  };
  EXPECT_DEATH(set_elsewhere(),
               "task \"waiter\" is woken by the thread of its scheduler; another thread calls "
               "Scheduler::post");
}

Async<void> waits_for(Event& event) {
  co_return co_await until(event.waiting(), Deadline::never());
}

TEST(SchedulerDeathTest, AStacklessCoroutineThatAnotherThreadWakesIsRefused) {
  const auto set_elsewhere = [] {
    Event event;
    AsyncGroup group;
    group.spawn(waits_for(event));
    static_cast<void>(yield());
    std::thread([&] { event.set(); }).join();
    static_cast<void>(group.join(Deadline::never()));
  };
  EXPECT_DEATH(set_elsewhere(), "a stackless coroutine is woken by the thread of its scheduler");
}

TEST(SchedulerTest, BetweenTwoRunsAnyThreadMayWake) {
  VirtualTime time;
  Scheduler scheduler(time);
  Event event;
  ASSERT_TRUE(scheduler.begin("main", [&] { EXPECT_TRUE(event.wait(Deadline::after(1h))); }));
  EXPECT_TRUE(scheduler.step());
  std::thread([&] { event.set(); }).join();
  EXPECT_FALSE(scheduler.step());
  EXPECT_TRUE(scheduler.finish());
}

TEST(SchedulerDeathTest, CurrentAbortsOnAThreadWithoutAScheduler) {
  EXPECT_DEATH(std::thread([] { Scheduler::current(); }).join(), "this thread runs a scheduler");
}

}  // namespace
}  // namespace corolane::coroutine
