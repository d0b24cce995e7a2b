// SPDX-License-Identifier: MIT
#include "coroutine/timer_wheel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <iterator>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "coroutine/task_group.h"
#include "coroutine/testing/random.h"

namespace corolane::coroutine {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint start{100h};

// Records the order in which alarms ring.
struct Alarm : Timer {
  Alarm(std::vector<int>& order, int own_number)
      : Timer(&Alarm::ring), rung(order), number(own_number) {}
  static void ring(Timer& timer) {
    auto& self = static_cast<Alarm&>(timer);
    self.rung.push_back(self.number);
    if (self.then) self.then();
  }

  std::vector<int>& rung;
  int number;
  std::function<void()> then;
};

class TimerWheelTest : public testing::Test {
 protected:
  using Order = std::vector<int>;

  TimerWheel wheel_{start};
  Order rung_;
  Alarm first_{rung_, 1};
  Alarm second_{rung_, 2};
};

TEST_F(TimerWheelTest, AnEmptyWheelHasNothingToDo) {
  EXPECT_TRUE(wheel_.next().is_never());
  wheel_.advance(start + 1000h);
  EXPECT_TRUE(wheel_.next().is_never());
}

TEST_F(TimerWheelTest, ATimerFiresAtItsTimeAndNotANanosecondEarlier) {
  TimePoint time = start;
  for (const Duration delay : {1ns, 999'999ns, 1'048'576ns, 67'108'865ns, 3'600'000'000'000ns}) {
    wheel_.arm(first_, Deadline::at(time + delay));
    wheel_.advance(time + delay - 1ns);
    EXPECT_TRUE(first_.is_armed());
    wheel_.advance(time + delay);
    EXPECT_FALSE(first_.is_armed());
    time += delay;
  }
  EXPECT_EQ(rung_.size(), 5u);
}

TEST_F(TimerWheelTest, ATimeThatHasPassedFiresAtTheNextAdvance) {
  wheel_.arm(first_, Deadline::passed());
  wheel_.arm(second_, Deadline::at(start - 1h));
  EXPECT_LE(wheel_.next(), Deadline::at(start));
  wheel_.advance(start);
  EXPECT_EQ(rung_, Order({1, 2}));
}

TEST_F(TimerWheelTest, NeverDisarms) {
  wheel_.arm(first_, Deadline::at(start + 1s));
  wheel_.arm(first_, Deadline::never());
  EXPECT_FALSE(first_.is_armed());
  EXPECT_TRUE(wheel_.next().is_never());
}

TEST_F(TimerWheelTest, TheLastTimeArmedCounts) {
  wheel_.arm(first_, Deadline::at(start + 1s));
  wheel_.arm(first_, Deadline::at(start + 3s));
  EXPECT_EQ(wheel_.armed_count(), 1u);
  wheel_.advance(start + 2s);
  EXPECT_TRUE(rung_.empty());
  wheel_.advance(start + 3s);
  EXPECT_EQ(rung_, Order({1}));
}

TEST_F(TimerWheelTest, ACancelledOrDestroyedTimerDoesNotFire) {
  wheel_.arm(first_, Deadline::at(start + 1s));
  first_.cancel();
  first_.cancel();
  {
    Alarm gone(rung_, 3);
    wheel_.arm(gone, Deadline::at(start + 1s));
  }
  EXPECT_EQ(wheel_.armed_count(), 0u);
  wheel_.advance(start + 1s);
  EXPECT_TRUE(rung_.empty());
}

TEST_F(TimerWheelTest, ACallbackMayArmItsOwnTimerAgain) {
  first_.then = [&] {
    if (rung_.size() < 3) wheel_.arm(first_, Deadline::at(start + 1s));
  };
  wheel_.arm(first_, Deadline::at(start + 1s));
  wheel_.advance(start + 1s);
  EXPECT_EQ(rung_.size(), 1u);  // At most once per advance, which might not end otherwise.
  wheel_.advance(start + 1s);
  wheel_.advance(start + 1s);
  EXPECT_EQ(rung_.size(), 3u);
  EXPECT_EQ(wheel_.armed_count(), 0u);
}

TEST_F(TimerWheelTest, DueTimersMayFireInPieces) {
  Alarm third(rung_, 3);
  for (Alarm* const alarm : {&first_, &second_, &third}) {
    wheel_.arm(*alarm, Deadline::at(start + 1s));
  }
  wheel_.collect_due(start + 1s);
  EXPECT_TRUE(wheel_.fire_due(1));
  EXPECT_EQ(rung_, Order({1}));
  EXPECT_EQ(wheel_.armed_count(), 2u);
  EXPECT_EQ(wheel_.next(), Deadline::passed());
  wheel_.arm(first_, Deadline::at(start + 1s));  // Fires after them, at the next advance.
  second_.cancel();
  EXPECT_FALSE(wheel_.fire_due(2));
  EXPECT_EQ(rung_, Order({1, 3}));
  wheel_.advance(start + 2s);
  EXPECT_EQ(rung_, Order({1, 3, 1}));
  EXPECT_TRUE(wheel_.next().is_never());
}

TEST_F(TimerWheelTest, ACallbackMayCancelATimerThatIsDueWithIt) {
  first_.then = [&] { second_.cancel(); };
  wheel_.arm(first_, Deadline::at(start + 1s));
  wheel_.arm(second_, Deadline::at(start + 1s));
  wheel_.advance(start + 1s);
  EXPECT_EQ(rung_, Order({1}));
  EXPECT_EQ(wheel_.armed_count(), 0u);
}

TEST_F(TimerWheelTest, TimersMayBeDestroyedBetweenTwoTurns) {
  std::list<Alarm> timers;
  for (int number = 0; number < 100; ++number) {
    wheel_.arm(timers.emplace_back(rung_, number), Deadline::at(start + number * 10ms));
  }
  timers.erase(std::next(timers.begin()), timers.end());
  EXPECT_EQ(wheel_.next(), Deadline::at(start));
  wheel_.advance(start + 1h);
  EXPECT_EQ(rung_, Order({0}));
  EXPECT_TRUE(wheel_.next().is_never());
}

TEST_F(TimerWheelTest, ATimerThatIsCancelledMayBeArmedInAnotherWheelAtOnce) {
  TimerWheel other{start};
  for (int turn = 0; turn < 100; ++turn) {
    wheel_.arm(first_, Deadline::at(start + 1s));
    first_.cancel();
    other.arm(first_, Deadline::at(start + 2s));
    wheel_.arm(second_, Deadline::at(start + 1s));
    second_.cancel();
  }
  EXPECT_EQ(wheel_.armed_count(), 0u);
  EXPECT_EQ(other.armed_count(), 1u);
  other.advance(start + 2s);
  EXPECT_EQ(rung_, Order({1}));
}

TEST_F(TimerWheelTest, ACancelledTimerWakesItsWheelAtMostOnce) {
  for (const Duration ahead : {Duration(10us), Duration(10ms), Duration(10s)}) {
    const TimePoint early = start;
    wheel_.arm(first_, Deadline::at(early + ahead));
    wheel_.arm(second_, Deadline::at(early + ahead + 1us));
    first_.cancel();
    wheel_.advance(wheel_.next().time());
    EXPECT_EQ(wheel_.next(),
              second_.is_armed() ? Deadline::at(early + ahead + 1us) : Deadline::never());
    second_.cancel();
  }
}

TEST_F(TimerWheelTest, TimersThatShareASlotCostNothingUntilTheyAreDue) {
  const auto cost_with = [&](std::size_t count) {
    const auto alarms = std::make_unique<std::optional<Alarm>[]>(count);
    for (std::size_t index = 0; index < count; ++index) {
      alarms[index].emplace(rung_, 0);
      wheel_.arm(*alarms[index], Deadline::at(start + 20ms));
    }
    Duration least = Duration::max();
    for (int attempt = 0; attempt < 5; ++attempt) {
      const auto begin = std::chrono::steady_clock::now();
      for (int call = 0; call < 1000; ++call) {
        wheel_.collect_due(start);
        EXPECT_EQ(wheel_.next(), Deadline::at(start + 20ms));
      }
      least = std::min<Duration>(least, std::chrono::steady_clock::now() - begin);
    }
    return least;
  };
  const Duration few = cost_with(10);
  EXPECT_LT(cost_with(50'000), 20 * few);
}

TEST_F(TimerWheelTest, EqualTimesFireInTheOrderOfArming) {
  test::Random random;
  const TimePoint time = start + 24h * 365;
  std::vector<std::unique_ptr<Alarm>> alarms;
  Order expected;
  // Armed from ever shorter distances, so that they begin in different levels of the wheel.
  for (Duration distance = time - start; distance > 0ns; distance = random.up_to(distance / 2)) {
    wheel_.advance(time - distance);
    for (int twice = 0; twice < 2; ++twice) {
      expected.push_back(static_cast<int>(expected.size()));
      alarms.push_back(std::make_unique<Alarm>(rung_, expected.back()));
      wheel_.arm(*alarms.back(), Deadline::at(time));
    }
  }
  wheel_.advance(time);
  EXPECT_EQ(rung_, expected);
}

TEST(TimerWheelInVirtualTimeTest, EverySleepEndsExactlyOnItsDeadline) {
  test::Random random;
  TaskGroup group;
  for (int sleeper = 0; sleeper < 100; ++sleeper) {
    EXPECT_TRUE(group.spawn("sleeper", [&] {
      for (int round = 0; round < 20; ++round) {
        const Duration delay(static_cast<Duration::rep>(random.below(1ull << random.below(50))));
        const TimePoint end = now() + delay;
        EXPECT_TRUE(sleep_until(Deadline::at(end)));
        EXPECT_EQ(now(), end);
      }
    }));
  }
  EXPECT_TRUE(group.join(Deadline::never()));
}

// Runs a wheel beside a simple equivalent, a sorted map.
class TwinWheels {
 public:
  // Times are multiples of `step` and lie up to 2^`bits_max` ns ahead.
  TwinWheels(std::size_t timer_count, std::uint64_t bits_max, Duration step)
      : bits_max_(bits_max), step_(step) {
    for (std::size_t number = 0; number < timer_count; ++number) {
      twins_.push_back(std::make_unique<Twin>(*this));
    }
  }
  ~TwinWheels() {
    for (const auto& twin : twins_) cancel(*twin);
  }

  void do_something() {
    const std::uint64_t choice = random_.below(10);
    if (choice < 7) {
      arm_or_cancel();
    } else if (choice < 9) {
      advance_to(wheel_.next());
    } else {
      const std::uint64_t longest =
          random_.one_in(1000) ? 1ull << 55
                               : 1ull << random_.below(std::min<std::uint64_t>(36, bits_max_));
      advance_to(Deadline::at(time_ + random_duration(longest)));
    }
    ASSERT_EQ(wheel_.armed_count(), expected_.size());
    ASSERT_EQ(wheel_.next().is_never(), expected_.empty());
    if (expected_.empty()) return;
    ASSERT_LE(wheel_.next().time(), expected_.begin()->first);
  }

 private:
  struct Twin;
  using Expected = std::multimap<TimePoint, Twin*>;

  struct Twin : Timer {
    explicit Twin(TwinWheels& own_wheels) : Timer(&Twin::fire), wheels(own_wheels) {}
    static void fire(Timer& timer) {
      auto& twin = static_cast<Twin&>(timer);
      twin.wheels.fired(twin);
    }

    TwinWheels& wheels;
    std::optional<Expected::iterator> place;  // In expected_, while armed.
    std::uint64_t armed_in = 0;               // The advance during or after which it was armed.
  };

  Duration random_duration(std::uint64_t longest) {
    const Duration any = random_.up_to(Duration(static_cast<Duration::rep>(longest)));
    return any - any % step_;
  }

  // From a nanosecond on, every order of magnitude equally likely; sometimes the past.
  void arm_or_cancel() {
    Twin& twin = *twins_[random_.below(twins_.size())];
    if (random_.one_in(4)) return cancel(twin);
    const Duration ahead = random_duration(1ull << random_.below(bits_max_ + 1));
    arm(twin, random_.one_in(20) ? time_ - ahead : time_ + ahead);
  }

  void arm(Twin& twin, TimePoint time) {
    if (twin.place) expected_.erase(*twin.place);
    twin.place = expected_.emplace(time, &twin);
    twin.armed_in = advance_count_;
    wheel_.arm(twin, Deadline::at(time));
    ASSERT_TRUE(twin.is_armed());
  }

  void cancel(Twin& twin) {
    if (twin.place) expected_.erase(*twin.place);
    twin.place.reset();
    twin.cancel();
    ASSERT_FALSE(twin.is_armed());
  }

  void fired(Twin& twin) {
    ++fired_count_;
    ASSERT_FALSE(twin.is_armed());
    ASSERT_TRUE(twin.place) << "fired without being armed";
    ASSERT_LE((*twin.place)->first, time_) << "fired early";
    ASSERT_LT(twin.armed_in, advance_count_) << "armed by a callback and fired with it";
    ASSERT_EQ(*twin.place, expected_.lower_bound((*twin.place)->first)) << "overtook its equal";
    expected_.erase(*twin.place);
    twin.place.reset();
    if (random_.one_in(2)) arm_or_cancel();
  }

  void advance_to(Deadline deadline) {
    if (deadline.is_never()) return;
    const bool to_next = deadline == wheel_.next();
    const std::uint64_t fired_before = fired_count_;
    time_ = std::max(time_, deadline.time());
    ++advance_count_;
    wheel_.advance(time_);
    const bool got_on = fired_count_ > fired_before || wheel_.next() > deadline;
    ASSERT_TRUE(got_on || !to_next) << "next() leads nowhere";
    for (auto due = expected_.begin(); due != expected_.end() && due->first <= time_; ++due) {
      ASSERT_EQ(due->second->armed_in, advance_count_) << "was due and did not fire";
    }
  }

  const std::uint64_t bits_max_;
  const Duration step_;
  test::Random random_;
  TimePoint time_ = start;
  TimerWheel wheel_{start};
  Expected expected_;
  std::vector<std::unique_ptr<Twin>> twins_;
  std::uint64_t advance_count_ = 0;
  std::uint64_t fired_count_ = 0;
};

TEST(TimerWheelPropertyTest, DoesWhatASortedMapWouldDo) {
  TwinWheels twins(300, 60, 1ns);  // 36 years.
  for (int operation = 0; operation < 200'000 && !testing::Test::HasFailure(); ++operation) {
    twins.do_something();
  }
}

TEST(TimerWheelPropertyTest, DoesTheSameWithManyTimersInASlot) {
  TwinWheels twins(3'000, 22, 8us);  // 4 ms.
  for (int operation = 0; operation < 200'000 && !testing::Test::HasFailure(); ++operation) {
    twins.do_something();
  }
}

}  // namespace
}  // namespace corolane::coroutine
