// SPDX-License-Identifier: MIT
// What the shards of nodes cost one another: connections, and stacks for subscriptions.
#pragma once

#include <cstddef>

namespace corolane::bench {

struct ShardFigures {
  double connections = 0;  // Of one node, counted at both ends, when all shards have called all.
  double stacks = 0;       // Of one node, in use.
  // The same when each shard subscribes to a thousand objects of the cluster.
  double subscribed_stacks = 0;
  bool is_sound = true;  // All calls were answered.
};

// Runs a cluster whose nodes have four shards each, outside of any scheduler. The same calls are
// the same run.
ShardFigures measure_shards(std::size_t node_count);

}  // namespace corolane::bench
