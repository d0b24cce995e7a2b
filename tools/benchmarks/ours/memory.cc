// SPDX-License-Identifier: MIT
// Tasks, and stackless coroutines, that wait without a deadline.
#include "coroutine/async/async_group.h"
#include "coroutine/sync/event.h"
#include "coroutine/task.h"
#include "coroutine/task_group.h"
#include "tools/benchmarks/ours/functions.h"
#include "tools/benchmarks/ours/ours.h"
#include "tools/benchmarks/ours/run_in_task.h"
#include "tools/benchmarks/resident_memory.h"

namespace corolane::bench {
namespace {

Result<Measurement> measure_suspended(std::size_t count, std::size_t bytes_before) {
  coroutine::Event release;
  coroutine::TaskGroup tasks;
  for (std::size_t index = 0; index < count; ++index) {
    auto spawned = tasks.spawn("waits", [&] { return release.wait(Deadline::never()); });
    if (!spawned) return spawned.error();
  }
  if (auto yielded = coroutine::yield(); !yielded) return yielded.error();
  const Measurement measured = bytes_each(bytes_before, count);
  release.set();
  if (auto joined = tasks.join(Deadline::never()); !joined) return joined.error();
  return measured;
}

coroutine::Async<void> wait_for(coroutine::Event& event) {
  co_return co_await coroutine::until(event.waiting(), Deadline::never());
}

Result<Measurement> measure_stackless(std::size_t count, std::size_t bytes_before) {
  coroutine::Event release;
  coroutine::AsyncGroup coroutines;
  for (std::size_t index = 0; index < count; ++index) {
    coroutines.spawn(wait_for(release));
    // The ready ring stays small.
    if (index % 1'000 == 0) static_cast<void>(coroutine::yield());
  }
  if (auto yielded = coroutine::yield(); !yielded) return yielded.error();
  const Measurement measured = bytes_each(bytes_before, count);
  release.set();
  if (auto joined = coroutines.join(Deadline::never()); !joined) return joined.error();
  return measured;
}

}  // namespace

Result<Measurement> our_stackless_memory(std::size_t count) {
  if (auto enough = need_free_memory(count, 300); !enough) return enough.error();
  const std::size_t bytes_before = resident_bytes();
  return run_in_task([&] { return measure_stackless(count, bytes_before); });
}

Result<Measurement> our_memory(std::size_t count) {
  if (auto enough = need_free_memory(count, 5'000); !enough) return enough.error();
  const std::size_t bytes_before = resident_bytes();
  coroutine::Scheduler::Options options;
  options.stacks.stack_count_max = count + 1'000;
  return run_in_task([&] { return measure_suspended(count, bytes_before); }, options);
}

}  // namespace corolane::bench
