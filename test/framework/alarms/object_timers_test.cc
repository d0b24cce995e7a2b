// SPDX-License-Identifier: MIT
#include "framework/alarms/object_timers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "coroutine/task.h"
#include "coroutine/testing/matchers.h"
#include "coroutine/testing/random.h"
#include "coroutine/testing/sanitizers.h"
#include "framework/store/memory_store.h"
#include "test/framework/puppet_stage.h"
#include "test/framework/time/wall_times.h"

namespace corolane::framework {
namespace {

using namespace std::chrono_literals;
using test::fails_with;
using test::Puppet;
using test::PuppetStage;
using test::text_of;
using test::utc;
using testing::ElementsAre;
using testing::HasSubstr;

// Milliseconds since the start of the test.
using Moments = std::vector<std::int64_t>;

// Days pass quickly when nothing looks for reminders.
constexpr detail::ObjectHost::Options idle_for_days{
    .idle_time_max = 240h, .reminders = {.look_interval = 24h, .horizon = 48h}};

class ObjectTimersTest : public testing::Test {
 protected:
  void note() { moments_.push_back((now() - start_) / 1ms); }
  // Runs `what` in a turn of the puppet "a".
  Result<void> run(PuppetStage& stage, std::function<Result<void>(Puppet&)> what,
                   const std::string& name = "a") {
    strings_.run = std::move(what);
    auto reply = stage.puppet(name).run({});
    if (!reply) return reply.error();
    return {};
  }

