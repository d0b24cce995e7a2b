// SPDX-License-Identifier: MIT
#include "framework/time/wall_clock.h"

#include <algorithm>

namespace corolane::framework {
namespace {

constexpr std::chrono::minutes step_max(1);

}  // namespace

std::chrono::sys_time<Duration> WallClock::precise_now() const {
  if (!origin_) return time_of_day();
  return origin_->wall + (corolane::now() - origin_->steady);
}

WallTime WallClock::now() const {
  return std::chrono::floor<std::chrono::milliseconds>(precise_now());
}

Duration WallClock::step_towards(WallTime time) const {
  const auto present = precise_now();
  const auto present_ms = std::chrono::floor<std::chrono::milliseconds>(present);
  // Distant times do not fit into nanoseconds.
  if (time <= present_ms) return Duration::zero();
  if (time > present_ms + step_max) return step_max;
  return std::min<Duration>(time - present, step_max);
}

}  // namespace corolane::framework
