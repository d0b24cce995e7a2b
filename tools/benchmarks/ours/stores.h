// SPDX-License-Identifier: MIT
// Stores on the disk of this machine, and the clock on the wall, for rows that wait for them.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "coroutine/task_group.h"
#include "coroutine/testing/temporary_folder.h"
#include "framework/store/redis_store.h"
#include "framework/store/sqlite_store.h"
#include "tools/benchmarks/measurement.h"
#include "tools/benchmarks/ours/objects.h"
#include "tools/benchmarks/ours/one_process.h"
#include "tools/processes/redis_server.h"

namespace corolane::bench {

// Runs `body` with a store of that kind.
template <typename F>
Result<Measurement> with_store(StoreUsed used, F body) {
  const test::TemporaryFolder folder;
  std::optional<test::RedisServer> redis;
  return with_network([&](net::Network& network) -> Result<Measurement> {
    if (used == StoreUsed::sqlite) {
      auto store = framework::SqliteStore::open((folder.path() / "objects.db").string());
      if (!store) return store.error();
      return body(network, std::shared_ptr<framework::Store>(*std::move(store)));
    }
    redis.emplace();
    return body(network,
                std::make_shared<framework::RedisStore>(
                    network, framework::RedisStore::Options{.endpoints = {redis->endpoint()}}));
  });
}

// Calls act(task, round) in 64 tasks, 200 times in each. Returns microseconds per call.
template <typename F>
Result<Measurement> time_by_the_clock(F act) {
  constexpr std::size_t rounds = 200;
  const auto start = std::chrono::steady_clock::now();
  coroutine::TaskGroup tasks;
  for (std::size_t i = 0; i < in_flight; ++i) {
    auto spawned = tasks.spawn("caller", [&act, i]() -> Result<void> {
      for (std::size_t j = 0; j < rounds; ++j) {
        if (auto done = act(i, j); !done) return done.error();
      }
      return {};
    });
    if (!spawned) return spawned.error();
  }
  if (auto joined = tasks.join(Deadline::never()); !joined) return joined.error();
  const std::chrono::duration<double, std::micro> elapsed =
      std::chrono::steady_clock::now() - start;
  return Measurement{.value = elapsed.count() / static_cast<double>(in_flight * rounds)};
}

}  // namespace corolane::bench
