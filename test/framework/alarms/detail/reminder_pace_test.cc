// SPDX-License-Identifier: MIT
#include "framework/alarms/detail/reminder_pace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "coroutine/testing/matchers.h"
#include "coroutine/testing/random.h"
#include "test/framework/time/wall_times.h"

namespace corolane::framework::detail {
namespace {

using namespace std::chrono_literals;
using test::fails_with;
using test::utc;

// Simulates a change of owner: stores the pace and loads it again.
ReminderPace stored_and_loaded(const ReminderPace& pace) {
  StoredReminder stored;
  pace.store(stored);
  return ReminderPace::load(stored).value();
}

// Ticks one minute apart, of either rhythm, inspected at random intervals: soon or after days.
class ReminderPaceTest : public testing::TestWithParam<const char*> {
 protected:
  bool is_cron() const { return std::string_view(GetParam()) == "cron"; }
  ReminderPace pace(ReminderOptions::Missed missed) const {
    if (!is_cron()) return ReminderPace::every(first_, 1min, missed).value();
    return ReminderPace::cron("* * * * *", "UTC", missed, first_ - 1min).value();
  }
  void at_random_times(const auto& look) const {
    test::Random random;
    WallTime time = first_ - 10min;
    for (int i = 0; i < 300; ++i) {
      const std::uint64_t longest = i % 50 == 0 ? 200'000'000 : 300'000;
      time += std::chrono::milliseconds(random.below(longest));
      look(time);
    }
  }
  // The number of ticks that are due by `time`.
  std::uint64_t count_at(WallTime time) const {
    return time < first_ ? 0 : static_cast<std::uint64_t>((time - first_) / 1min) + 1;
  }
  WallTime time_of(std::uint64_t number) const {
    return first_ + static_cast<std::int64_t>(number - 1) * 1min;
  }

  const WallTime first_ = utc("2026-03-29 00:17");
};

TEST_P(ReminderPaceTest, FireAllRunsEachTickOnce) {
  ReminderPace pace = this->pace(ReminderOptions::fire_all);
  std::uint64_t number = 0;
  at_random_times([&](WallTime time) {
    EXPECT_FALSE(pace.skip(time));
    while (pace.next_time() <= time) {
      const Reminder ran = pace.begin(time);
      EXPECT_EQ(ran.number, ++number);
      EXPECT_EQ(ran.missed, 0U);
      EXPECT_EQ(ran.time, time_of(number));
      EXPECT_EQ(ran.lateness, time - ran.time);
      pace.advance(ran);
      pace = stored_and_loaded(pace);
    }
    EXPECT_EQ(number, count_at(time));
  });
}

TEST_P(ReminderPaceTest, FireOnceMergesAllDueTicks) {
  ReminderPace pace = this->pace(ReminderOptions::fire_once);
  std::uint64_t count = 0;
  at_random_times([&](WallTime time) {
    EXPECT_FALSE(pace.skip(time));
    if (pace.next_time() > time) return;
    const Reminder ran = pace.begin(time);
    const std::uint64_t come = count_at(time) - count;
    // A cron expression counts at most this many missed ticks.
    EXPECT_EQ(ran.missed + 1, is_cron() ? std::min<std::uint64_t>(come, 1'000) : come);
    EXPECT_EQ(ran.time, time_of(count + 1));
    count += come;
    pace.advance(ran);
    pace = stored_and_loaded(pace);
    EXPECT_EQ(pace.next_time(), time_of(count + 1));
  });
}

TEST_P(ReminderPaceTest, SkipRunsNoLateTick) {
  ReminderPace pace = this->pace(ReminderOptions::skip);
  int run_count = 0;
  at_random_times([&](WallTime time) {
    pace.skip(time);
    EXPECT_GE(pace.next_time(), time - 1min);
    if (pace.next_time() > time) return;
    ++run_count;
    const Reminder ran = pace.begin(time);
    EXPECT_LE(ran.lateness, 1min);
    EXPECT_LE(ran.missed, 1U);
    pace.advance(ran);
    pace = stored_and_loaded(pace);
    EXPECT_EQ(pace.next_time(), time_of(count_at(time) + 1));
  });
  EXPECT_GT(run_count, 100);
}

INSTANTIATE_TEST_SUITE_P(Rhythms, ReminderPaceTest, testing::Values("every", "cron"),
                         [](const auto& rhythm) { return std::string(rhythm.param); });

TEST(ReminderPaceOnceTest, IsOverWhenItHasRun) {
  const WallTime time = utc("2026-03-29 00:17");
  ReminderPace pace = stored_and_loaded(ReminderPace::once(time).value());
  EXPECT_FALSE(pace.skip(time + 24h));
  const Reminder ran = pace.begin(time + 24h);
  EXPECT_EQ(ran.number, 1U);
  EXPECT_EQ(ran.missed, 0U);
  EXPECT_FALSE(pace.is_over());
  pace.advance(ran);
  EXPECT_TRUE(pace.is_over());
}

TEST(ReminderPaceOnceTest, ExtremeTimesDoNotOverflow) {
  const ReminderPace last = ReminderPace::once(WallTime::max()).value();
  EXPECT_EQ(stored_and_loaded(last).next_time(), last.next_time());
  const auto first = ReminderPace::every(WallTime::min(), 1s, ReminderOptions::fire_once);
  const Reminder ran = first->begin(utc("2026-03-29 00:17"));
  EXPECT_GT(ran.missed, 1'000'000U);
  EXPECT_GT(ran.lateness, std::chrono::years(292));
  EXPECT_THAT(
      ReminderPace::every(WallTime(), std::chrono::milliseconds::max(), ReminderOptions::fire_once),
      fails_with(Code::invalid_argument));
}

}  // namespace
}  // namespace corolane::framework::detail
