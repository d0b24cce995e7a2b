// SPDX-License-Identifier: MIT
// Schedulers driven in steps, several by one thread, and ready tasks in random order.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <string>
#include <vector>

#include "coroutine/async/async.h"
#include "coroutine/async/async_group.h"
#include "coroutine/event_source.h"
#include "coroutine/scheduler.h"
#include "coroutine/sync/event.h"
#include "coroutine/task.h"
#include "coroutine/task_group.h"
#include "coroutine/testing/matchers.h"
#include "coroutine/virtual_time.h"

namespace corolane::coroutine {
namespace {

using namespace std::chrono_literals;
using test::fails_with;
using testing::ElementsAre;

void step_to_the_end(Scheduler& scheduler, VirtualTime& time) {
  while (scheduler.step()) {
    const Deadline next = scheduler.next_step();
    ASSERT_FALSE(next.is_never());
    static_cast<void>(time.wait(next));
  }
}

TEST(SchedulerStepTest, RunsItsMainTaskInSteps) {
  VirtualTime time;
  Scheduler scheduler(time);
  std::vector<std::string> said;
  ASSERT_TRUE(scheduler.begin("main", [&] {
    said.emplace_back("begun");
    EXPECT_TRUE(sleep_for(1h));
    said.emplace_back("slept");
  }));
  EXPECT_EQ(scheduler.next_step(), Deadline::passed());
  EXPECT_TRUE(scheduler.step());
  EXPECT_THAT(said, ElementsAre("begun"));
  EXPECT_GT(scheduler.next_step(), Deadline::at(time.now()));
  step_to_the_end(scheduler, time);
  EXPECT_TRUE(scheduler.finish());
  EXPECT_THAT(said, ElementsAre("begun", "slept"));
  EXPECT_EQ(time.now(), TimePoint(1h));
}

TEST(SchedulerStepTest, OneThreadDrivesTwoSchedulersInsideATask) {
  VirtualTime time;
  Scheduler a(time);
  Scheduler b(time);
  std::vector<std::string> said;
  const auto talk = [&](std::string name) {
    return [&said, name] {
      for (int i = 0; i < 2; ++i) {
        said.push_back(name + " in " + std::string(name));
        EXPECT_TRUE(yield());
      }
    };
  };
  ASSERT_TRUE(a.begin("a", talk("a")));
  ASSERT_TRUE(b.begin("b", talk("b")));
  Scheduler& outer = Scheduler::current();
  step_to_the_end(a, time);
  EXPECT_EQ(&Scheduler::current(), &outer);
  step_to_the_end(b, time);
  EXPECT_TRUE(a.finish());
  EXPECT_TRUE(b.finish());
  EXPECT_THAT(said, ElementsAre("a in a", "a in a", "b in b", "b in b"));
}

TEST(SchedulerStepTest, FinishReturnsTheOutcomeOfTheMainTask) {
  VirtualTime time;
  Scheduler scheduler(time, {.on_stray_exception = [](const StrayException&) {}});
  ASSERT_TRUE(scheduler.begin("main", [] { throw std::runtime_error("on purpose"); }));
  step_to_the_end(scheduler, time);
  EXPECT_THAT(scheduler.finish(), fails_with(Code::internal));
  EXPECT_TRUE(scheduler.run("again", [] {}));
}

TEST(SchedulerStepTest, CancelCancelsTheMainTask) {
  VirtualTime time;
  Scheduler scheduler(time);
  Result<void> slept;
  ASSERT_TRUE(scheduler.begin("main", [&] { slept = sleep_for(1h); }));
  EXPECT_TRUE(scheduler.step());
  scheduler.cancel();
  EXPECT_FALSE(scheduler.step());
  EXPECT_TRUE(scheduler.finish());
  EXPECT_THAT(slept, fails_with(Code::cancelled));
}

// The order in which five tasks run that became ready one after the other.
std::string order_of(std::uint64_t seed) {
  VirtualTime time;
  Scheduler scheduler(time, {.shuffle_seed = seed});
  std::string order;
  EXPECT_TRUE(scheduler.run("main", [&] {
    TaskGroup tasks;
    for (const char name : {'a', 'b', 'c', 'd', 'e'}) {
      EXPECT_TRUE(tasks.spawn("task", [&order, name] {
        EXPECT_TRUE(yield());
        order.push_back(name);
      }));
    }
    EXPECT_TRUE(tasks.join(Deadline::never()));
  }));
  return order;
}

TEST(SchedulerStepTest, TheSameSeedShufflesReadyTasksInTheSameWay) {
  EXPECT_EQ(order_of(0), "abcde");
  std::set<std::string> orders;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const std::string order = order_of(seed);
    EXPECT_EQ(order_of(seed), order);
    orders.insert(order);
  }
  EXPECT_GT(orders.size(), 30u);
}

// The purpose of a shuffle: in some order this loses a coin.
TEST(SchedulerStepTest, ASeedFindsATaskThatTrustsAReadBeforeASuspension) {
  const auto coins_of = [](std::uint64_t seed) {
    VirtualTime time;
    Scheduler scheduler(time, {.shuffle_seed = seed});
    int coins = 0;
    EXPECT_TRUE(scheduler.run("main", [&] {
      TaskGroup tasks;
      const auto add = [&coins](int yields) {
        for (int i = 0; i < yields; ++i) EXPECT_TRUE(yield());
        const int before = coins;
        if (before > 0) static_cast<void>(yield());
        coins = before + 1;
      };
      EXPECT_TRUE(tasks.spawn("one", [&] { add(1); }));
      EXPECT_TRUE(tasks.spawn("two", [&] { add(2); }));
      EXPECT_TRUE(tasks.spawn("three", [&] { add(4); }));
      EXPECT_TRUE(tasks.join(Deadline::never()));
    }));
    return coins;
  };
  EXPECT_EQ(coins_of(0), 3);
  bool is_found = false;
  for (std::uint64_t seed = 1; seed <= 50 && !is_found; ++seed) is_found = coins_of(seed) != 3;
  EXPECT_TRUE(is_found);
}

// Virtual time that a test moves.
class MovedTime final : public EventSource {
 public:
  TimePoint now() const override { return time; }
  bool wait(Deadline) override { return true; }
  void wake() override {}
  TimePoint time;
};

Async<void> stay_busy(int& turn_count) {
  for (;;) {
    ++turn_count;
    if (auto left = co_await let_others_run(); !left) co_return left.error();
  }
}

TEST(SchedulerStepTest, StrandsKeepTheirPlacesWhenThePoolsComeToRest) {
  MovedTime time;
  Scheduler scheduler(time);
  std::vector<int> turns(5'000);
  ASSERT_TRUE(scheduler.begin("main", [&] {
    {
      TaskGroup burst;
      for (int count = 0; count < 300; ++count) {
        EXPECT_TRUE(burst.spawn("burst", [] { EXPECT_TRUE(sleep_for(10ms)); }));
      }
      EXPECT_TRUE(burst.join(Deadline::never()));
    }
    AsyncGroup group;
    for (int& count : turns) group.spawn(stay_busy(count));
    EXPECT_TRUE(sleep_for(30s));
  }));
  do time.time += 50ms;
  while (scheduler.step());
  EXPECT_TRUE(scheduler.finish());
  const auto [least, most] = std::ranges::minmax(turns);
  EXPECT_LE(most - least, 1);
}

}  // namespace
}  // namespace corolane::coroutine
