// SPDX-License-Identifier: MIT
// Moves partitions off shards that are full (node.cluster.balance). One node does it for all: the
// oldest one, which asks the others once a minute what their objects compute.
//
// Belongs to the thread of the node.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "coroutine/base/clock.h"
#include "coroutine/base/result.h"
#include "coroutine/task_group.h"
#include "framework/cluster/balancer.h"
#include "framework/node/inspection.corolane.h"
#include "framework/telemetry/log.h"

namespace corolane::framework {

class Cluster;

namespace detail {

class NodePeers;
class ShardPulse;

class Balancing {
 public:
  static constexpr Duration interval = std::chrono::minutes(1);

  // All of them outlive it.
  Balancing(Cluster& cluster, ShardPulse& shards, NodePeers& peers, Log& log)
      : cluster_(cluster), shards_(shards), peers_(peers), log_(log) {}
  Balancing(const Balancing&) = delete;
  Balancing& operator=(const Balancing&) = delete;

  // Balances at every interval, in a task of its own. Fails without a stack.
  Result<void> start();

  std::uint64_t move_count() const { return move_count_; }

 private:
  void balance();
  bool is_oldest() const;
  std::vector<NodeLoad> ask_all();
  Result<std::vector<LoadsReply>> own_loads();

  Cluster& cluster_;
  ShardPulse& shards_;
  NodePeers& peers_;
  Log& log_;
  std::uint64_t move_count_ = 0;
  coroutine::TaskGroup tasks_;
};

}  // namespace detail
}  // namespace corolane::framework
