// The time by which everything here waits.
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

// CLOCK_BOOTTIME: unlike the steady clock it goes on while the machine sleeps, and so does the
// time to live of a lease. Of no use with the times of now().
TimePoint boot_time();

// The time of day, UTC. It may be set, forwards and backwards: durations are what now() is for.
std::chrono::sys_time<Duration> time_of_day();

// The number of this process.
pid_t process_id();

namespace detail {

// What a thread takes from outside of it by itself, and what would be another one in each run:
// where its clocks read, and its chance. Set by the scheduler that runs on it. A simulation has its
// own; a node that is recorded writes down what it took.
class TimeSource {
 public:
  virtual TimePoint now() const = 0;
  virtual TimePoint boot_time() const;
  virtual std::chrono::sys_time<Duration> time_of_day() const;
  virtual pid_t process_id() const;
  // Fills it with bytes of its own. False: the system's random ones are wanted.
  virtual bool draw(std::span<std::byte> bytes) const;

 protected:
  ~TimeSource() = default;
};

// That of this thread; null stands for the steady clock.
const TimeSource* thread_time_source();

// Returns the source that was set before; null stands for the steady clock.
const TimeSource* set_thread_time_source(const TimeSource* source);

}  // namespace detail
}  // namespace corolane
