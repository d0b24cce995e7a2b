// SPDX-License-Identifier: MIT
// How much a turn of the scheduler does before it looks outside again, and how timers, posts and
// tasks share it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
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

TEST(SchedulerTurnTest, TheLoopLooksOutsideAfterEachStepThatTakesLong) {
  HurryingTime time(1ms);
  Scheduler scheduler(time);
  const auto turn_count = [&] { return scheduler.statistics().turn_count; };
  EXPECT_TRUE(scheduler.run("main", [&] {
    yield_often(10'000);
    EXPECT_GT(turn_count(), 9'900u);
    time.step = 1us;
    std::uint64_t before = turn_count();
    yield_often(10'000);
    EXPECT_LT(turn_count() - before, 20u);
    time.step = 10ms;
    // The turn that is under way ends at its next look.
    yield_often(512);
    before = turn_count();
    yield_often(1'000);
    EXPECT_GT(turn_count() - before, 990u);
  }));
}

// Time that passes when a task works.
class WorkedTime final : public EventSource {
 public:
  TimePoint now() const override { return time_; }
  bool wait(Deadline deadline) override {
    if (!deadline.is_never()) time_ = std::max(time_, deadline.time());
    return true;
  }
  void wake() override {}
  void work(Duration duration) { time_ += duration; }

 private:
  TimePoint time_;
};

TEST(SchedulerTurnTest, ATurnOfLightStepsLastsAsLongAsOneOfHeavyOnes) {
  WorkedTime time;
  Scheduler scheduler(time);
  EXPECT_TRUE(scheduler.run("main", [&] {
    const std::uint64_t before = scheduler.statistics().turn_count;
    // 1 ms of work: five turns.
    for (int count = 0; count < 100'000; ++count) {
      time.work(10ns);
      EXPECT_TRUE(yield());
    }
    EXPECT_LE(scheduler.statistics().turn_count - before, 6u);
  }));
}

TEST(SchedulerTurnTest, ATimerBehindSlowHandlersIsLateByOneOfThem) {
  WorkedTime time;
  Scheduler scheduler(time);
  Duration timer_late = Duration::max();
  struct Due : Timer {
    Due(WorkedTime& source, Duration& lateness)
        : Timer([](Timer& timer) {
            auto& self = static_cast<Due&>(timer);
            self.late = self.time.now() - self.planned;
          }),
          time(source),
          late(lateness) {}
    WorkedTime& time;
    Duration& late;
    TimePoint planned;
  };
  EXPECT_TRUE(scheduler.run("main", [&] {
    // Many light turns.
    TaskGroup light;
    for (int count = 0; count < 200; ++count) {
      EXPECT_TRUE(light.spawn("light", [] { yield_often(500); }));
    }
    EXPECT_TRUE(light.join(Deadline::never()));
    const Deadline planned = Deadline::after(5ms);
    Due due(time, timer_late);
    due.planned = planned.time();
    scheduler.timers().arm(due, planned);
    // Control work is not late either, though others became ready long before.
    auto control = spawn("lease",
                         [&] {
                           EXPECT_TRUE(sleep_until(planned));
                           return time.now() - planned.time();
                         },
                         {.purpose = StackPool::Purpose::control});
    EXPECT_TRUE(yield());
    TaskGroup handlers;
    for (int count = 0; count < 600; ++count) {
      EXPECT_TRUE(handlers.spawn("handler", [&] { time.work(500us); }));
    }
    const auto control_late = control.join(Deadline::never());
    ASSERT_TRUE(control_late);
    EXPECT_LE(*control_late, 500us);
    EXPECT_TRUE(handlers.join(Deadline::never()));
  }));
  EXPECT_LE(timer_late, 500us);
}

TEST(SchedulerTurnTest, ControlWorkRunsBeforeWhatBecameReadyEarlier) {
  std::vector<std::string> order;
  const auto note = [&](const char* name) { return [&order, name] { order.push_back(name); }; };
  TaskGroup tasks;
  Scheduler::current().post([&] {
    EXPECT_TRUE(tasks.spawn("first", note("first")));
    EXPECT_TRUE(tasks.spawn("second", note("second")));
    EXPECT_TRUE(tasks.spawn("control", note("control"), {.purpose = StackPool::Purpose::control}));
  });
  EXPECT_TRUE(sleep_for(1ms));
  EXPECT_TRUE(tasks.join(Deadline::never()));
  EXPECT_THAT(order, ElementsAre("control", "first", "second"));
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
    EXPECT_TRUE(group.join(Deadline::never()));
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
  WorkedTime time;
  Scheduler scheduler(time);
  std::uint64_t turn_count = 0;
  EXPECT_TRUE(scheduler.run("main", [&] {
    TaskGroup group;
    const Deadline together = Deadline::after(100ms);
    int left_count = 1'000;
    for (int count = left_count; count > 0; --count) {
      EXPECT_TRUE(group.spawn("sleeper", [&] {
        EXPECT_TRUE(sleep_until(together));
        time.work(100ns);
        --left_count;
      }));
    }
    EXPECT_TRUE(sleep_until(Deadline::at(together.time() - 1ms)));
    turn_count = scheduler.statistics().turn_count;
    // A handler that computes for long.
    while (left_count > 0) {
      time.work(32ms);
      EXPECT_TRUE(yield());
    }
    turn_count = scheduler.statistics().turn_count - turn_count;
    EXPECT_TRUE(group.join(Deadline::never()));
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
    EXPECT_TRUE(tasks.join(Deadline::never()));
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
