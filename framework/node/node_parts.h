// SPDX-License-Identifier: MIT
// The parts of a node that a simulation or a test brings in place of the configured ones.
//
//   Node node(config, network, std::move(log),
//             Node::Parts{.store = std::make_shared<MemoryStore>(), .clock = now});
#pragma once

#include <memory>

#include "framework/cluster/cluster.h"
#include "framework/cluster/ownership.h"
#include "framework/directory/directory.h"
#include "framework/node/node.h"
#include "framework/node/shard_loops.h"
#include "framework/store/store.h"
#include "framework/time/wall_clock.h"

namespace corolane::framework {

struct Node::Parts {
  std::shared_ptr<Store> store = nullptr;  // Shared by all shards.
  std::shared_ptr<Directory> directory = nullptr;
  // A simulation has its own clock; the watchdog runs only with a real one.
  Fence::Clock clock = boot_time;
  WallClock wall_clock = {};
  Cluster::Options cluster = {};
  Witness* witness = nullptr;  // Outlives the node.
  std::shared_ptr<ShardLoops> shard_loops = std::make_shared<ThreadLoops>();
  // The loop of the node hosts no shard: all shards turn on `shard_loops`, the first one, too. So
  // the node looks after shards that hang. For real processes; without it the first shard shares
  // the loop of the node, which suits a recording and tests in virtual time.
  bool has_control_loop = false;
};

}  // namespace corolane::framework
