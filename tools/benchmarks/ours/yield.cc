// SPDX-License-Identifier: MIT
// Tasks yield to one another. The measuring task is a member of the ring: each of its yields is one
// pass through all the others.
#include <cstdint>
#include <memory>

#include "coroutine/base/check.h"
#include "coroutine/sync/event.h"
#include "coroutine/task.h"
#include "coroutine/task_group.h"
#include "tools/benchmarks/order.h"
#include "tools/benchmarks/ours/functions.h"
#include "tools/benchmarks/ours/ours.h"
#include "tools/benchmarks/ours/run_in_task.h"

namespace corolane::bench {
namespace {

using coroutine::Event;
using coroutine::Scheduler;
using coroutine::TaskGroup;

class YieldingRing {
 public:
  explicit YieldingRing(Ring ring) : ring_(ring), starts_(std::make_unique<Event[]>(ring.count)) {}

  // The ready ring is first in, first out: the tasks keep the order of turns in which they became
  // ready.
  Result<void> start() {
    for (std::size_t index = 0; index < ring_.count; ++index) {
      auto spawned = tasks_.spawn(
          "yields", [this, &start = starts_[index]] { return yield_until_stopped(start); },
          {.stack_size_bytes = ring_.stack_size_bytes});
      if (!spawned) return spawned.error();
    }
    if (auto yielded = coroutine::yield(); !yielded) return yielded;
    for (const std::size_t turn : turn_order(ring_.count, ring_.random)) starts_[turn].set();
    return {};
  }

  // The number of tasks, the measuring one included.
  std::size_t size() const { return ring_.count + 1; }

  // Every task takes one step.
  Result<void> pass() {
    ++pass_count_;
    return coroutine::yield();
  }

  Result<void> stop() {
    check(step_count_ >= pass_count_ * ring_.count, "every task took its step in each pass");
    stopped_ = true;
    return tasks_.join(Deadline::never());
  }

 private:
  Result<void> yield_until_stopped(Event& start) {
    if (auto started = start.wait(Deadline::never()); !started) return started;
    while (!stopped_) {
      ++step_count_;
      if (auto yielded = coroutine::yield(); !yielded) return yielded;
    }
    return {};
  }

  const Ring ring_;
  const std::unique_ptr<Event[]> starts_;
  bool stopped_ = false;
  std::uint64_t step_count_ = 0;
  std::uint64_t pass_count_ = 0;
  TaskGroup tasks_;
};

Result<Measurement> time_ring(Ring options) {
  YieldingRing ring(options);
  if (auto started = ring.start(); !started) return started.error();
  auto measured = time_batches([&](Stopwatch& watch, std::size_t op_count) -> Result<std::size_t> {
    const std::size_t pass_count = (op_count + ring.size() - 1) / ring.size();
    watch.start();
    for (std::size_t pass = 0; pass < pass_count; ++pass) {
      if (auto passed = ring.pass(); !passed) return passed.error();
    }
    watch.stop();
    return pass_count * ring.size();
  });
  if (auto stopped = ring.stop(); !stopped) return stopped.error();
  return measured;
}

}  // namespace

Result<Measurement> our_yield(Ring ring) {
  return run_in_task([&] { return time_ring(ring); });
}

Result<Measurement> our_yield_sampled() { return our_yield({.count = 1}); }

Result<Measurement> our_yield_unsampled() {
  Scheduler::Options options;
  options.switch_sample_interval = 0;
  options.create_sample_interval = 0;
  return run_in_task([] { return time_ring({.count = 1}); }, options);
}

}  // namespace corolane::bench
