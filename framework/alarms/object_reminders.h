// SPDX-License-Identifier: MIT
// Reminders wake an object at a time of day, whether or not it is active then.
//
//   Result<OpenReply> Auction::open(const OpenRequest& request, rpc::Context&) {
//     auto set = reminders().at("close", wall_clock().now() + 24h);
//     ...
//   }
//
//   Result<void> Auction::on_reminder(const Reminder& reminder) {
//     if (reminder.name == "close") settle();
//     return {};
//   }
//
// A reminder is stored with the object's state and is exactly as durable: with the reply of a
// durable method, otherwise within a second. When it is due, the node that owns the object wakes it
// and calls on_reminder(), in the exclusive turn. The record that a tick has run is stored together
// with its changes, so the object itself sees each tick once. Objects that it calls meanwhile may
// be called again, after a crash between the two.
//
// After an error of on_reminder() the same tick runs again: after a second at first, and with
// growing pauses of up to a minute.
//
// Times are wall-clock times. They are kept to the millisecond while the object is active, and to
// some tens of milliseconds when it has to be woken. When the clock is set back nothing runs twice;
// when it is put forward, that is noticed within a minute.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "coroutine/base/clock.h"
#include "coroutine/base/result.h"
#include "framework/time/wall_clock.h"

namespace corolane::framework {

namespace detail {
class ReminderTable;
}

// One run. Valid during the call.
struct Reminder {
  std::string_view name;
  // Counts from 1; missed ticks have numbers, too.
  std::uint64_t number = 0;
  // The time that it was due: of several ticks, the first.
  WallTime time;
  // The delay between that time and the run.
  Duration lateness{};
  // The number of later ticks that this run also covers.
  std::uint64_t missed = 0;
};

struct ReminderOptions {
  // The fate of ticks that could not run in time: no node was there, the store was away, or the
  // object was busy past the next tick.
  enum class Missed : std::uint8_t {
    fire_once,  // One run covers all of them.
    fire_all,   // Each of them runs, one after the other.
    skip,       // Ticks that are more than a minute late are dropped.
  };
  using enum Missed;

  Missed missed = fire_once;
};

// The reminders of one object: ObjectBase::reminders(). They are set and cancelled in the object's
// turn, also in on_activate(); no function suspends. A reminder is identified by its name: setting
// it again replaces it and restarts its count.
//
// Setting one fails with resource_exhausted when the object already has 64, and with
// invalid_argument when the name is empty or longer than 128 bytes, the interval is below a second,
// or the cron expression or time zone is invalid. It fails with failed_precondition for a transient
// object (host_options.h).
class ObjectReminders {
 public:
  using Options = ReminderOptions;

  explicit ObjectReminders(detail::ReminderTable& table) : table_(table) {}

  // Runs once. A time that has passed is due at once, whatever `missed` is.
  Result<void> at(std::string_view name, WallTime time);
  // Runs at `first` and every `interval` after that: a grid that never drifts.
  Result<void> every(std::string_view name, WallTime first, std::chrono::milliseconds interval,
                     const Options& options = {});
  // Runs by the wall clock of a time zone (cron.h, time_zone.h).
  Result<void> cron(std::string_view name, std::string_view expression, std::string_view zone,
                    const Options& options = {});

  // Does nothing when there is no reminder of that name. on_reminder() may cancel the reminder that
  // it runs for.
  void cancel(std::string_view name);
  // When it is due next; nothing when there is no such reminder.
  std::optional<WallTime> find(std::string_view name) const;
  std::size_t size() const;

 private:
  detail::ReminderTable& table_;
};

}  // namespace corolane::framework
