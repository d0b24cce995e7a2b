// SPDX-License-Identifier: MIT
// Where the loops of a node's shards turn, but for one that shares that of the node: on threads of
// their own, unless a simulation steps them.
//
//   auto loop = ThreadLoops().begin(
//       1, {}, [&](net::Network& its_network) { live(its_network); },
//       [&](const Result<void>& ran) { home.post([&, ran] { ended(ran); }); });
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "coroutine/base/result.h"
#include "coroutine/scheduler.h"
#include "net/network.h"

namespace corolane::framework {

// One loop. Its destructor is called after `on_end`, by the task that has begun it.
class ShardLoop {
 public:
  ShardLoop() = default;
  virtual ~ShardLoop() = default;
  ShardLoop(const ShardLoop&) = delete;
  ShardLoop& operator=(const ShardLoop&) = delete;
};

class ShardLoops {
 public:
  // The main task of a shard; the network belongs to its loop.
  using Body = std::function<void(net::Network& network)>;
  // Called on no scheduler, when that of the shard is gone. An error: `body` did not run.
  using OnEnd = std::function<void(const Result<void>& ran)>;

  virtual ~ShardLoops() = default;

  // Runs `body` as the main task of a scheduler of its own. Called by a task of another scheduler;
  // never suspends.
  virtual std::unique_ptr<ShardLoop> begin(std::size_t shard,
                                           const coroutine::Scheduler::Options& options, Body body,
                                           OnEnd on_end) = 0;
};

// The loops of real processes.
class ThreadLoops final : public ShardLoops {
 public:
  std::unique_ptr<ShardLoop> begin(std::size_t shard, const coroutine::Scheduler::Options& options,
                                   Body body, OnEnd on_end) override;
};

}  // namespace corolane::framework
