// SPDX-License-Identifier: MIT
// A few tasks share many elements.
#include <cstddef>
#include <ranges>

#include "coroutine/base/check.h"
#include "coroutine/sync/for_each.h"
#include "coroutine/task.h"
#include "tools/benchmarks/ours/functions.h"
#include "tools/benchmarks/ours/run_in_task.h"

namespace corolane::bench {
namespace {

constexpr std::size_t element_count = 1'000;
constexpr std::size_t task_count = 8;

Result<Measurement> time_for_each() {
  return time_batches([](Stopwatch& watch, std::size_t op_count) -> Result<std::size_t> {
    const std::size_t range_count = op_count / element_count + 1;
    std::size_t called_count = 0;
    watch.start();
    for (std::size_t i = 0; i < range_count; ++i) {
      auto done = coroutine::for_each(
          std::views::iota(std::size_t{0}, element_count), {.concurrency = task_count},
          [&](std::size_t) {
            ++called_count;
            return coroutine::yield();
          },
          Deadline::never());
      if (!done) return done.error();
    }
    watch.stop();
    check(called_count == range_count * element_count, "each element had its call");
    return called_count;
  });
}

}  // namespace

Result<Measurement> our_for_each() { return run_in_task(time_for_each); }

}  // namespace corolane::bench
