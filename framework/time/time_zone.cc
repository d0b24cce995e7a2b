// SPDX-License-Identifier: MIT
#include "framework/time/time_zone.h"

#include <absl/time/civil_time.h>
#include <absl/time/time.h>

#include "coroutine/base/text.h"

namespace corolane::framework {

struct TimeZone::Rules {
  absl::TimeZone zone;
};

Result<TimeZone> TimeZone::load(std::string_view name) {
  TimeZone loaded;
  if (name == "UTC") return loaded;
  // The library accepts other names as well, such as paths of files. IANA's names begin with a
  // letter and mean the same on every machine.
  const bool is_of_iana = !name.empty() && name.front() >= 'A' && name.front() <= 'Z' &&
                          !name.starts_with("Fixed/") && !name.contains("..");
  Rules rules;
  if (!is_of_iana || !absl::LoadTimeZone({name.data(), name.size()}, &rules.zone)) {
    return Error(Code::invalid_argument,
                 "no time zone " + quote(name) +
                     "; expected a name such as \"Europe/Berlin\" that the package tzdata has");
  }
  loaded.rules_ = std::make_shared<const Rules>(rules);
  return loaded;
}

LocalTime TimeZone::local(WallTime time) const {
  if (rules_ == nullptr) {
    return LocalTime(std::chrono::floor<std::chrono::seconds>(time).time_since_epoch());
  }
  const absl::CivilSecond shown =
      rules_->zone.At(absl::FromUnixMillis(time.time_since_epoch().count())).cs;
  return LocalTime(std::chrono::seconds(shown - absl::CivilSecond()));
}

WallTime TimeZone::first_at(LocalTime local) const {
  if (rules_ == nullptr) return WallTime(local.time_since_epoch());
  const absl::TimeZone::TimeInfo info =
      rules_->zone.At(absl::CivilSecond() + local.time_since_epoch().count());
  const bool is_skipped = info.kind == absl::TimeZone::TimeInfo::SKIPPED;
  return WallTime(
      std::chrono::milliseconds(absl::ToUnixMillis(is_skipped ? info.trans : info.pre)));
}

}  // namespace corolane::framework