  MemoryStore store_;
  Puppet::Strings strings_;
  const TimePoint start_ = now();
  Moments moments_;
};

TEST_F(ObjectTimersTest, AfterADelayItRunsOnce) {
  PuppetStage stage(store_, strings_);
  ASSERT_TRUE(run(stage, [&](Puppet& puppet) {
    EXPECT_TRUE(puppet.timers().after(10s, [&] { note(); }));
    EXPECT_TRUE(puppet.timers().after(-5s, [&] { note(); }));
    EXPECT_EQ(puppet.timers().size(), 2U);
    return Result<void>();
  }));
  ASSERT_TRUE(coroutine::sleep_for(1h));
  EXPECT_THAT(moments_, ElementsAre(0, 10'000));
  ASSERT_TRUE(run(stage, [&](Puppet& puppet) {
    EXPECT_EQ(puppet.timers().size(), 0U);
    return Result<void>();
  }));
}

TEST_F(ObjectTimersTest, AFixedRateKeepsItsGridForHours) {
  PuppetStage stage(store_, strings_, 1, {.idle_time_max = 24h});
  constexpr std::uint64_t count = test::under_sanitizer ? 20'000 : 1'000'000;
  std::uint64_t number = 0;
  bool is_exact = true;
  ASSERT_TRUE(run(stage, [&](Puppet& puppet) {
    EXPECT_TRUE(puppet.timers().every({.interval = 7ms}, [&](const Tick& tick) {
      ++number;
      is_exact = is_exact && tick.number == number && tick.lateness == 0ns && tick.missed == 0 &&
                 now() - start_ == static_cast<std::int64_t>(number) * 7ms;
    }));
    return Result<void>();
  }));
  ASSERT_TRUE(coroutine::sleep_until(Deadline::at(start_ + 7ms * count)));
  ASSERT_TRUE(coroutine::yield());
  EXPECT_TRUE(is_exact);
  EXPECT_EQ(number, count);
  EXPECT_EQ(stage.host.alarms().lateness_us().count(), count);
  EXPECT_EQ(stage.host.alarms().lateness_us().max(), 0U);
}

TEST_F(ObjectTimersTest, ObjectsThatBeginTogetherTickOneAfterAnother) {
  std::map<TimePoint, int> ticks;  // Outlives the stage, whose timers write to it.
  PuppetStage stage(store_, strings_);
  constexpr int object_count = 64;
  for (int number = 0; number < object_count; ++number) {
    const auto set_two = [&](Puppet& puppet) {
      const auto note_tick = [&](const Tick& /*tick*/) { ++ticks[now()]; };
      EXPECT_TRUE(puppet.timers().every({.interval = 64ms}, note_tick));
      EXPECT_TRUE(puppet.timers().every({.interval = 64ms}, note_tick));
      return Result<void>();
    };
    ASSERT_TRUE(run(stage, set_two, "puppet" + std::to_string(number)));
  }
  ASSERT_TRUE(coroutine::sleep_for(640ms));
  int most = 0;
  for (const auto& [time, count] : ticks) most = std::max(most, count);
  EXPECT_EQ(most, 2);  // The two timers of one object.
}

TEST_F(ObjectTimersTest, AFixedRateMergesLateRuns) {
  PuppetStage stage(store_, strings_);
  std::vector<Tick> ticks;
  ASSERT_TRUE(run(stage, [&](Puppet& puppet) {
    EXPECT_TRUE(puppet.timers().every({.interval = 100ms}, [&](const Tick& tick) {
      note();
      ticks.push_back(tick);
      // The second run overruns the ticks at 300 and 400 ms and half of the next interval.
      if (ticks.size() == 2) {
        EXPECT_TRUE(coroutine::sleep_for(250ms));
      }
    }));
    return Result<void>();
  }));
  ASSERT_TRUE(coroutine::sleep_for(650ms));
  EXPECT_THAT(moments_, ElementsAre(100, 200, 450, 500, 600));
  const auto numbers = [&](auto member) {
    std::vector<std::int64_t> values;
    for (const Tick& tick : ticks) values.push_back(static_cast<std::int64_t>(tick.*member));
    return values;
  };
  EXPECT_THAT(numbers(&Tick::number), ElementsAre(1, 2, 4, 5, 6));
  EXPECT_THAT(numbers(&Tick::missed), ElementsAre(0, 0, 1, 0, 0));
  EXPECT_EQ(ticks[2].lateness, 150ms);
  const auto statistics = stage.statistics();
  EXPECT_EQ(statistics.alarms.tick_count, 5U);
  EXPECT_EQ(statistics.alarms.missed_tick_count, 1U);
  EXPECT_NEAR(static_cast<double>(stage.host.alarms().lateness_us().max()), 150'000, 10'000);
}

TEST_F(ObjectTimersTest, AFixedDelayCountsFromTheEndOfARun) {
  PuppetStage stage(store_, strings_);
  ASSERT_TRUE(run(stage, [&](Puppet& puppet) {
    EXPECT_TRUE(
        puppet.timers().every({.interval = 100ms, .mode = Rhythm::fixed_delay, .first_after = 10ms},
                              [&](const Tick& tick) {
                                EXPECT_EQ(tick.missed, 0U);
                                EXPECT_EQ(tick.lateness, 0ms);
                                note();
                                EXPECT_TRUE(coroutine::sleep_for(150ms));
                              }));
    return Result<void>();
  }));
  ASSERT_TRUE(coroutine::sleep_for(950ms));
  EXPECT_THAT(moments_, ElementsAre(10, 260, 510, 760));
}

TEST_F(ObjectTimersTest, ATimerWaitsForItsTurnBehindTheCalls) {
  PuppetStage stage(store_, strings_);
  Tick late;
  ASSERT_TRUE(run(stage, [&](Puppet& puppet) {
    EXPECT_TRUE(puppet.timers().every({.interval = 1s}, [&](const Tick& tick) {
      if (tick.number == 1) late = tick;
      note();
    }));
    return Result<void>();
  }));
  ASSERT_TRUE(coroutine::sleep_for(500ms));
  strings_.run = [&](Puppet&) {
    EXPECT_TRUE(coroutine::sleep_for(400ms));
    note();
    return Result<void>();
  };
  // The last call arrives while the timer is already waiting.
  std::vector<coroutine::Task<test::RunReply>> calls;
  for (const auto delay : {0ms, 0ms, 550ms}) {
    calls.push_back(coroutine::spawn("call", [&, delay]() -> Result<test::RunReply> {
      if (auto slept = coroutine::sleep_for(delay); !slept) return slept.error();
      return stage.puppet("a").run({});
    }));
  }
  for (auto& call : calls) EXPECT_TRUE(call.join(Deadline::never()));
  EXPECT_THAT(moments_, ElementsAre(900, 1'300, 1'300, 1'700));
  EXPECT_EQ(late.lateness, 300ms);
  EXPECT_EQ(late.missed, 0U);
}

TEST_F(ObjectTimersTest, ATimerMayCancelItselfWhileItRuns) {
  PuppetStage stage(store_, strings_);
  TimerId id;
  auto token = std::make_shared<int>(0);
  const std::weak_ptr<int> captured = token;
  ASSERT_TRUE(run(stage, [&](Puppet& puppet) {
    id = *puppet.timers().every({.interval = 1s}, [&, &its = puppet, token](const Tick& tick) {
      note();
      if (tick.number < 3) return;
      its.timers().cancel(id);
      EXPECT_TRUE(coroutine::sleep_for(5s));
      // Its captures live as long as it runs.
      EXPECT_EQ(*token, 0);
    });
    return Result<void>();
  }));
  token.reset();
  ASSERT_TRUE(coroutine::sleep_for(1min));
  EXPECT_THAT(moments_, ElementsAre(1'000, 2'000, 3'000));
  EXPECT_TRUE(captured.expired());
  ASSERT_TRUE(run(stage, [&](Puppet& puppet) {
    EXPECT_EQ(puppet.timers().size(), 0U);
    puppet.timers().cancel(id);
    puppet.timers().cancel(TimerId());
    return Result<void>();
  }));
}

TEST_F(ObjectTimersTest, ATimerCancelledWhileItWaitsForItsTurnDoesNotRun) {
  PuppetStage stage(store_, strings_);
  ASSERT_TRUE(run(stage, [&](Puppet& puppet) {
    const auto id = puppet.timers().after(1s, [&] { note(); });
    EXPECT_TRUE(coroutine::sleep_for(2s));
    puppet.timers().cancel(*id);
    return Result<void>();
  }));
  ASSERT_TRUE(coroutine::sleep_for(1min));
  EXPECT_THAT(moments_, ElementsAre());
}

TEST_F(ObjectTimersTest, ATimerDoesNotKeepItsObjectActiveAndEndsWithIt) {
  PuppetStage stage(store_, strings_, 1, {.idle_time_max = 1min});
  strings_.on_activate = [&](Puppet& puppet) {
    auto set = puppet.timers().every({.interval = 1s}, [&](const Tick&) {
      note();
      // Its changes, which are stored now and then, do not keep the object either.
      puppet.change().set_value(puppet.state().value() + 1);
    });
    return set ? Result<void>() : Result<void>(set.error());
  };
  ASSERT_TRUE(stage.puppet("a").run({}));
  ASSERT_TRUE(coroutine::sleep_for(10min));
  EXPECT_EQ(stage.statistics().active_count, 0U);
  EXPECT_GE(moments_.size(), 59U);
  EXPECT_LE(moments_.size(), 62U);
  const auto state = stage.puppet("a").look({});
  ASSERT_TRUE(state) << state;
  EXPECT_EQ(state->value(), static_cast<std::int64_t>(moments_.size()));
}

TEST_F(ObjectTimersTest, AFailedActivationLeavesNoTimer) {
  PuppetStage stage(store_, strings_);
  strings_.on_activate = [&](Puppet& puppet) -> Result<void> {
    EXPECT_TRUE(puppet.timers().after(1s, [&] { note(); }));
    return Error(Code::failed_precondition, "no");
  };
  EXPECT_THAT(stage.puppet("a").run({}), fails_with(Code::failed_precondition));
  ASSERT_TRUE(coroutine::sleep_for(1min));
  EXPECT_THAT(moments_, ElementsAre());
}

TEST_F(ObjectTimersTest, ChangesOfATimerAreStoredWithinASecond) {
  PuppetStage first(store_, strings_);
  ASSERT_TRUE(run(first, [&](Puppet& puppet) {
    EXPECT_TRUE(puppet.timers().after(1s, [&puppet] { puppet.change().set_value(7); }));
    return Result<void>();
  }));
  ASSERT_TRUE(coroutine::sleep_for(1900ms));
  PuppetStage second(store_, strings_, 2);
  EXPECT_EQ(second.puppet("a").look({})->value(), 7);
}

TEST_F(ObjectTimersTest, AReentrantCallOfATimerIsRefused) {
  PuppetStage stage(store_, strings_);
  Result<test::RunReply> reply;
  ASSERT_TRUE(run(stage, [&](Puppet& puppet) {
    EXPECT_TRUE(
        puppet.timers().after(1s, [&] { reply = test::PuppetClient(puppet.router(), "a").run({}); },
                              {.name = "boomerang"}));
    return Result<void>();
  }));
  ASSERT_TRUE(coroutine::sleep_for(2s));
  ASSERT_THAT(reply, fails_with(Code::failed_precondition));
  EXPECT_THAT(reply.error().message(), HasSubstr("corolane.test.Puppet/boomerang(\"a\") -> "
                                                 "corolane.test.Puppet/Run(\"a\")"));
}

TEST_F(ObjectTimersTest, ATimerMayWaitWithoutATurn) {
  PuppetStage stage(store_, strings_);
  coroutine::Event event("the test");
  ASSERT_TRUE(run(stage, [&](Puppet& puppet) {
    EXPECT_TRUE(puppet.timers().after(1s, [&] {
      EXPECT_TRUE(puppet.wait_for(event, Deadline::after(1min)));
      note();
    }));
    return Result<void>();
  }));
  ASSERT_TRUE(coroutine::sleep_for(2s));
  EXPECT_TRUE(stage.puppet("a").look({}, {.deadline = Deadline::after(1ms)}));
  event.set();
  ASSERT_TRUE(coroutine::sleep_for(1s));
  EXPECT_THAT(moments_, ElementsAre(2'000));
}

TEST_F(ObjectTimersTest, AWaitingTimerIsAbortedWhenItsObjectMoves) {
  PuppetStage stage(store_, strings_);
  coroutine::Event event("the test");
  Result<void> waited;
  ASSERT_TRUE(run(stage, [&](Puppet& puppet) {
    EXPECT_TRUE(puppet.timers().every({.interval = 1s}, [&](const Tick&) {
      waited = puppet.wait_for(event, Deadline::never());
      note();
    }));
    return Result<void>();
  }));
  ASSERT_TRUE(coroutine::sleep_for(5s));
  const Partition partition = partition_of("corolane.test.Puppet", "a");
  stage.host.release(stage.ownership, std::array{partition}, Deadline::after(50ms));
  EXPECT_EQ(stage.statistics().active_count, 0U);
  EXPECT_THAT(waited, fails_with(Code::aborted));
  ASSERT_TRUE(coroutine::sleep_for(1min));
  EXPECT_THAT(moments_, ElementsAre(5'000));
  stage.host.resume(stage.ownership, std::array{partition});
}

TEST_F(ObjectTimersTest, ALostObjectRunsNoTimer) {
  PuppetStage stage(store_, strings_);
  ASSERT_TRUE(run(stage, [&](Puppet& puppet) {
    EXPECT_TRUE(puppet.timers().every({.interval = 1s}, [&](const Tick&) { note(); }));
    return Result<void>();
  }));
  ASSERT_TRUE(coroutine::sleep_for(2500ms));
  // The node is fenced for a while; then the timer resumes on its grid.
  stage.fence.set(now());
  ASSERT_TRUE(coroutine::sleep_for(2s));
  EXPECT_THAT(moments_, ElementsAre(1'000, 2'000));
  stage.fence.set(TimePoint::max());
  ASSERT_TRUE(coroutine::sleep_for(1s));
  ASSERT_EQ(moments_.size(), 4U);
  EXPECT_LE(moments_[2], 4'600);
  EXPECT_EQ(moments_[3], 5'000);
  // The partitions belong to another node.
  stage.own_all(0);
  ASSERT_TRUE(coroutine::sleep_for(1min));
  EXPECT_EQ(moments_.size(), 4U);
  stage.host.drop_all();
  EXPECT_EQ(stage.statistics().active_count, 0U);
}

TEST_F(ObjectTimersTest, AnExceptionDoesNotStopTheTimer) {
  PuppetStage stage(store_, strings_);
  ASSERT_TRUE(run(stage, [&](Puppet& puppet) {
    for (const auto mode : {Rhythm::fixed_rate, Rhythm::fixed_delay}) {
      EXPECT_TRUE(puppet.timers().every({.interval = 1s, .mode = mode}, [&](const Tick&) {
        note();
        throw 1;
      }));
    }
    return Result<void>();
  }));
  ASSERT_TRUE(coroutine::sleep_for(2500ms));
  EXPECT_THAT(moments_, ElementsAre(1'000, 1'000, 2'000, 2'000));
  EXPECT_TRUE(stage.puppet("a").look({}));
}

TEST_F(ObjectTimersTest, TheNumberOfTimersIsLimited) {
  PuppetStage stage(store_, strings_, 1, {.alarms = {.timer_count_max = 3}});
  ASSERT_TRUE(run(stage, [&](Puppet& puppet) {
    auto timers = puppet.timers();
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(timers.after(1s, [] {}));
    const auto refused = timers.after(1s, [] {});
    EXPECT_THAT(refused, fails_with(Code::resource_exhausted));
    EXPECT_THAT(refused.error().message(), HasSubstr("Puppet \"a\" has 3 timers"));
    return Result<void>();
  }));
  ASSERT_TRUE(coroutine::sleep_for(2s));
  ASSERT_TRUE(run(stage, [&](Puppet& puppet) {
    EXPECT_TRUE(puppet.timers().after(1s, [] {}));
    return Result<void>();
  }));
}

TEST_F(ObjectTimersTest, InvalidTimersAreRefused) {
  PuppetStage stage(store_, strings_);
  ASSERT_TRUE(run(stage, [&](Puppet& puppet) {
    auto timers = puppet.timers();
    EXPECT_THAT(timers.every({.interval = 999us}, [](const Tick&) {}),
                fails_with(Code::invalid_argument));
    EXPECT_THAT(timers.cron("* * * *", "UTC", [](const Tick&) {}),
                fails_with(Code::invalid_argument));
    EXPECT_THAT(timers.cron("* * * * *", "Europe/Bonn", [](const Tick&) {}),
                fails_with(Code::invalid_argument));
    EXPECT_THAT(timers.after(1s, [] {}, {.stack_size_bytes = std::size_t{1} << 30}),
                fails_with(Code::invalid_argument));
    EXPECT_EQ(timers.size(), 0U);
    return Result<void>();
  }));
}

TEST_F(ObjectTimersTest, CronFollowsTheClocksOfItsZone) {
  const WallClock clock(utc("2026-03-29 00:00"));
  PuppetStage stage(store_, strings_, 1, idle_for_days, clock);
  std::vector<std::string> times;
  ASSERT_TRUE(run(stage, [&](Puppet& puppet) {
    EXPECT_TRUE(puppet.timers().cron("30 2 * * *", "Europe/Berlin", [&](const Tick& tick) {
      EXPECT_EQ(tick.lateness, 0ms);
      EXPECT_EQ(tick.number, times.size() + 1);
      times.push_back(text_of(clock.now()));
    }));
    return Result<void>();
  }));
  ASSERT_TRUE(coroutine::sleep_for(25h));
  EXPECT_THAT(times, ElementsAre("2026-03-29 01:00", "2026-03-30 00:30"));
}

TEST_F(ObjectTimersTest, CronMergesLateRuns) {
  const WallClock clock(utc("2026-01-01 00:00"));
  PuppetStage stage(store_, strings_, 1, idle_for_days, clock);
  std::vector<Tick> ticks;
  ASSERT_TRUE(run(stage, [&](Puppet& puppet) {
    EXPECT_TRUE(puppet.timers().cron("* * * * *", "UTC", [&](const Tick& tick) {
      ticks.push_back(tick);
      if (ticks.size() == 1) {
        EXPECT_TRUE(coroutine::sleep_for(150s));
      }
      if (ticks.size() == 2) {
        EXPECT_TRUE(coroutine::sleep_for(20h));
      }
    }));
    return Result<void>();
  }));
  ASSERT_TRUE(coroutine::sleep_for(20h + 270s));
  ASSERT_EQ(ticks.size(), 4U);
  EXPECT_EQ(ticks[1].missed, 1U);
  EXPECT_EQ(ticks[1].number, 3U);
  EXPECT_EQ(ticks[1].lateness, 90s);
  EXPECT_EQ(ticks[2].missed, 1'000U);
  EXPECT_EQ(ticks[3].missed, 0U);
}

TEST_F(ObjectTimersTest, ARunningTimerMayFinishBeforeTheHostStops) {
  PuppetStage stage(store_, strings_);
  ASSERT_TRUE(run(stage, [&](Puppet& puppet) {
    EXPECT_TRUE(puppet.timers().after(1s, [&] {
      EXPECT_TRUE(coroutine::sleep_for(1s));
      puppet.change().set_value(7);
      note();
    }));
    EXPECT_TRUE(puppet.timers().after(1s, [&] { note(); }));
    return Result<void>();
  }));
  ASSERT_TRUE(coroutine::sleep_for(1500ms));
  EXPECT_TRUE(stage.host.stop(Deadline::after(4s)));
  EXPECT_THAT(moments_, ElementsAre(2'000, 2'000));
  PuppetStage second(store_, strings_, 2);
  EXPECT_EQ(second.puppet("a").look({})->value(), 7);
}

TEST_F(ObjectTimersTest, ATimerThatDoesNotEndIsCancelledWhenTheHostStops) {
  PuppetStage stage(store_, strings_);
  Result<void> slept;
  ASSERT_TRUE(run(stage, [&](Puppet& puppet) {
    puppet.change().set_value(7);
    EXPECT_TRUE(puppet.timers().after(100ms, [&] { slept = coroutine::sleep_for(1h); }));
    return Result<void>();
  }));
  ASSERT_TRUE(coroutine::sleep_for(200ms));
  const TimePoint start = now();
  EXPECT_TRUE(stage.host.stop(Deadline::after(4s)));
  EXPECT_EQ(now() - start, 2s);
  EXPECT_THAT(slept, fails_with(Code::cancelled));
  PuppetStage second(store_, strings_, 2);
  EXPECT_EQ(second.puppet("a").look({})->value(), 7);
}

TEST_F(ObjectTimersTest, ObjectsBusyWithTimersDelayNoOther) {
  PuppetStage stage(store_, strings_, 1, {.idle_time_max = 3s});
  Duration first_after = 1s;
  strings_.run = [&](Puppet& puppet) -> Result<void> {
    auto ticking =
        puppet.timers().every({.interval = 1ms, .first_after = first_after},
                              [](const Tick&) { static_cast<void>(coroutine::sleep_for(3s)); });
    return ticking ? Result<void>() : ticking.error();
  };
  for (int i = 0; i < 40; ++i) {
    ASSERT_TRUE(stage.puppet(std::to_string(i)).run({}));
    // The timers are staggered: when one run ends, the next has just begun.
    first_after -= 10ms;
  }
  ASSERT_TRUE(coroutine::sleep_for(10s));
  EXPECT_EQ(stage.statistics().active_count, 0U);
}

// Objects come and go while their timers are armed, cancelled, late and waiting; the host must have
// released everything at the end (the leak checks see it).
TEST_F(ObjectTimersTest, ManyTimersThatComeAndGoLeaveNothingBehind) {
  test::Random random;
  PuppetStage stage(store_, strings_, 1, {.idle_time_max = 3s, .alarms = {.timer_count_max = 10}});
  std::uint64_t run_count = 0;
  coroutine::Event event("the test");
  strings_.run = [&](Puppet& puppet) {
    auto timers = puppet.timers();
    std::vector<TimerId> ids;
    for (std::uint64_t i = random.below(4); i > 0; --i) {
      const Rhythm rhythm{.interval = 1ms + random.up_to(500ms),
                          .mode = random.one_in(2) ? Rhythm::fixed_rate : Rhythm::fixed_delay};
      const auto id = timers.every(rhythm, [&](const Tick&) {
        ++run_count;
        if (random.one_in(10)) static_cast<void>(coroutine::sleep_for(random.up_to(2s)));
        if (random.one_in(20)) {
          static_cast<void>(puppet.wait_for(event, Deadline::after(random.up_to(2s))));
        }
        if (random.one_in(500)) throw 1;
      });
      if (id && random.one_in(3)) ids.push_back(*id);
    }
    if (random.one_in(4)) static_cast<void>(coroutine::sleep_for(random.up_to(1s)));
    for (const TimerId id : ids) timers.cancel(id);
    return Result<void>();
  };
  coroutine::TaskGroup calls;
  for (int i = 0; i < 2'000; ++i) {
    ASSERT_TRUE(calls.spawn("call", [&] {
      static_cast<void>(stage.puppet(std::to_string(random.below(40))).run({}));
    }));
    if (random.one_in(20)) event.pulse();
    if (random.one_in(500)) {
      stage.own_all(0);
      stage.host.drop_all();
      stage.own_all(static_cast<std::uint64_t>(i) + 2);
    }
    ASSERT_TRUE(coroutine::sleep_for(random.up_to(20ms)));
  }
  EXPECT_TRUE(calls.join(Deadline::never()));
  ASSERT_TRUE(coroutine::sleep_for(1min));
  EXPECT_GT(run_count, 1'000U);
  EXPECT_EQ(stage.statistics().active_count, 0U);
  EXPECT_EQ(stage.statistics().memory_bytes, 0U);
  EXPECT_EQ(stage.host.alarms().running_count(), 0U);
}

}  // namespace
}  // namespace corolane::framework
