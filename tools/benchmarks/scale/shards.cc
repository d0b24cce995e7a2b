// SPDX-License-Identifier: MIT
#include "tools/benchmarks/scale/shards.h"

#include <chrono>
#include <list>
#include <memory>
#include <set>
#include <string>

#include "coroutine/task.h"
#include "coroutine/task_group.h"
#include "framework/node/node.h"
#include "framework/node/shard.h"
#include "framework/push/subscription.h"
#include "framework/testing/cluster.h"
#include "tools/benchmarks/counter.corolane.h"

namespace corolane::bench {
namespace {

using namespace std::chrono_literals;
using sim::SimulatedCluster;

constexpr std::uint32_t shard_count = 4;
// Enough to have some on each shard.
constexpr int object_count = 1'000;
// Since the start of a node: when all nodes are there, and when all have called all.
constexpr Duration call_after = 1min;
constexpr Duration subscribe_after = 3min;

class Herald : public HeraldObject {
 public:
  Result<AddReply> announce(const AddRequest&, rpc::Context&) override { return AddReply(); }
};

// Calls objects of the whole cluster from one shard, and subscribes to them.
class Caller final : public rpc::Service {
 public:
  // Both outlive it.
  Caller(framework::Router& router, ShardFigures& figures) {
    figures.is_sound &=
        tasks_.spawn("caller", [this, &router, &figures] { run(router, figures); }).has_value();
  }

  const char* service_name() const override { return "corolane.bench.Caller"; }
  std::span<const rpc::Method> methods() const override { return {}; }

 private:
  void run(framework::Router& router, ShardFigures& figures) {
    if (!coroutine::sleep_for(call_after)) return;
    for (int i = 0; i < object_count; ++i) {
      figures.is_sound &= HeraldClient(router, std::to_string(i)).announce({}).has_value();
    }
    if (!coroutine::sleep_for(subscribe_after - call_after)) return;
    for (int i = 0; i < object_count; ++i) {
      subscriptions_.push_back(HeraldClient(router, std::to_string(i)).subscribe());
    }
  }

  std::list<framework::Subscription<AddReply>> subscriptions_;
  coroutine::TaskGroup tasks_;
};

}  // namespace

ShardFigures measure_shards(std::size_t node_count) {
  const auto count = static_cast<double>(node_count);
  ShardFigures figures;
  std::set<const framework::Shard*> shards;
  SimulatedCluster cluster({.seed = 1, .nodes = node_count, .shards = shard_count},
                           [&](framework::Node& node) {
                             node.host<Herald>();
                             node.serve([&](framework::Shard& shard) {
                               shards.insert(&shard);
                               return std::make_unique<Caller>(shard.router(), figures);
                             });
                           });
  const auto stacks = [&] {
    double sum = 0;
    for (const auto* const shard : shards) {
      sum += static_cast<double>(shard->scheduler().stacks().statistics().in_use_count);
    }
    return sum / count;
  };
  cluster.run_for(subscribe_after - 10s);
  figures.connections = 2 * static_cast<double>(cluster.fabric().connection_count()) / count;
  figures.stacks = stacks();
  cluster.run_for(1min);
  figures.subscribed_stacks = stacks();
  figures.is_sound &= shards.size() == node_count * shard_count && cluster.violations().empty();
  return figures;
}

}  // namespace corolane::bench
