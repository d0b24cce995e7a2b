// SPDX-License-Identifier: MIT
// Times of day in the notation that cron has used since 1975.
//
//   auto nightly = CronExpression::parse("0 4 * * MON-FRI");
//   auto berlin = TimeZone::load("Europe/Berlin");
//   WallTime time = nightly->next(clock.now(), *berlin);
//
// The fields:
//
//     minute   0-59         * for any, 5, lists 1,15, ranges 9-17, steps */10 and 9-17/2
//     hour     0-23
//     day      1-31         of the month: the 31st only in months that have one
//     month    1-12         or JAN to DEC
//     weekday  0-7          or SUN to SAT; 0 and 7 are Sunday
//
// With both a day and a weekday, either of them suffices. @yearly, @annually, @monthly, @weekly,
// @daily, @midnight and @hourly stand for five fields.
//
// When clocks are put forward, a run whose time does not exist happens at the jump, once. When they
// are put back, a time that exists twice counts the first time only. Expressions that match every
// hour follow real time instead: they run in each hour that passes, in both of those that have the
// same name, and make up for no hour that is skipped.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

#include "coroutine/base/result.h"
#include "framework/time/time_zone.h"
#include "framework/time/wall_clock.h"

namespace corolane::framework {

// A value.
class CronExpression {
 public:
  // Fails with invalid_argument; the message says which field is wrong and what it allows. A day
  // that none of the months has, such as the 30th of February, fails the same way.
  static Result<CronExpression> parse(std::string_view text);

  // The first match after `time`, a whole minute of `zone`.
  WallTime next(WallTime time, const TimeZone& zone) const;

 private:
  CronExpression() = default;

  bool is_on(std::chrono::local_days day) const;
  bool is_of_every_hour() const;
  // The first matching day from `day` on. There is one within eight years: a 29th of February.
  std::chrono::local_days first_day(std::chrono::local_days day) const;
  WallTime next_by_local_time(WallTime time, const TimeZone& zone) const;
  WallTime next_by_real_time(WallTime time, const TimeZone& zone) const;

  // Bit i is set when value i matches.
  std::uint64_t minutes_ = 0;
  std::uint64_t hours_ = 0;
  std::uint64_t days_ = 0;
  std::uint64_t months_ = 0;
  std::uint64_t weekdays_ = 0;
  bool any_day_ = false;
  bool any_weekday_ = false;
};

}  // namespace corolane::framework
