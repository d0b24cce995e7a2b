// SPDX-License-Identifier: MIT
#include "framework/time/cron.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <set>
#include <string>
#include <vector>

#include "coroutine/testing/matchers.h"
#include "coroutine/testing/random.h"
#include "coroutine/testing/sanitizers.h"
#include "test/framework/time/wall_times.h"

namespace corolane::framework {
namespace {

using namespace std::chrono_literals;
using test::fails_with;
using test::text_of;
using test::utc;
using testing::ElementsAre;
using testing::HasSubstr;

CronExpression cron(std::string_view text) {
  auto parsed = CronExpression::parse(text);
  EXPECT_TRUE(parsed) << parsed;
  return parsed ? *parsed : *CronExpression::parse("* * * * *");
}

TimeZone zone(std::string_view name) {
  auto loaded = TimeZone::load(name);
  EXPECT_TRUE(loaded) << loaded;
  return loaded ? *loaded : TimeZone();
}

// The next `count` times after `time`, in UTC.
std::vector<std::string> next(std::string_view expression, std::string_view zone_name,
                              const char* time, int count) {
  const CronExpression parsed = cron(expression);
  const TimeZone where = zone(zone_name);
  std::vector<std::string> times;
  WallTime at = utc(time);
  for (int i = 0; i < count; ++i) {
    at = parsed.next(at, where);
    times.push_back(text_of(at));
  }
  return times;
}

TEST(CronTest, FieldsMayBeValuesRangesStepsListsAndNames) {
  EXPECT_THAT(next("30 4 * * *", "UTC", "2026-01-01 04:30", 2),
              ElementsAre("2026-01-02 04:30", "2026-01-03 04:30"));
  EXPECT_THAT(
      next("*/20 9-17/4 * * *", "UTC", "2026-01-01 09:20", 4),
      ElementsAre("2026-01-01 09:40", "2026-01-01 13:00", "2026-01-01 13:20", "2026-01-01 13:40"));
  EXPECT_THAT(
      next("5,1-2 0 * * *", "UTC", "2026-01-01 00:00", 4),
      ElementsAre("2026-01-01 00:01", "2026-01-01 00:02", "2026-01-01 00:05", "2026-01-02 00:01"));
  // The first of January 2026 is a Thursday.
  EXPECT_THAT(next("0 4 * * MON-fri", "UTC", "2026-01-01 12:00", 3),
              ElementsAre("2026-01-02 04:00", "2026-01-05 04:00", "2026-01-06 04:00"));
  EXPECT_THAT(next("0 0 1 jan,JUL *", "UTC", "2026-01-01 00:00", 2),
              ElementsAre("2026-07-01 00:00", "2027-01-01 00:00"));
}

TEST(CronTest, SundayHasTwoNumbersAndEndsAWeek) {
  for (const char* sunday : {"0 0 * * 0", "0 0 * * 7", "0 0 * * SUN"}) {
    EXPECT_THAT(next(sunday, "UTC", "2026-01-01 00:00", 1), ElementsAre("2026-01-04 00:00"));
  }
  for (const char* weekend : {"0 0 * * SAT-SUN", "0 0 * * 6-7", "0 0 * * 6,0"}) {
    EXPECT_THAT(next(weekend, "UTC", "2026-01-01 00:00", 3),
                ElementsAre("2026-01-03 00:00", "2026-01-04 00:00", "2026-01-10 00:00"));
  }
}

TEST(CronTest, ADayOrAWeekdaySuffices) {
  EXPECT_THAT(
      next("0 0 13 * FRI", "UTC", "2026-01-01 00:00", 4),
      ElementsAre("2026-01-02 00:00", "2026-01-09 00:00", "2026-01-13 00:00", "2026-01-16 00:00"));
}

TEST(CronTest, SomeExpressionsHaveNames) {
  EXPECT_THAT(next("@hourly", "UTC", "2026-01-01 00:00", 1), ElementsAre("2026-01-01 01:00"));
  EXPECT_THAT(next("@daily", "UTC", "2026-01-01 00:00", 1), ElementsAre("2026-01-02 00:00"));
  EXPECT_THAT(next("@midnight", "UTC", "2026-01-01 00:00", 1), ElementsAre("2026-01-02 00:00"));
  EXPECT_THAT(next("@weekly", "UTC", "2026-01-01 00:00", 1), ElementsAre("2026-01-04 00:00"));
  EXPECT_THAT(next("@monthly", "UTC", "2026-01-01 00:00", 1), ElementsAre("2026-02-01 00:00"));
  EXPECT_THAT(next("@Yearly", "UTC", "2026-01-01 00:00", 1), ElementsAre("2027-01-01 00:00"));
  EXPECT_THAT(next("@annually", "UTC", "2026-01-01 00:00", 1), ElementsAre("2027-01-01 00:00"));
}

TEST(CronTest, TheCurrentMinuteIsNotReturned) {
  EXPECT_EQ(cron("* * * * *").next(utc("2026-01-01 00:00") + 1ms, {}), utc("2026-01-01 00:01"));
  EXPECT_EQ(cron("* * * * *").next(utc("2026-01-01 00:01") - 1ms, {}), utc("2026-01-01 00:01"));
  EXPECT_EQ(cron("0 0 * * *").next(utc("2026-01-02 00:00") - 1ms, {}), utc("2026-01-02 00:00"));
  EXPECT_EQ(cron("0 0 * * *").next(utc("1969-12-31 12:00"), {}), utc("1970-01-01 00:00"));
}

TEST(CronTest, ShortMonthsAndYearsAreSkipped) {
  EXPECT_THAT(next("0 12 31 * *", "UTC", "2026-01-31 12:00", 3),
              ElementsAre("2026-03-31 12:00", "2026-05-31 12:00", "2026-07-31 12:00"));
  EXPECT_THAT(next("0 0 29 2 *", "UTC", "2026-01-01 00:00", 2),
              ElementsAre("2028-02-29 00:00", "2032-02-29 00:00"));
  // The year 2100 has no such day.
  EXPECT_THAT(next("0 0 29 2 *", "UTC", "2096-02-29 00:00", 1), ElementsAre("2104-02-29 00:00"));
}

TEST(CronTest, ASkippedLocalTimeRunsOnceAtTheJump) {
  EXPECT_THAT(next("30 2 * * *", "Europe/Berlin", "2026-03-28 00:00", 3),
              ElementsAre("2026-03-28 01:30", "2026-03-29 01:00", "2026-03-30 00:30"));
  EXPECT_THAT(next("0,15,30 2,3 * * *", "Europe/Berlin", "2026-03-29 00:00", 3),
              ElementsAre("2026-03-29 01:00", "2026-03-29 01:15", "2026-03-29 01:30"));
  EXPECT_THAT(next("30 2 * * *", "America/New_York", "2026-03-08 00:00", 2),
              ElementsAre("2026-03-08 07:00", "2026-03-09 06:30"));
  // A jump of half an hour; a jump over midnight; a skipped day.
  EXPECT_THAT(next("15 2 * * *", "Australia/Lord_Howe", "2026-10-03 00:00", 2),
              ElementsAre("2026-10-03 15:30", "2026-10-04 15:15"));
  EXPECT_THAT(next("0 0 * * *", "America/Havana", "2026-03-08 00:00", 2),
              ElementsAre("2026-03-08 05:00", "2026-03-09 04:00"));
  EXPECT_THAT(next("0 4 30 12 *", "Pacific/Apia", "2011-01-01 00:00", 2),
              ElementsAre("2011-12-30 10:00", "2012-12-29 14:00"));
}

TEST(CronTest, ARepeatedLocalTimeRunsTheFirstTime) {
  EXPECT_THAT(next("30 2 * * *", "Europe/Berlin", "2026-10-24 00:00", 3),
              ElementsAre("2026-10-24 00:30", "2026-10-25 00:30", "2026-10-26 01:30"));
  EXPECT_THAT(next("30 1 * * *", "America/New_York", "2026-11-01 00:00", 2),
              ElementsAre("2026-11-01 05:30", "2026-11-02 06:30"));
  EXPECT_THAT(next("45 1 * * *", "Australia/Lord_Howe", "2026-04-04 00:00", 2),
              ElementsAre("2026-04-04 14:45", "2026-04-05 15:15"));
  // The same in the middle of the second occurrence.
  EXPECT_THAT(next("30 2 * * *", "Europe/Berlin", "2026-10-25 01:10", 1),
              ElementsAre("2026-10-26 01:30"));
}

TEST(CronTest, EveryHourFollowsRealTime) {
  EXPECT_THAT(next("30 * * * *", "Europe/Berlin", "2026-03-29 00:00", 3),
              ElementsAre("2026-03-29 00:30", "2026-03-29 01:30", "2026-03-29 02:30"));
  EXPECT_THAT(next("30 * * * *", "Europe/Berlin", "2026-10-25 00:00", 3),
              ElementsAre("2026-10-25 00:30", "2026-10-25 01:30", "2026-10-25 02:30"));
  EXPECT_THAT(next("45 * * * *", "Australia/Lord_Howe", "2026-04-04 14:00", 3),
              ElementsAre("2026-04-04 14:45", "2026-04-04 15:15", "2026-04-04 16:15"));
  EXPECT_THAT(next("15 * * * *", "Australia/Lord_Howe", "2026-10-03 14:50", 2),
              ElementsAre("2026-10-03 16:15", "2026-10-03 17:15"));
  EXPECT_THAT(next("*/30 * * * SUN", "Europe/Berlin", "2026-10-25 22:00", 3),
              ElementsAre("2026-10-25 22:30", "2026-10-31 23:00", "2026-10-31 23:30"));
}

TEST(CronTest, AnErrorNamesTheWrongField) {
  const struct {
    const char* text;
    const char* message;
  } cases[] = {
      {"61 * * * *", "minute 61 is out of range; allowed are 0 to 59"},
      {"* 24 * * *", "hour 24 is out of range; allowed are 0 to 23"},
      {"* * 0 * *", "day 0 is out of range; allowed are 1 to 31"},
      {"* * * 13 *", "month 13 is out of range; allowed are 1 to 12 and JAN to DEC"},
      {"* * * * 8", "weekday 8 is out of range; allowed are 0 to 7 (0 and 7 are Sunday)"},
      {"* * * FOO *", "month \"FOO\" is neither a number nor a name"},
      {"x * * * *", "minute \"x\" is not a number"},
      {"-1 * * * *", "minute \"\" is not a number"},
      {"1, * * * *", "minute \"\" is not a number"},
      {"99999999999 * * * *", "minute \"99999999999\" is not a number"},
      {"* 22-2 * * *", "hour range 22-2 ends before it begins"},
      {"*/0 * * * *", "minute step \"0\" is not a number from 1 to 59"},
      {"*/ * * * *", "minute step \"\""},
      {"5/10 * * * *", "minute 5/10 has a step but no range: write 5-59/10"},
      {"0 0 30 2 *", "day 30 is in no month 2 of any year"},
      {"0 0 31 4,6,9,11 *", "day 31 is in no month 4,6,9,11 of any year"},
      {"0 0 30 2 MON", "day 30 is in no month 2 of any year"},
      {"0 4 * *",
       "five fields are expected (minute hour day month weekday), not 4; or one of "
       "@yearly"},
      {"@reboot", "five fields are expected"},
      {"", "not 0"},
      {"0 0 4 * * *", "not 6"},
  };
  for (const auto& [text, message] : cases) {
    const auto parsed = CronExpression::parse(text);
    ASSERT_THAT(parsed, fails_with(Code::invalid_argument)) << text;
    EXPECT_THAT(parsed.error().message(), HasSubstr(message));
    EXPECT_THAT(parsed.error().message(), testing::StartsWith("cron \"" + std::string(text)));
  }
}

// A random field, and the values that match it.
struct RandomField {
  std::string text;
  std::set<unsigned> values;
};

RandomField random_field(test::Random& random, unsigned min, unsigned max) {
  RandomField field;
  const auto add_all = [&](unsigned first, unsigned last, unsigned step) {
    for (unsigned i = first; i <= last; i += step) field.values.insert(i);
  };
  const unsigned first = min + static_cast<unsigned>(random.below(max - min + 1));
  const unsigned last = first + static_cast<unsigned>(random.below(max - first + 1));
  const unsigned step = 1 + static_cast<unsigned>(random.below(max));
  switch (random.below(4)) {
    case 0:
      add_all(first, last, step);
      field.text = std::to_string(first) + "-" + std::to_string(last) + "/" + std::to_string(step);
      break;
    case 1:
      add_all(first, first, 1);
      add_all(last, last, 1);
      field.text = std::to_string(first) + "," + std::to_string(last);
      break;
    default:
      add_all(min, max, 1);
      field.text = "*";
  }
  return field;
}

struct RandomCron {
  RandomField minute, hour, day, month, weekday;

