// SPDX-License-Identifier: MIT
// CPU time that the meter of a scheduler charges to a task, to a spawn site, to the loop, or to
// whatever a program keeps sums of.
//
//   static CpuTime all_tasks;
//   SchedulerOptions options;
//   options.on_cpu_charge = [](std::uint64_t nanoseconds) { all_tasks.add(nanoseconds); };
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "coroutine/base/clock.h"

namespace corolane::coroutine {

// A sum that the thread reads and its signal handler adds to.
class CpuTime {
 public:
  void add(std::uint64_t nanoseconds) {
    // No other thread adds, so it need not be atomic as a whole.
    sum_ns_.store(sum_ns_.load(std::memory_order_relaxed) + nanoseconds, std::memory_order_relaxed);
  }
  Duration sum() const { return std::chrono::nanoseconds(sum_ns_.load(std::memory_order_relaxed)); }

 private:
  std::atomic<std::uint64_t> sum_ns_ = 0;
};

}  // namespace corolane::coroutine
