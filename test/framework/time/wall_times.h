// SPDX-License-Identifier: MIT
// Times of day as tests write them: "2026-03-29 01:00", in UTC or in the local time of a place.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <string>

#include "framework/time/time_zone.h"
#include "framework/time/wall_clock.h"

namespace corolane::test {

inline framework::LocalTime local_time(const char* text) {
  int year = 0;
  unsigned month = 0;
  unsigned day = 0;
  int hour = 0;
  int minute = 0;
  int second = 0;
  const int count =
      std::sscanf(text, "%d-%u-%u %d:%d:%d", &year, &month, &day, &hour, &minute, &second);
  EXPECT_GE(count, 5) << text;
  return std::chrono::local_days(std::chrono::year(year) / std::chrono::month(month) /
                                 std::chrono::day(day)) +
         std::chrono::hours(hour) + std::chrono::minutes(minute) + std::chrono::seconds(second);
}

inline framework::WallTime utc(const char* text) {
  return framework::WallTime(local_time(text).time_since_epoch());
}

// The reverse; shows the seconds only when they are not zero.
inline std::string text_of(framework::LocalTime time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  char text[64];
  std::snprintf(text, sizeof text, "%04d-%02u-%02u %02d:%02d", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()));
  std::string result = text;
  if (clock.seconds().count() == 0) return result;
  std::snprintf(text, sizeof text, ":%02d", static_cast<int>(clock.seconds().count()));
  return result + text;
}

inline std::string text_of(framework::WallTime time) {
  return text_of(
      framework::LocalTime(std::chrono::floor<std::chrono::seconds>(time).time_since_epoch()));
}

}  // namespace corolane::test
