// SPDX-License-Identifier: MIT
// Tasks are created, entered once, end, and return their stacks.
#include <cstdint>

#include "coroutine/base/check.h"
#include "coroutine/task_group.h"
#include "tools/benchmarks/ours/functions.h"
#include "tools/benchmarks/ours/run_in_task.h"

namespace corolane::bench {
namespace {

// All tasks are alive at once: none runs before the last one is spawned.
Result<void> create_all(std::size_t count) {
  std::uint64_t entered_count = 0;
  coroutine::TaskGroup tasks;
  for (std::size_t index = 0; index < count; ++index) {
    if (auto spawned = tasks.spawn("ends at once", [&] { ++entered_count; }); !spawned) {
      return spawned.error();
    }
  }
  if (auto joined = tasks.join(Deadline::never()); !joined) return joined;
  check(entered_count == count, "every task was entered");
  return {};
}

// Uses a new scheduler for each batch, whose pool has not mapped anything yet.
Result<Measurement> create_cold(std::size_t count) {
  return time_batches([&](Stopwatch& watch, std::size_t) {
    return run_in_task([&]() -> Result<std::size_t> {
      watch.start();
      const auto created = create_all(count);
      watch.stop();
      if (!created) return created.error();
      return count;
    });
  });
}

Result<Measurement> create_warm(std::size_t count) {
  return run_in_task([&] {
    return time_batches([&](Stopwatch& watch, std::size_t op_count) -> Result<std::size_t> {
      std::size_t performed_count = 0;
      watch.start();
      for (; performed_count < op_count; performed_count += count) {
        if (auto created = create_all(count); !created) return created.error();
      }
      watch.stop();
      return performed_count;
    });
  });
}

}  // namespace

Result<Measurement> our_create(std::size_t count, Warmth warmth) {
  return warmth == Warmth::cold ? create_cold(count) : create_warm(count);
}

}  // namespace corolane::bench
