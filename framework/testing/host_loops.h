// SPDX-License-Identifier: MIT
// The further shards of a simulated node: each is a thread of its host.
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
  // Both outlive it.
  HostLoops(Fabric& fabric, Host& process) : fabric_(fabric), process_(process) {}

  // The stacks are limited as those of the process, whatever `options` say.
  std::unique_ptr<framework::ShardLoop> begin(std::size_t shard,
                                              const coroutine::Scheduler::Options& options,
                                              Body body, OnEnd on_end) override;

 private:
  Fabric& fabric_;
  Host& process_;
};

}  // namespace corolane::sim
