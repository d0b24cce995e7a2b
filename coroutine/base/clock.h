// SPDX-License-Identifier: MIT
// The time that every wait here is measured in.
//
//   const TimePoint start = now();
//   serve(request);
//   const Duration taken = now() - start;
//
// On a thread that runs a scheduler this is the scheduler's time: the steady clock in
// production, virtual time in tests and simulation. On any other thread it is the steady clock.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <span>

namespace corolane {

using Duration = std::chrono::nanoseconds;
using TimePoint = std::chrono::steady_clock::time_point;

// About 25 ns on the steady clock. Never suspends.
TimePoint now();

// CLOCK_BOOTTIME: unlike the steady clock it keeps running while the machine sleeps, and so does
// the time to live of a lease. Not comparable with the times of now().
TimePoint boot_time();

// The time of day, UTC. It may be set forwards and backwards: measure durations with now().
std::chrono::sys_time<Duration> time_of_day();

// The id of this process.
pid_t process_id();

namespace detail {

// The sources of nondeterminism that a thread reads: clocks, process id and randomness. The
// thread's scheduler sets it. A simulation supplies its own; a recorded node logs the values that
// it read.
class TimeSource {
 public:
  virtual TimePoint now() const = 0;
  virtual TimePoint boot_time() const;
  virtual std::chrono::sys_time<Duration> time_of_day() const;
  virtual pid_t process_id() const;
  // Fills `bytes` with bytes of its own. Returns false to ask for the system's random ones.
  virtual bool draw(std::span<std::byte> bytes) const;

 protected:
  ~TimeSource() = default;
};

// The source of this thread; null stands for the steady clock.
const TimeSource* thread_time_source();

// Returns the source that was set before; null stands for the steady clock.
const TimeSource* set_thread_time_source(const TimeSource* source);

}  // namespace detail
}  // namespace corolane
