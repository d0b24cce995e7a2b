// SPDX-License-Identifier: MIT
// Measures in virtual time how the stack pool keeps and frees stacks while load rises and falls.
#include <algorithm>
#include <chrono>

#include "coroutine/sync/channel.h"
#include "coroutine/task.h"
#include "coroutine/task_group.h"
#include "tools/benchmarks/ours/ours.h"
#include "tools/benchmarks/ours/run_in_task.h"
#include "tools/benchmarks/resident_memory.h"

namespace corolane::bench {
namespace {

using namespace std::chrono_literals;
using coroutine::Channel;
using coroutine::Scheduler;
using coroutine::StackPool;
using coroutine::TaskGroup;

constexpr int period_count = 10;

// Tasks that wait until they are released.
class Crowd {
 public:
  std::size_t size() const { return tasks_.size(); }

  // Changes the number of live tasks to `count`, in ten steps over `duration`. Suspends.
  Result<void> ramp_to(std::size_t count, Duration duration) {
    constexpr std::size_t step_count = 10;
    const std::size_t start = size();
    for (std::size_t step = 1; step <= step_count; ++step) {
      const std::size_t goal = (start * (step_count - step) + count * step) / step_count;
      if (auto set = set_size(goal); !set) return set;
      if (auto slept = coroutine::sleep_for(duration / step_count); !slept) return slept;
    }
    return {};
  }

  Result<void> leave() {
    exit_.close();
    return tasks_.join(Deadline::never());
  }

 private:
  Result<void> set_size(std::size_t count) {
    for (std::size_t left = size(); left > count; --left) exit_.try_send(true);
    while (size() < count) {
      auto spawned =
          tasks_.spawn("stays", [this] { static_cast<void>(exit_.receive(Deadline::never())); });
      if (!spawned) return spawned.error();
    }
    return {};
  }

  Channel<bool> exit_{1};
  TaskGroup tasks_;
};

double hit_percentage(const StackPool::Statistics& before, const StackPool::Statistics& after) {
  const auto hit_count = static_cast<double>(after.hit_count - before.hit_count);
  const auto miss_count = static_cast<double>(after.miss_count - before.miss_count);
  return 100.0 * hit_count / (hit_count + miss_count);
}

// Runs `period` repeatedly, and reads the pool's statistics in between.
template <typename F>
Result<Measurement> worst_period_after_first(F&& period) {
  const StackPool& stacks = Scheduler::current().stacks();
  if (auto first = period(); !first) return first.error();
  double worst = 100;
  for (int index = 0; index < period_count; ++index) {
    const StackPool::Statistics before = stacks.statistics();
    if (auto passed = period(); !passed) return passed.error();
    worst = std::min(worst, hit_percentage(before, stacks.statistics()));
  }
  return Measurement{.value = worst};
}

// `task_count` tasks at once, then `quiet` without any.
struct Load {
  std::size_t task_count;
  Duration quiet;
};
constexpr Load light_load = {.task_count = 1'000, .quiet = 60s};
constexpr Load burst = {.task_count = 10'000, .quiet = 15s};

Result<void> put_under(Load load) {
  Crowd crowd;
  if (auto risen = crowd.ramp_to(load.task_count, 1s); !risen) return risen;
  if (auto left = crowd.leave(); !left) return left;
  return coroutine::sleep_for(load.quiet);
}

Measurement resident_megabytes() { return {.value = static_cast<double>(resident_bytes()) / 1e6}; }

}  // namespace

Result<Measurement> our_pool_swing(std::size_t low, std::size_t high) {
  return run_in_virtual_time([&]() -> Result<Measurement> {
    Crowd crowd;
    if (auto set = crowd.ramp_to(low, 1s); !set) return set.error();
    auto measured = worst_period_after_first([&]() -> Result<void> {
      if (auto risen = crowd.ramp_to(high, 1s); !risen) return risen;
      return crowd.ramp_to(low, 1s);
    });
    if (auto left = crowd.leave(); !left) return left.error();
    return measured;
  });
}

Result<Measurement> our_pool_serial() {
  return run_in_virtual_time([] {
    return worst_period_after_first([]() -> Result<void> {
      for (int index = 0; index < 1'000; ++index) {
        if (auto ran = coroutine::spawn("alone", [] {}).join(Deadline::never()); !ran) return ran;
        if (auto slept = coroutine::sleep_for(1ms); !slept) return slept;
      }
      return {};
    });
  });
}

Result<Measurement> our_memory_at_floor() {
  return run_in_virtual_time([]() -> Result<Measurement> {
    if (auto loaded = put_under(light_load); !loaded) return loaded.error();
    return resident_megabytes();
  });
}

Result<Measurement> our_memory_after_burst() {
  return run_in_virtual_time([]() -> Result<Measurement> {
    if (auto loaded = put_under(light_load); !loaded) return loaded.error();
    if (auto loaded = put_under(burst); !loaded) return loaded.error();
    return resident_megabytes();
  });
}

}  // namespace corolane::bench
