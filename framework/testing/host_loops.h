// SPDX-License-Identifier: MIT
// The shards of a simulated node that do not share its loop: each is a thread of its host.
//
//   Node node(config, fabric.network_of(host), std::move(log),
//             Node::Parts{.shard_loops = std::make_shared<HostLoops>(fabric, host)});
#pragma once

#include <memory>

#include "framework/node/shard_loops.h"
#include "framework/testing/fabric.h"
#include "framework/testing/host.h"

namespace corolane::sim {

class HostLoops final : public framework::ShardLoops {
 public:
  // Both outlive it. The loop of the process itself is that of the first shard, or with
  // `has_control_loop` that of the node.
  HostLoops(Fabric& fabric, Host& process, bool has_control_loop = false)
      : fabric_(fabric), process_(process), first_thread_(has_control_loop ? 1 : 0) {}

  // The stacks are limited as those of the process, whatever `options` say.
  std::unique_ptr<framework::ShardLoop> begin(std::size_t shard,
                                              const coroutine::Scheduler::Options& options,
                                              Body body, OnEnd on_end) override;

 private:
  Fabric& fabric_;
  Host& process_;
  const std::size_t first_thread_;  // The number of the thread of the first shard.
};

}  // namespace corolane::sim
