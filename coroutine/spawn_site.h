// What all tasks that were spawned at one place cost together: one row for each handler or bot,
// not one for each call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string>

#include "coroutine/base/clock.h"

namespace corolane::coroutine {

struct SpawnSite {
  std::source_location place;  // Line 0: all places beyond the number that is kept apart.
  std::string task_name;       // Of the first task that was spawned there.
  std::uint64_t spawned_count = 0;
  std::uint64_t alive_count = 0;  // Have not ended yet.
  // Consumed by all its tasks so far: see Scheduler::Options::cpu_sample_interval.
  Duration cpu{};
  // Of the tasks that were measured: the largest stack, and the deepest use of any, counted from
  // the top with control block, captures and result. It is short of the truth by less than a page,
  // if what lies lowest was never written, and never beyond it by more. Zero until one has ended.
  std::size_t stack_size_bytes = 0;
  std::size_t stack_used_bytes_max = 0;
  std::uint64_t measured_count = 0;
};

}  // namespace corolane::coroutine
