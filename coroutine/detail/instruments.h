// SPDX-License-Identifier: MIT
// The measurements and recordings of a scheduler: a switch does not touch them, and users of tasks
// do not compile them.
#pragma once

#include <cstdint>

#include "coroutine/base/histogram.h"
#include "coroutine/cpu_time.h"
#include "coroutine/detail/list.h"
#include "coroutine/detail/short_intervals.h"
#include "coroutine/detail/spawn_sites.h"
#include "coroutine/interrupter.h"

namespace corolane::coroutine {
class CpuProfile;
}

namespace corolane::coroutine::detail {

struct StrandGroup;
struct StrandGroupTag;

struct Instruments {
  explicit Instruments(std::uint32_t stack_sample_interval) : sites(stack_sample_interval) {}

  Histogram switch_ns;
  Histogram create_ns;
  ShortIntervals switch_intervals;
  ShortIntervals create_intervals;
  std::uint64_t stray_exception_count = 0;
  std::uint64_t deep_stack_count = 0;
  SpawnSites sites;
  List<StrandGroup, StrandGroupTag> strand_groups;  // Those that have children.
  Interrupter interrupter;
  // The signal handler of the CPU meter reads the one and adds to the other.
  CpuProfile* profile = nullptr;
  CpuTime loop_cpu;
  // SchedulerOptions::on_cpu_charge.
  void (*on_cpu_charge)(std::uint64_t nanoseconds) = nullptr;
};

}  // namespace corolane::coroutine::detail
