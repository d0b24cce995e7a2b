// SPDX-License-Identifier: MIT
#include "framework/time/time_zone.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "coroutine/testing/matchers.h"
#include "test/framework/time/wall_times.h"

namespace corolane::framework {
namespace {

using test::fails_with;
using test::local_time;
using test::text_of;
using test::utc;
using testing::HasSubstr;

TEST(TimeZoneTest, ShowsLocalTime) {
  const auto berlin = TimeZone::load("Europe/Berlin");
  ASSERT_TRUE(berlin) << berlin;
  EXPECT_EQ(text_of(berlin->local(utc("2026-03-29 00:59"))), "2026-03-29 01:59");
  EXPECT_EQ(text_of(berlin->local(utc("2026-03-29 01:00"))), "2026-03-29 03:00");
  EXPECT_EQ(text_of(berlin->local(utc("2026-10-25 00:59"))), "2026-10-25 02:59");
  EXPECT_EQ(text_of(berlin->local(utc("2026-10-25 01:00"))), "2026-10-25 02:00");
}

TEST(TimeZoneTest, FindsTheFirstMomentOfALocalTime) {
  const auto berlin = TimeZone::load("Europe/Berlin");
  ASSERT_TRUE(berlin) << berlin;
  EXPECT_EQ(text_of(berlin->first_at(local_time("2026-07-01 12:00"))), "2026-07-01 10:00");
  // It never occurs: the moment of the jump.
  EXPECT_EQ(text_of(berlin->first_at(local_time("2026-03-29 02:30"))), "2026-03-29 01:00");
  // It occurs twice.
  EXPECT_EQ(text_of(berlin->first_at(local_time("2026-10-25 02:30"))), "2026-10-25 00:30");
}

TEST(TimeZoneTest, UtcNeedsNoFile) {
  for (const auto& utc_zone : {TimeZone(), *TimeZone::load("UTC")}) {
    EXPECT_EQ(text_of(utc_zone.local(utc("1969-12-31 23:59:59"))), "1969-12-31 23:59:59");
    EXPECT_EQ(utc_zone.first_at(local_time("2026-03-29 02:30")), utc("2026-03-29 02:30"));
  }
}

TEST(TimeZoneTest, AnUnknownZoneIsNamed) {
  for (const char* name : {"Europe/Bonn", "", "localtime", "/etc/localtime", "../zoneinfo/UTC",
                           "Europe/../../../etc/passwd", "Fixed/UTC+01:00:00", ":UTC"}) {
    const auto zone = TimeZone::load(name);
    ASSERT_THAT(zone, fails_with(Code::invalid_argument)) << name;
    EXPECT_THAT(zone.error().message(), HasSubstr('"' + std::string(name) + '"'));
    EXPECT_THAT(zone.error().message(), HasSubstr("tzdata"));
  }
}

}  // namespace
}  // namespace corolane::framework
