// SPDX-License-Identifier: MIT
// Ticks at a fixed rate: for the steps of a world, or a sign of life.
//
//   Ticker ticker(50ms);
//   while (auto tick = ticker.next(Deadline::never())) {
//     advance(world, 1 + tick->missed_count);
//   }
//
// Ticks lie on a grid: however long the work between two of them takes, and however late the task
// is woken, the tenth is due ten intervals after the start. Ticks that passed meanwhile are
// skipped, and the next one says how many. Belongs to one task.
#pragma once

#include <cstdint>

#include "coroutine/base/clock.h"
#include "coroutine/base/deadline.h"
#include "coroutine/base/result.h"

namespace corolane::coroutine {

class Ticker {
 public:
  struct Tick {
    TimePoint due;               // Its place on the grid.
    std::uint64_t missed_count;  // The ticks that were skipped before this one.
  };

  // The first tick is due one `interval`, which is positive, after `start`.
  explicit Ticker(Duration interval, TimePoint start = now());

  // Suspends until the next tick is due. When that time has passed, lets the other ready tasks run
  // and returns the latest tick that is due. Fails with deadline_exceeded when the deadline comes
  // before the tick, or with cancelled; the tick is then still to come.
  Result<Tick> next(Deadline deadline);

 private:
  Duration interval_;
  TimePoint next_due_;
};

}  // namespace corolane::coroutine
