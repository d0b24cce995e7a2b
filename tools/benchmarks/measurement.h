// What a contestant finds out about one row, and how operations are timed.
//
// Time is the CPU time of the process, so that whatever else the machine runs counts little. The
// operations run in batches of a millisecond or more, because reading that clock is a system call,
// and the median batch stands for the measurement: an interruption spoils one batch, not the
// figure.
//
// While coroutines exist, all of it calculates in integers. A floating-point operation leaves a
// mark in the MXCSR register of the flow that performed it, each fcontext switch loads that
// register, and to load a different value took ten times the switch on one processor measured.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

#include "coroutine/base/result.h"

namespace corolane::bench {

// What the generator of a load saw of the server that it was put on.
struct Traffic {
  double ops_per_second = 0;
  double p50_us = 0;  // From the sending of a request until its reply was read.
  double p99_us = 0;

  friend bool operator==(const Traffic&, const Traffic&) = default;
};

struct Measurement {
  double value = 0;               // In the unit of its row.
  double allocations_per_op = 0;  // Calls of malloc and its kin, operator new among them.
  std::optional<Traffic> traffic = {};
};

// Runs in a process of its own, on one core; fails when the contestant cannot do what is asked.
using Measure = std::function<Result<Measurement>()>;

// How long a measurement goes on timing batches. Set before the first measurement.
void set_effort(std::chrono::milliseconds time);
std::chrono::milliseconds effort();

// Adds up the CPU time and the allocations between each start() and stop().
class Stopwatch {
 public:
  void start();
  void stop();

  std::chrono::nanoseconds elapsed() const { return elapsed_; }
  std::uint64_t allocation_count() const { return allocation_count_; }

 private:
  std::chrono::nanoseconds elapsed_{0};
  std::uint64_t allocation_count_ = 0;
  std::chrono::nanoseconds start_time_{0};
  std::uint64_t start_allocation_count_ = 0;
};

// Performs about `op_count` operations while the watch runs, and returns how many it performed:
// more when they come in larger portions, fewer when it has no more of them.
using Batch = std::function<Result<std::size_t>(Stopwatch& watch, std::size_t op_count)>;

// Warms up, then times batches: nanoseconds per operation in the median batch. Fails as soon as a
// batch does.
Result<Measurement> time_batches(const Batch& batch);

}  // namespace corolane::bench
