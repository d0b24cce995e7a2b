// SPDX-License-Identifier: MIT
// Local time in the time zones of IANA, such as "Europe/Berlin", from the tzdata of the machine.
//
//   auto berlin = TimeZone::load("Europe/Berlin");
//   if (!berlin) return berlin.error();
//   const LocalTime local = berlin->local(clock.now());  // 2026-03-29 03:00
//
// A day may have 23 or 25 hours: some local times do not exist, others exist twice.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "coroutine/base/result.h"
#include "framework/time/wall_clock.h"

namespace corolane::framework {

// A time as a wall clock shows it.
using LocalTime = std::chrono::local_seconds;

// A value that is cheap to copy. Safe to use from any thread.
class TimeZone {
 public:
  // UTC.
  TimeZone() = default;

  // `name` is "UTC" or a name of IANA's; each name is read from its file once per process. Fails
  // with invalid_argument, which names the zone, when there is no such zone.
  static Result<TimeZone> load(std::string_view name);

  LocalTime local(WallTime time) const;
  // The first time at which the clocks show `local`. When they skip it because they are put
  // forward, the moment of that jump.
  WallTime first_at(LocalTime local) const;

 private:
  struct Rules;

  std::shared_ptr<const Rules> rules_;  // Null: UTC.
};

}  // namespace corolane::framework
