// What the clocks of a place show: the time zones of IANA, "Europe/Berlin", from the tzdata of the
// machine.
//
//   auto berlin = TimeZone::load("Europe/Berlin");
//   if (!berlin) return berlin.error();
//   berlin->local(clock.now());  // 2026-03-29 03:00
//
// A day may have 23 hours or 25: some local times do not exist, others exist twice.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "coroutine/base/result.h"
#include "framework/time/wall_clock.h"

namespace corolane::framework {

// What a clock on the wall shows.
using LocalTime = std::chrono::local_seconds;

// A value that is cheap to copy. Any thread.
class TimeZone {
 public:
  // UTC.
  TimeZone() = default;

  // "UTC", or a name of IANA's; it reads a file for each name once in a process. Fails with
  // invalid_argument, which names it, when there is no such zone.
  static Result<TimeZone> load(std::string_view name);

  LocalTime local(WallTime time) const;
  // When the clocks show `local` for the first time. When they are put forward over it, and never
  // show it, the moment at which that is done.
  WallTime first_at(LocalTime local) const;

 private:
  struct Rules;

  std::shared_ptr<const Rules> rules_;  // Null: UTC.
};

}  // namespace corolane::framework
