// SPDX-License-Identifier: MIT
// Tasks yield to one another. The measuring task is a member of the ring: each of its yields is one
// pass through all the others.
#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "coroutine/base/check.h"
#include "coroutine/sync/event.h"
#include "coroutine/task.h"
#include "coroutine/task_group.h"
#include "tools/benchmarks/order.h"
#include "tools/benchmarks/ours/functions.h"
#include "tools/benchmarks/ours/ours.h"
#include "tools/benchmarks/ours/run_in_task.h"
#include "tools/benchmarks/statistics.h"

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

// The time of a fixed number of passes in a ring of one, after a tenth of them to warm up.
Result<std::chrono::nanoseconds> time_passes(bool sampled) {
  constexpr std::size_t pass_count = 400'000;
  Scheduler::Options options;
  if (!sampled) options.switch_sample_interval = options.create_sample_interval = 0;
  return run_in_task(
      [&]() -> Result<std::chrono::nanoseconds> {
        YieldingRing ring({.count = 1});
        if (auto started = ring.start(); !started) return started.error();
        Stopwatch watch;
        for (std::size_t pass = 0; pass < pass_count + pass_count / 10; ++pass) {
          if (pass == pass_count / 10) watch.start();
          if (auto passed = ring.pass(); !passed) return passed.error();
        }
        watch.stop();
        if (auto stopped = ring.stop(); !stopped) return stopped.error();
        return watch.elapsed();
      },
      options);
}

}  // namespace

Result<Measurement> our_yield(Ring ring) {
  return run_in_task([&] { return time_ring(ring); });
}

Result<Measurement> our_sampling_cost() {
  // A pair takes about ten milliseconds: much less than the machine needs to change its pace.
  const auto pair_count = static_cast<std::size_t>(effort().count());
  std::vector<double> percents;
  for (std::size_t pair = 0; pair < pair_count; ++pair) {
    const bool sampled_first = pair % 2 == 0;
    const auto one = time_passes(sampled_first);
    if (!one) return one.error();
    const auto other = time_passes(!sampled_first);
    if (!other) return other.error();
    const auto sampled = static_cast<double>((sampled_first ? *one : *other).count());
    const auto unsampled = static_cast<double>((sampled_first ? *other : *one).count());
    percents.push_back(100 * sampled / unsampled);
  }
  return Measurement{.value = median_of(std::move(percents))};
}

}  // namespace corolane::bench
