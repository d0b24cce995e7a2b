// SPDX-License-Identifier: MIT
// Nodes within the benchmark's own process.
#pragma once

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <utility>

#include "coroutine/base/check.h"
#include "coroutine/task_group.h"
#include "framework/node/node_config.h"
#include "net/uv/uv_network.h"
#include "tools/benchmarks/measurement.h"
#include "tools/benchmarks/ours/run_in_task.h"

namespace corolane::bench {

// The calls in flight where both ends have their own threads, or the store is slow.
inline constexpr std::size_t in_flight = 64;

// Lifts the pinning to one core with which measurements begin.
inline void use_all_cores() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  for (unsigned core = 0; core < std::thread::hardware_concurrency(); ++core) CPU_SET(core, &cores);
  check(::sched_setaffinity(0, sizeof(cores), &cores) == 0, "the process may use all cores");
}

inline framework::NodeConfig node_config(std::string name, std::uint32_t shards) {
  framework::NodeConfig config;
  config.name = std::move(name);
  config.clients.listen = config.admin.listen = "127.0.0.1:0";
  config.clients.login.anonymous = true;
  config.clients.public_methods_only = false;  // The protos mark no method public.
  config.log_level = framework::LogLevel::error;
  config.shards = shards;
  config.store.kind = framework::StoreKind::memory;
  config.objects.idle_time_max = std::chrono::hours(1);
  config.objects.memory_max = 64 * 1024 * config::mebibyte;
  return config;
}

// Runs call(i) in `at_a_time` tasks; it may suspend.
template <typename F>
Result<Measurement> time_calls(std::size_t at_a_time, F call) {
  return time_batches([&](Stopwatch& watch, std::size_t op_count) -> Result<std::size_t> {
    const std::size_t each = std::max<std::size_t>(1, op_count / at_a_time);
    coroutine::TaskGroup callers;
    watch.start();
    for (std::size_t i = 0; i < at_a_time; ++i) {
      auto spawned = callers.spawn("caller", [&, i]() -> Result<void> {
        for (std::size_t j = 0; j < each; ++j) {
          if (auto called = call(i); !called) return called.error();
        }
        return {};
      });
      if (!spawned) return spawned.error();
    }
    auto joined = callers.join(Deadline::never());
    watch.stop();
    if (!joined) return joined.error();
    return each * at_a_time;
  });
}

// Runs `body` with a loop, as production does.
template <typename F>
Result<Measurement> with_network(F body) {
  net::EventLoop loop;
  return run_in_task_on(loop, {}, [&]() -> Result<Measurement> {
    net::UvNetwork network(loop);
    return body(network);
  });
}

}  // namespace corolane::bench
