// SPDX-License-Identifier: MIT
// Gives the periodic timers of objects phases of their own. Objects that a node takes over set
// their timers within milliseconds; without a phase those of one interval would stay together for
// ever, and each tick would be a burst of all of them.
//
// The n-th object gets the n-th element of van der Corput's sequence (0, 1/2, 1/4, 3/4, 1/8, ...),
// whose elements are spread evenly at any time: see "Low-discrepancy sequence".
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

#include "coroutine/base/clock.h"

namespace corolane::framework::detail {

class PhaseSpread {
 public:
  // Returns the time by which the first tick of a timer comes early: less than its interval, and
  // zero when no other object has set such a timer within the last interval. `owner` identifies the
  // object: its timers of one interval share a phase.
  Duration next(const void* owner, Duration interval, TimePoint now) {
    if (intervals_.size() >= interval_count_max && !intervals_.contains(interval)) {
      intervals_.clear();
    }
    Phases& phases = intervals_[interval];
    if (phases.owner == nullptr || now - phases.last > interval) {
      phases = {.owner = owner};
    } else if (phases.owner != owner) {
      phases.owner = owner;
      ++phases.number;
    }
    phases.last = now;
    return interval / part_max * part(phases.number);
  }

 private:
  // Bounds the memory when each timer has another interval.
  static constexpr std::size_t interval_count_max = 64;
  // Phases repeat after a thousand objects.
  static constexpr int part_bits = 10;
  static constexpr std::int64_t part_max = 1 << part_bits;

  struct Phases {
    const void* owner = nullptr;
    std::uint32_t number = 0;
    TimePoint last = {};
  };

  // The bits of the number in reverse.
  static std::int64_t part(std::uint32_t number) {
    std::int64_t part = 0;
    for (int bit = 0; bit < part_bits; ++bit) part = part << 1 | (number >> bit & 1);
    return part;
  }

  std::map<Duration, Phases> intervals_;
};

}  // namespace corolane::framework::detail
