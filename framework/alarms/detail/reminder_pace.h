// SPDX-License-Identifier: MIT
// The schedule of a reminder, including ticks whose time has passed.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "coroutine/base/result.h"
#include "framework/alarms/object_reminders.h"
#include "framework/time/cron.h"
#include "framework/time/time_zone.h"
#include "framework/time/wall_clock.h"
#include "framework/wire/objects.pb.h"

namespace corolane::framework::detail {

// A value type. Never suspends.
class ReminderPace {
 public:
  using Missed = ReminderOptions::Missed;

  // Fail as documented in ObjectReminders.
  static Result<ReminderPace> once(WallTime time);
  static Result<ReminderPace> every(WallTime first, std::chrono::milliseconds interval,
                                    Missed missed);
  static Result<ReminderPace> cron(std::string_view expression, std::string_view zone,
                                   Missed missed, WallTime now);

  // The stored form: all but the name. Loading fails with data_loss on invalid content.
  static Result<ReminderPace> load(const StoredReminder& stored);
  void store(StoredReminder& stored) const;

  // No tick is left.
  bool is_over() const { return is_over_; }
  WallTime next_time() const { return next_; }

  // Skips ticks that are too late to run at `now`. Returns whether it skipped any.
  bool skip(WallTime now);
  // The reminder to run at `now`, once next_time() has come; without a name.
  Reminder begin(WallTime now) const;
  // Moves on after `ran` has been run.
  void advance(const Reminder& ran);

 private:
  struct Once {};
  struct Every {
    std::chrono::milliseconds interval;
  };
  struct Cron {
    std::string text;
    std::string zone_name;
    CronExpression expression;
    TimeZone zone;
  };
  using Rhythm = std::variant<Once, Every, Cron>;

  ReminderPace(Rhythm rhythm, WallTime next, Missed missed);
  // The number of ticks from next_ on before `end`, up to the counting limit.
  std::uint64_t count_before(WallTime end) const;
  // Moves on by `count` ticks.
  void step(std::uint64_t count);

  Rhythm rhythm_;
  WallTime next_;
  Missed missed_;
  std::uint64_t tick_count_ = 0;
  bool is_over_ = false;
};

}  // namespace corolane::framework::detail
