// SPDX-License-Identifier: MIT
// What waits for what on all nodes of a cluster, asked from one of them.
//
//   auto waits = waits_here(node, request);
//   if (!waits) return waits.error();
//   add_waits_elsewhere(node, request, ask_times, *waits);
//   for (const auto& cycle : graph_of(*waits).cycles()) warn(cycle);
//
// For the thread of the node.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "coroutine/base/result.h"
#include "framework/cluster/detail/membership.h"
#include "framework/node/detail/node_peers.h"
#include "framework/node/detail/wait_graph.h"
#include "framework/node/inspection.pb.h"

namespace corolane::framework {

class Node;

namespace detail {

template <typename Wait>
struct OnNode {
  std::string node;
  Wait wait;
};

struct ClusterWaits {
  // More are left out.
  static constexpr std::size_t count_max = 50'000;

  std::vector<OnNode<ObjectWait>> calls;  // The longest first.
  std::vector<OnNode<LockWait>> locks;
  std::vector<OnNode<TaskWaits>> tasks;
  std::size_t left_out_count = 0;
  std::set<std::string> silent_nodes;       // "chess-2, shard 1: unavailable: ...".
  std::vector<ShardSilence> silent_shards;  // Of this node.

  std::size_t size() const { return calls.size() + locks.size() + tasks.size(); }
};

// Suspends. Leaves out shards that hang; fails as from_each_shard().
Result<ClusterWaits> waits_here(Node& node, const WaitsRequest& request);
// Suspends, as long as `times` allow. Names the nodes that do not answer.
void add_waits_elsewhere(Node& node, const WaitsRequest& request, const NodePeers::AskTimes& times,
                         ClusterWaits& waits);

// `chess.Player("ada")`.
std::string object_name(std::string_view type, std::string_view id);
// What waits in that call or for that lock, and what holds that: objects by their names, others as
// `task 1.17 "save" on chess-2`, as are two tasks of one object. Empty when it is neither.
std::string waiting_name(const ObjectWait& wait, const std::string& node);
std::string waiting_name(const LockWait& wait, const std::string& node);
std::string holder_name(const LockWait& wait, const std::string& node);

// Suspends.
WaitGraph graph_of(const ClusterWaits& waits);

// `chess.Player("ada") -> chess.Guild("lions") -> chess.Player("ada")`.
std::string cycle_text(const std::vector<std::string>& cycle);

}  // namespace detail
}  // namespace corolane::framework
