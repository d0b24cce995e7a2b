// SPDX-License-Identifier: MIT
// The time at which a wait gives up.
//
//   const Deadline deadline = Deadline::after(5s);
//   auto player = load_player(id, deadline);
//   if (!player) return player.error();
//   auto guild = load_guild(player->guild, deadline);  // Has what is left of the five seconds.
//
// Timeouts passed down a chain of calls add up; a deadline does not. So every wait takes a
// Deadline, made once where the patience is known and handed down unchanged. Waiting for ever is
// possible but has to be spelled out: Deadline::never().
#pragma once

#include <compare>

#include "coroutine/base/clock.h"

namespace corolane {

class Deadline {
 public:
  static constexpr Deadline at(TimePoint time) { return Deadline(time); }
  static constexpr Deadline never() { return Deadline(TimePoint::max()); }
  // Already passed: turns a wait into a try.
  static constexpr Deadline passed() { return Deadline(TimePoint::min()); }

  // `delay` from now(); never when that is past the end of the clock.
  static Deadline after(Duration delay) {
    const TimePoint start = now();
    return delay >= TimePoint::max() - start ? never() : Deadline(start + delay);
  }

  constexpr bool is_never() const { return time_ == TimePoint::max(); }
  constexpr TimePoint time() const { return time_; }
  bool has_passed() const { return !is_never() && time_ <= now(); }

  // The time left: zero once the deadline has passed, Duration::max() for never.
  Duration remaining() const {
    if (is_never()) return Duration::max();
    const TimePoint start = now();
    return time_ <= start ? Duration::zero() : time_ - start;
  }

  friend constexpr auto operator<=>(Deadline, Deadline) = default;

 private:
  explicit constexpr Deadline(TimePoint time) : time_(time) {}

  TimePoint time_;
};

// The earlier of the two.
constexpr Deadline earlier(Deadline a, Deadline b) { return b < a ? b : a; }

}  // namespace corolane
