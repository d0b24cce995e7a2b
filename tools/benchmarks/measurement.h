// SPDX-License-Identifier: MIT
// The result of a contestant for one row, and the timing of operations.
//
// Time is the CPU time of the process, so that other work on the machine counts little. The
// operations run in batches of a millisecond or more, because reading that clock is a system call.
// The median batch is the result: an interruption spoils one batch, not the figure.
//
// While coroutines exist, the timing code calculates in integers. A floating-point operation sets
// flags in the MXCSR register of its coroutine, and each fcontext switch loads that register. On
// one measured processor, loading a different value took ten times as long as the switch.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

#include "coroutine/base/result.h"

namespace corolane::bench {

// The behaviour of a server as the generator of its load saw it.
struct Traffic {
  double ops_per_second = 0;
  double p50_us = 0;  // From the sending of a request until its reply was read.
  double p99_us = 0;

  friend bool operator==(const Traffic&, const Traffic&) = default;
};

struct Measurement {
  double value = 0;               // In the unit of its row.
  double allocations_per_op = 0;  // Calls of malloc and the like, operator new included.
  std::optional<Traffic> traffic = {};
};

// Runs in its own process, on one core; fails when the contestant cannot do the operation.
using Measure = std::function<Result<Measurement>()>;

// The time for which a measurement times batches. Must be set before the first measurement.
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

// Performs about `op_count` operations while the watch runs, and returns their number: more when
// they come in larger portions, fewer when it runs out of them.
using Batch = std::function<Result<std::size_t>(Stopwatch& watch, std::size_t op_count)>;

// Warms up, then times batches. Returns nanoseconds per operation in the median batch. Fails as
// soon as a batch does.
Result<Measurement> time_batches(const Batch& batch);

}  // namespace corolane::bench
