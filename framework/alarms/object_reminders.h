// What an object is to do at a time of day, whether it is alive then or not.
//
//   Result<OpenReply> Auction::open(const OpenRequest& request, rpc::Context&) {
//     auto set = reminders().at("close", wall_clock().now() + 24h);
//     ...
//   }
//   Result<void> Auction::on_reminder(const Reminder& reminder) {
//     if (reminder.name == "close") settle();
//     return {};
//   }
//
// A reminder is a part of what is stored of the object, and no more durable than that: with the
// reply of a durable method, otherwise within a second. Whichever node owns the object when its
// time has come wakes it up and calls on_reminder(), in the exclusive turn. That the tick was run
// is stored together with what it changed, so the object itself sees each tick once; whom it calls
// meanwhile may be called again, after a crash between the two.
//
// An error of on_reminder() makes the same tick come again, after a second first, after a minute
// later on.
//
// Times are those of the clock on the wall, to the millisecond while the object is alive and to
// some ten of them when it has to be woken first. A clock that is set back makes nothing run
// twice; one that is put forward is noticed within a minute.
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
  // From 1 on; those that were missed have numbers, too.
  std::uint64_t number = 0;
  // When it was to be: the first time that it stands for.
  WallTime time;
  // How long after that it runs.
  Duration lateness{};
  // The ticks after `time` that it stands for as well.
  std::uint64_t missed = 0;
};

struct ReminderOptions {
  // What becomes of ticks that could not run in time: no node was there, the store was away, or
  // the object was busy past the next one.
  enum class Missed : std::uint8_t {
    fire_once,  // One run stands for all of them.
    fire_all,   // Each of them, one after the other.
    skip,       // None that is more than a minute late.
  };
  using enum Missed;

  Missed missed = fire_once;
};

// The reminders of one object: ObjectBase::reminders(). To be set and cancelled in the object's
// turn, on_activate() included; never suspends. They are known by name: setting one again replaces
// it, and begins to count anew.
//
// Setting one fails with resource_exhausted when the object has 64 already, and with
// invalid_argument when what is asked for cannot be: a name that is empty or longer than 128 bytes,
// an interval below a second, what is no cron expression or time zone.
class ObjectReminders {
 public:
  using Options = ReminderOptions;

  explicit ObjectReminders(detail::ReminderTable& table) : table_(table) {}

  // Once. A time that has passed comes at once, however `missed` is.
  Result<void> at(std::string_view name, WallTime time);
  // At `first` and every `interval` after that: a grid that never drifts.
  Result<void> every(std::string_view name, WallTime first, std::chrono::milliseconds interval,
                     const Options& options = {});
  // By the clock on the wall of a time zone (cron.h, time_zone.h).
  Result<void> cron(std::string_view name, std::string_view expression, std::string_view zone,
                    const Options& options = {});

  // Does nothing when there is none of that name; in on_reminder() of the one that runs as well.
  void cancel(std::string_view name);
  // When it comes next; nothing when there is none.
  std::optional<WallTime> find(std::string_view name) const;
  std::size_t size() const;

 private:
  detail::ReminderTable& table_;
};

}  // namespace corolane::framework
