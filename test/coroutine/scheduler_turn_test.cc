// SPDX-License-Identifier: MIT
// How much a turn of the scheduler does before it looks outside again, and how timers, posts and
// tasks share it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "coroutine/event_source.h"
#include "coroutine/scheduler.h"
#include "coroutine/sync/event.h"
#include "coroutine/task.h"
#include "coroutine/task_group.h"
#include "coroutine/testing/matchers.h"
#include "coroutine/testing/virtual_time.h"
#include "coroutine/virtual_time.h"

namespace corolane::coroutine {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

// Time that advances by a step at each look; a turn looks once.
class HurryingTime final : public EventSource {
 public:
  explicit HurryingTime(Duration first_step) : step(first_step) {}
  TimePoint now() const override { return time_ += step; }
  bool wait(Deadline) override { return true; }
  void wake() override {}

  Duration step;

 private:
  mutable TimePoint time_;
};

void yield_often(int count) {
  for (int turn = 0; turn < count; ++turn) EXPECT_TRUE(yield());
}

TEST(SchedulerTurnTest, TheLoopLooksOutsideMoreOftenWhenSwitchesAreSlow) {
  HurryingTime time(1ms);
  Scheduler scheduler(time);
  EXPECT_TRUE(scheduler.run("main", [] { yield_often(10'000); }));
  EXPECT_GT(scheduler.statistics().turn_count, 10'000u / 40);
  EXPECT_LT(scheduler.statistics().turn_count, 10'000u / 30);
}

TEST(SchedulerTurnTest, AVerySlowTurnHasEvenFewerSwitchesUntilItIsFastAgain) {
  HurryingTime time(10ms);
  Scheduler scheduler(time);
  const auto turn_count = [&] { return scheduler.statistics().turn_count; };
  EXPECT_TRUE(scheduler.run("main", [&] {
    yield_often(10'000);
    EXPECT_GT(turn_count(), 10'000u / 5);
    time.step = 1ms;
    std::uint64_t before = turn_count();
    yield_often(10'000);
    EXPECT_LT(turn_count() - before, 10'000u / 30);
    time.step = 1us;
    before = turn_count();
    yield_often(10'000);
    EXPECT_LT(turn_count() - before, 20u);
  }));
}

// The number of turns over which a thousand simultaneous timers fire, when each woken task looks at
// the time `look_count` times before it suspends.
std::uint64_t turns_of_a_thousand_timers(HurryingTime& time, int look_count) {
  Scheduler scheduler(time);
  std::uint64_t first_turn = 0;
  std::uint64_t last_turn = 0;
  EXPECT_TRUE(scheduler.run("main", [&] {
    TaskGroup group;
    const Deadline together = Deadline::after(100ms);
    for (int count = 0; count < 1'000; ++count) {
      EXPECT_TRUE(group.spawn("sleeper", [&] {
        EXPECT_TRUE(sleep_until(together));
        last_turn = scheduler.statistics().turn_count;
        if (first_turn == 0) first_turn = last_turn;
        for (int look = 0; look < look_count; ++look) static_cast<void>(time.now());
      }));
    }
    EXPECT_TRUE(group.join());
  }));
  return last_turn - first_turn;
}

TEST(SchedulerTurnTest, ManyTimersThatAreDueTogetherFireOverSeveralTurns) {
  HurryingTime time(30us);
  EXPECT_GT(turns_of_a_thousand_timers(time, 0), 1'000u / 50);
}

TEST(SchedulerTurnTest, TasksWokenByTimersYieldTheTurnAsWell) {
  HurryingTime time(1us);
  // The tasks act as if each closed a connection.
  EXPECT_GT(turns_of_a_thousand_timers(time, 20), 1'000u / 10);
}

TEST(SchedulerTurnTest, TimersGetTheirShareOfLongTurns) {
  HurryingTime time(1us);
  Scheduler scheduler(time);
  std::uint64_t turn_count = 0;
  EXPECT_TRUE(scheduler.run("main", [&] {
    TaskGroup group;
    const Deadline together = Deadline::after(100ms);
    int left_count = 1'000;
    for (int count = left_count; count > 0; --count) {
      EXPECT_TRUE(group.spawn("sleeper", [&] {
        EXPECT_TRUE(sleep_until(together));
        --left_count;
      }));
    }
    EXPECT_TRUE(sleep_until(Deadline::at(together.time() - 1ms)));
    turn_count = scheduler.statistics().turn_count;
    // Acts like a handler that computes for long; each timer now seems to take a while as well.
    time.step = 100us;
    while (left_count > 0) {
      for (int look = 0; look < 320; ++look) static_cast<void>(time.now());
      EXPECT_TRUE(yield());
    }
    turn_count = scheduler.statistics().turn_count - turn_count;
    EXPECT_TRUE(group.join());
  }));
  EXPECT_LT(turn_count, 1'000u / 10);
}

// A source that makes tasks ready in two batches while the scheduler waits, and runs the first.
class BatchingTime final : public VirtualTime {
 public:
  explicit BatchingTime(std::function<void(int batch)> make_ready)
      : make_ready_(std::move(make_ready)) {}

  bool wait(Deadline deadline) override {
    for (int batch = 0; batch < 2; ++batch) {
      make_ready_(batch);
      Scheduler::current().run_ready_tasks();
      EXPECT_EQ(Scheduler::current().ready_count(), 0u);
    }
    return VirtualTime::wait(deadline);
  }

 private:
  std::function<void(int)> make_ready_;
};

TEST(SchedulerTurnTest, ASourceMayRunReadyTasksInsideItsWait) {
  std::vector<std::string> order;
  TaskGroup tasks;
  BatchingTime time([&](int batch) {
    order.push_back("made ready " + std::to_string(batch));
    EXPECT_TRUE(
        tasks.spawn("batch", [&order, batch] { order.push_back("ran " + std::to_string(batch)); }));
  });
  Scheduler scheduler(time);
  ASSERT_TRUE(scheduler.run("main", [&] {
    EXPECT_TRUE(sleep_for(1ms));
    EXPECT_TRUE(tasks.join());
  }));
  EXPECT_THAT(std::vector(order.begin(), order.begin() + 4),
              ElementsAre("made ready 0", "ran 0", "made ready 1", "ran 1"));
}

TEST(SchedulerTurnTest, ATaskThatAlwaysYieldsDoesNotStarveTimersOrPosts) {
  bool posted_ran = false;
  Event due;
  struct Due : Timer {
    explicit Due(Event& event)
        : Timer([](Timer& timer) { static_cast<Due&>(timer).due.set(); }), due(event) {}
    Event& due;
  };
  Due timer(due);
  Scheduler::current().timers().arm(timer, Deadline::passed());
  Scheduler::current().post([&] { posted_ran = true; });
  while (!due.is_set() || !posted_ran) EXPECT_TRUE(yield());
}

// Posts itself again at each turn, until `ended` is set.
struct EndlessWork {
  void run() {
    if (!ended) Scheduler::current().post([this] { run(); });
  }
  bool ended = false;
};

TEST(SchedulerTurnTest, WorkThatAlwaysPostsItselfDoesNotStarveTimers) {
  HurryingTime time(1ms);
  Scheduler scheduler(time);
  EndlessWork work;
  EXPECT_TRUE(scheduler.run("main", [&] {
    work.run();
    EXPECT_TRUE(sleep_for(1s));
    work.ended = true;
  }));
}

}  // namespace
}  // namespace corolane::coroutine
