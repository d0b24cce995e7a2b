// SPDX-License-Identifier: MIT
// Decides how many steps a turn of the scheduler may still take: a turn is bounded by time, but
// reading the clock takes as long as three switches.
//
// The clock is read after the first step of a turn, then after twice as many steps each time while
// they are light. Steps of one kind take about as long as one another; when another kind begins,
// the scheduler cuts the steps that were granted: fresh tasks are often handlers, and woken ones
// may be. So a turn of heavy steps ends with the step in which its time ran out, and one of light
// steps reads the clock once in 64 to 512. Virtual time stands still during a turn; there the
// number of steps is the bound.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "coroutine/base/clock.h"

namespace corolane::coroutine::detail {

class TurnClock {
 public:
  // A turn is long compared with the system call that ends it, and too short for people to notice.
  static constexpr Duration turn_max = std::chrono::microseconds(200);
  static constexpr std::uint32_t steps_max = 4096;

  // Begins a turn that lasts until `end`, and returns the number of steps before the first look.
  std::uint32_t begin(TimePoint now, TimePoint end) {
    end_ = end;
    last_look_ = now;
    left_ = steps_max;
    interval_ = 1;
    return grant();
  }

  // Begins a turn of one step.
  std::uint32_t begin_single() {
    left_ = 0;
    return 1;
  }

  // Called when those steps are done. Returns the number of further ones; 0 ends the turn. Only
  // steps that end by a yield are `calm`: the next ones are known to be like them.
  std::uint32_t look(TimePoint now, bool was_calm) {
    const Duration passed = now - last_look_;
    last_look_ = now;
    if (passed > Duration::zero()) left_ = steps_max;
    if (now >= end_) left_ = 0;
    if (passed > heavy) {
      interval_ = 1;
    } else if (passed > pause) {
      interval_ = std::max(interval_ / 2, 1u);
    } else if (passed <= pause / 2) {
      interval_ *= 2;
    }
    interval_ = std::min(interval_, was_calm ? calm_interval_max : changing_interval_max);
    return grant();
  }

  // Keeps `kept` of the steps that were granted and not done, and looks after them.
  void cut(std::uint32_t granted, std::uint32_t kept) {
    left_ += granted - kept;
    interval_ = kept;
  }

  // The newest time that the turn knows.
  TimePoint last_look() const { return last_look_; }

 private:
  // The time between two looks, as far as the last steps tell.
  static constexpr Duration pause = std::chrono::microseconds(10);
  // After steps that took this long together, each of the next is looked at.
  static constexpr Duration heavy = 2 * pause;
  static constexpr std::uint32_t calm_interval_max = 512;
  static constexpr std::uint32_t changing_interval_max = 64;

  std::uint32_t grant() {
    const std::uint32_t granted = std::min(interval_, left_);
    left_ -= granted;
    return granted;
  }

  TimePoint end_;
  TimePoint last_look_;
  std::uint32_t left_ = 0;      // Steps that were not granted yet, should time stand still.
  std::uint32_t interval_ = 1;  // Steps between two looks.
};

}  // namespace corolane::coroutine::detail
