// SPDX-License-Identifier: MIT
#include "framework/alarms/detail/reminder_pace.h"

#include <algorithm>
#include <utility>

#include "coroutine/base/text.h"

namespace corolane::framework::detail {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds reminder_interval_min = 1s;
// ReminderOptions::skip.
constexpr std::chrono::milliseconds lateness_max = 1min;
// The counting limit for a cron expression, for example after a month without power.
constexpr std::uint64_t cron_count_max = 1'000;
// In milliseconds: all stores keep it exactly, and additions do not overflow. 285,000 years.
constexpr std::int64_t time_max = std::int64_t{1} << 53;
// The limit of a Duration: 292 years.
constexpr auto lateness_told_max = std::chrono::floor<std::chrono::milliseconds>(Duration::max());

WallTime within_reach(WallTime time) {
  return std::clamp(time, WallTime(std::chrono::milliseconds(-time_max)),
                    WallTime(std::chrono::milliseconds(time_max)));
}

}  // namespace

ReminderPace::ReminderPace(Rhythm rhythm, WallTime next, Missed missed)
    : rhythm_(std::move(rhythm)), next_(within_reach(next)), missed_(missed) {}

Result<ReminderPace> ReminderPace::once(WallTime time) {
  return ReminderPace(Once{}, time, ReminderOptions::fire_once);
}

Result<ReminderPace> ReminderPace::every(WallTime first, std::chrono::milliseconds interval,
                                         Missed missed) {
  if (interval < reminder_interval_min || interval.count() > time_max) {
    return Error(Code::invalid_argument,
                 "the interval of a reminder must be a second at least, not " +
                     std::to_string(interval.count()) + " ms");
  }
  return ReminderPace(Every{interval}, first, missed);
}

Result<ReminderPace> ReminderPace::cron(std::string_view expression, std::string_view zone,
                                        Missed missed, WallTime now) {
  auto parsed = CronExpression::parse(expression);
  if (!parsed) return parsed.error();
  auto loaded = TimeZone::load(zone);
  if (!loaded) return loaded.error();
  const WallTime next = parsed->next(now, *loaded);
  return ReminderPace(Cron{.text = std::string(expression),
                           .zone_name = std::string(zone),
                           .expression = *parsed,
                           .zone = *std::move(loaded)},
                      next, missed);
}

Result<ReminderPace> ReminderPace::load(const StoredReminder& stored) {
  const WallTime next{std::chrono::milliseconds(stored.next_milliseconds())};
  const auto missed = static_cast<Missed>(
      std::min<std::uint32_t>(stored.missed(), std::to_underlying(ReminderOptions::skip)));
  auto loaded = [&] {
    switch (stored.rhythm_case()) {
      case StoredReminder::kIntervalMilliseconds:
        return every(next, std::chrono::milliseconds(stored.interval_milliseconds()), missed);
      case StoredReminder::kCron:
        return cron(stored.cron().expression(), stored.cron().zone(), missed, next);
      case StoredReminder::RHYTHM_NOT_SET:
        break;
    }
    return once(next);
  }();
  if (!loaded) {
    return Error(Code::data_loss, "the stored reminder " + quote(stored.name()) +
                                      " is invalid: " + loaded.error().message());
  }
  loaded->next_ = within_reach(next);
  loaded->tick_count_ = stored.tick_count();
  return loaded;
}

void ReminderPace::store(StoredReminder& stored) const {
  stored.set_next_milliseconds(next_.time_since_epoch().count());
  stored.set_tick_count(tick_count_);
  stored.set_missed(std::to_underlying(missed_));
  if (const auto* const every = std::get_if<Every>(&rhythm_)) {
    stored.set_interval_milliseconds(every->interval.count());
  } else if (const auto* const cron = std::get_if<Cron>(&rhythm_)) {
    stored.mutable_cron()->set_expression(cron->text);
    stored.mutable_cron()->set_zone(cron->zone_name);
  }
}

bool ReminderPace::skip(WallTime now) {
  if (missed_ != ReminderOptions::skip || is_over_) return false;
  const std::uint64_t count = count_before(now - lateness_max);
  step(count);
  // There were more ticks than the counting limit.
  if (auto* const cron = std::get_if<Cron>(&rhythm_); cron != nullptr && count == cron_count_max) {
    next_ = cron->expression.next(std::max(next_, now - lateness_max), cron->zone);
  }
  return count > 0;
}

Reminder ReminderPace::begin(WallTime now) const {
  const bool stands_alone = missed_ == ReminderOptions::fire_all;
  const std::uint64_t count =
      stands_alone ? 1 : std::max<std::uint64_t>(1, count_before(now + 1ms));
  return {.name = {},
          .number = tick_count_ + count,
          .time = next_,
          .lateness = std::clamp(now - next_, 0ms, lateness_told_max),
          .missed = count - 1};
}

void ReminderPace::advance(const Reminder& ran) {
  step(ran.missed + 1);
  auto* const cron = std::get_if<Cron>(&rhythm_);
  if (cron == nullptr || ran.missed + 1 < cron_count_max) return;
  const WallTime ran_at = ran.time + std::chrono::floor<std::chrono::milliseconds>(ran.lateness);
  if (next_ <= ran_at) next_ = cron->expression.next(ran_at, cron->zone);
}

std::uint64_t ReminderPace::count_before(WallTime end) const {
  if (next_ >= end) return 0;
  if (const auto* const every = std::get_if<Every>(&rhythm_)) {
    return static_cast<std::uint64_t>((end - next_ - 1ms) / every->interval) + 1;
  }
  if (const auto* const cron = std::get_if<Cron>(&rhythm_)) {
    std::uint64_t count = 0;
    for (WallTime time = next_; time < end && count < cron_count_max; ++count) {
      time = cron->expression.next(time, cron->zone);
    }
    return count;
  }
  return 1;
}

void ReminderPace::step(std::uint64_t count) {
  if (count == 0) return;
  tick_count_ += count;
  if (const auto* const every = std::get_if<Every>(&rhythm_)) {
    next_ = within_reach(next_ + static_cast<std::int64_t>(count) * every->interval);
  } else if (const auto* const cron = std::get_if<Cron>(&rhythm_)) {
    for (std::uint64_t i = 0; i < count; ++i) next_ = cron->expression.next(next_, cron->zone);
  } else {
    is_over_ = true;
  }
}

}  // namespace corolane::framework::detail
