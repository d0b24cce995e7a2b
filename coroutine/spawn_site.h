// Sums up all tasks that were spawned at one place: one row for each handler or bot, not one for
// each call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string>

#include "coroutine/base/clock.h"

namespace corolane::coroutine {

struct SpawnSite {
  std::source_location place;  // Line 0: all places beyond the limit.
  std::string task_name;       // The name of the first task spawned there.
  std::uint64_t spawned_count = 0;
  std::uint64_t alive_count = 0;  // Not ended yet.
  // Consumed by all its tasks so far: see Scheduler::Options::cpu_sample_interval.
  Duration cpu{};
  // Over the measured tasks: the largest stack, and the deepest use of any, counted from the top
  // with control block, captures and result. It falls short by less than a page when the lowest
  // bytes of a stack were never written, and never exceeds the true value by more. Zero until a
  // measured task has ended.
  std::size_t stack_size_bytes = 0;
  std::size_t stack_used_bytes_max = 0;
  std::uint64_t measured_count = 0;
};

}  // namespace corolane::coroutine