  explicit RandomCron(test::Random& random)
      : minute(random_field(random, 0, 59)),
        hour(random_field(random, 0, 23)),
        day(random_field(random, 1, 28)),
        month(random_field(random, 1, 12)),
        weekday(random_field(random, 0, 6)) {
    for (unsigned i = 29; day.text == "*" && i <= 31; ++i) day.values.insert(i);
  }
  std::string text() const {
    return minute.text + " " + hour.text + " " + day.text + " " + month.text + " " + weekday.text;
  }
  bool has(LocalTime local) const {
    const auto date = std::chrono::floor<std::chrono::days>(local);
    const std::chrono::year_month_day ymd(date);
    const std::chrono::hh_mm_ss clock(local - date);
    const bool is_day = day.values.contains(static_cast<unsigned>(ymd.day()));
    const bool is_weekday = weekday.values.contains(std::chrono::weekday(date).c_encoding());
    const bool any = day.values.size() == 31 || weekday.values.size() == 7;
    return minute.values.contains(static_cast<unsigned>(clock.minutes().count())) &&
           hour.values.contains(static_cast<unsigned>(clock.hours().count())) &&
           month.values.contains(static_cast<unsigned>(ymd.month())) &&
           (any ? is_day && is_weekday : is_day || is_weekday);
  }
};

// Whether the expression fires in this minute, given the minute before it.
bool is_time(const RandomCron& expected, const TimeZone& where, WallTime time) {
  const LocalTime local = where.local(time);
  const bool is_of_every_hour = expected.hour.values.size() == 24;
  if (is_of_every_hour) return expected.has(local);
  if (where.first_at(local) == time && expected.has(local)) return true;
  // A local time that a jump has skipped fires at the jump.
  for (LocalTime skipped = where.local(time - 1min) + 1min; skipped < local; skipped += 1min) {
    if (expected.has(skipped)) return true;
  }
  return false;
}

TEST(CronTest, AgreesWithASearchMinuteByMinute) {
  test::Random random;
  const auto zones = {"Europe/Berlin",       "America/New_York", "America/Havana",
                      "Australia/Lord_Howe", "Asia/Kolkata",     "America/St_Johns",
                      "Africa/Casablanca",   "Pacific/Apia",     "America/Sao_Paulo",
                      "Antarctica/Troll"};
  // Days on which the clocks changed, in at least one of the zones.
  const auto days = {"2026-03-29 00:00", "2026-10-25 00:00", "2026-03-08 00:00",
                     "2026-11-01 00:00", "2026-04-04 12:00", "2026-10-03 12:00",
                     "2011-12-29 12:00", "2018-11-03 22:00", "2018-02-17 22:00"};
  const int round_count = test::under_slow_watch() ? 3 : 20;
  int found_count = 0;
  for (int round = 0; round < round_count; ++round) {
    for (const char* name : zones) {
      const TimeZone where = zone(name);
      for (const char* day : days) {
        const RandomCron expected(random);
        const CronExpression parsed = cron(expected.text());
        const WallTime start = utc(day) + std::chrono::minutes(random.below(600));
        WallTime time = start + 1min;
        const WallTime end = start + 12h;
        while (time < end && !is_time(expected, where, time)) time += 1min;
        const WallTime found = parsed.next(start, where);
        if (time < end) {
          ++found_count;
          ASSERT_EQ(text_of(found), text_of(time))
              << expected.text() << " " << name << " " << text_of(start);
        } else {
          ASSERT_GE(found, end) << expected.text() << " " << name << " " << text_of(start);
        }
      }
    }
  }
  EXPECT_GT(found_count, 5 * round_count);
}

}  // namespace
}  // namespace corolane::framework
