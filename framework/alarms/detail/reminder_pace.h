// When a reminder comes, and what becomes of the ticks whose time has passed.
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

// A value. Never suspends.
class ReminderPace {
 public:
  using Missed = ReminderOptions::Missed;

  // Fail as ObjectReminders say.
  static Result<ReminderPace> once(WallTime time);
  static Result<ReminderPace> every(WallTime first, std::chrono::milliseconds interval,
                                    Missed missed);
  static Result<ReminderPace> cron(std::string_view expression, std::string_view zone,
                                   Missed missed, WallTime now);

  // What is stored: all but the name. Loading fails with data_loss when it makes no sense.
  static Result<ReminderPace> load(const StoredReminder& stored);
  void store(StoredReminder& stored) const;

  // Nothing comes any more.
  bool is_over() const { return is_over_; }
  WallTime next_time() const { return next_; }

  // Passes by what is not to run at `now` any more. Whether it has passed something by.
  bool skip(WallTime now);
  // What runs at `now`, when next_time() has come; without a name.
  Reminder begin(WallTime now) const;
  // `ran` has been run.
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
  // The ticks from next_ on whose time is before `end`, as far as somebody counts them.
  std::uint64_t count_before(WallTime end) const;
  // Over that many ticks.
  void step(std::uint64_t count);

  Rhythm rhythm_;
  WallTime next_;
  Missed missed_;
  std::uint64_t tick_count_ = 0;
  bool is_over_ = false;
};

}  // namespace corolane::framework::detail
