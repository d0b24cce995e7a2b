// SPDX-License-Identifier: MIT
// The processor's cycle counter: a time stamp that costs a few nanoseconds.
//
//   const std::uint64_t start = cycle_count();
//   serve(request);
//   const auto cycles = static_cast<double>(cycle_count() - start);
//   const double taken_ns = (cycles - cycle_count_overhead()) / cycles_per_ns();
//
// Good for intervals on one core, not for points in time. cycles_per_ns() is calibrated once
// against the steady clock (Intel SDM vol. 3, "Invariant TSC"; Arm ARM, CNTVCT_EL0).
#pragma once

#include <cstdint>

#if !defined(__x86_64__) && !defined(__aarch64__)
#include <chrono>
#endif

namespace corolane {

inline std::uint64_t cycle_count() {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
  std::uint64_t value;
  asm volatile("mrs %0, cntvct_el0" : "=r"(value));
  return value;
#else
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
#endif
}

// Cycles of cycle_count() per nanosecond. The first call takes about a millisecond; thread-safe.
double cycles_per_ns();

// The cost in cycles of two consecutive readings: the part of every interval that is not the work.
// A fraction where the counter is too coarse to show it at once, as on many arm64 processors.
double cycle_count_overhead();

}  // namespace corolane
