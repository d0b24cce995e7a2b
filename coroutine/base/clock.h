// The time by which everything here waits.
//
// On a thread that runs a scheduler this is the scheduler's time: the steady clock in
// production, virtual time in tests and simulation. On any other thread it is the steady clock.
#pragma once

#include <chrono>

namespace corolane {

using Duration = std::chrono::nanoseconds;
using TimePoint = std::chrono::steady_clock::time_point;

// About 25 ns on the steady clock. Never suspends.
TimePoint now();

namespace detail {

// Where now() of this thread reads: set by the scheduler that runs on it.
class TimeSource {
 public:
  virtual TimePoint now() const = 0;

 protected:
  ~TimeSource() = default;
};

// Returns the source that was set before; null stands for the steady clock.
const TimeSource* set_thread_time_source(const TimeSource* source);

}  // namespace detail
}  // namespace corolane
