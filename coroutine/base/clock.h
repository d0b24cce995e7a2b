// The time by which everything here waits.
//
// On a thread that runs a scheduler this is the scheduler's time: the steady clock in
// production, virtual time in tests and simulation. On any other thread it is the steady clock.
#pragma once

#include <chrono>
#include <cstddef>
#include <span>

namespace corolane {

using Duration = std::chrono::nanoseconds;
using TimePoint = std::chrono::steady_clock::time_point;

// About 25 ns on the steady clock. Never suspends.
TimePoint now();

// The time of day, UTC. It may be set, forwards and backwards: durations are what now() is for.
std::chrono::sys_time<Duration> time_of_day();

namespace detail {

// What a thread takes from outside of it by itself: where its now() reads, and what else would be
// another one in each run. Set by the scheduler that runs on it. A simulation has its own.
class TimeSource {
 public:
  virtual TimePoint now() const = 0;
  virtual std::chrono::sys_time<Duration> time_of_day() const;
  // Fills it with bytes that follow from a seed. False: the system's random ones are wanted.
  virtual bool fill_with_seeded_bytes(std::span<std::byte> bytes) const;

 protected:
  ~TimeSource() = default;
};

// That of this thread; null stands for the steady clock.
const TimeSource* thread_time_source();

// Returns the source that was set before; null stands for the steady clock.
const TimeSource* set_thread_time_source(const TimeSource* source);

}  // namespace detail
}  // namespace corolane
