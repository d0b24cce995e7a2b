// SPDX-License-Identifier: MIT
#include "tools/benchmarks/scale/measure.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "framework/cluster/placement.h"
#include "framework/node/node.h"
#include "framework/testing/cluster.h"
#include "framework/wire/partition.h"
#include "tools/benchmarks/counter.corolane.h"
#include "tools/benchmarks/resident_memory.h"

namespace corolane::bench {
namespace {

using namespace std::chrono_literals;
using framework::Partition;
using sim::SimulatedCluster;

// What a hundred nodes of sixteen shards need.
constexpr std::size_t partition_count = framework::partition_count_max;
// The node that crashes.
constexpr std::size_t victim = 1;
// Objects of that node, each called by a client of its own while the node is away.
constexpr std::size_t call_count_min = 300;
// Calls of one client before that, so that nodes are connected.
constexpr int warm_call_count = 300;
constexpr std::size_t placement_repetitions = 21;

class Counter : public CounterObject {
 public:
  Result<AddReply> add(const AddRequest& request, rpc::Context&) override {
    change().set_value(state().value() + request.amount());
    return value();
  }
  Result<AddReply> get(const AddRequest&, rpc::Context&) const override { return value(); }

 private:
  AddReply value() const {
    AddReply reply;
    reply.set_value(state().value());
    return reply;
  }
};

const char* type_name() { return CounterObject::object_type().name; }

Duration real_time_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now() - start);
}

Duration placement_time(std::size_t node_count) {
  std::vector<framework::Member> members(node_count);
  for (std::size_t i = 0; i < node_count; ++i) {
    members[i].name = "node-" + std::to_string(i);
    members[i].epoch = i + 1;
    members[i].groups = {{.placement = {}, .types = {type_name()}}};
    members[i].partition_count = partition_count;
  }
  std::vector<Duration> times;
  for (std::size_t i = 0; i < placement_repetitions; ++i) {
    const auto start = std::chrono::steady_clock::now();
    const auto owners = framework::choose_owners(members, {});
    times.push_back(real_time_since(start));
    if (owners.front() == nullptr) return Duration::max();
  }
  std::ranges::nth_element(times, times.begin() + placement_repetitions / 2);
  return times[placement_repetitions / 2];
}

// The partitions of each node according to the directory.
std::vector<std::size_t> shares(SimulatedCluster& cluster) {
  std::vector<std::size_t> counts(cluster.node_count());
  for (std::size_t i = 0; i < partition_count; ++i) {
    const std::string owner = cluster.directory().owner_name({}, static_cast<Partition>(i));
    for (std::size_t node = 0; node < counts.size(); ++node) {
      if (owner.starts_with(cluster.node_host(node).name() + ".")) ++counts[node];
    }
  }
  return counts;
}

void spawn_caller(SimulatedCluster& cluster, const std::string& name,
                  std::vector<std::string> ids) {
  cluster.spawn(name, [&cluster, name, ids = std::move(ids)] {
    AddRequest one;
    one.set_amount(1);
    for (const std::string& id : ids) {
      static_cast<void>(CounterClient(cluster.router(name), id).add(one));
    }
  });
}

void connect_all(SimulatedCluster& cluster) {
  for (std::size_t node = 0; node < cluster.node_count(); ++node) {
    std::vector<std::string> ids;
    for (int i = 0; i < warm_call_count; ++i) ids.push_back(std::to_string(i));
    spawn_caller(cluster, "warm " + std::to_string(node), std::move(ids));
  }
}

std::vector<std::string> objects_of_victim(const SimulatedCluster& cluster) {
  std::vector<std::string> ids;
  for (int i = 0; ids.size() < call_count_min; ++i) {
    if (cluster.owner_of(type_name(), std::to_string(i)) == victim)
      ids.push_back(std::to_string(i));
  }
  return ids;
}

struct Reads {
  double mean = 0;
  double max = 0;
};

Reads reads_since(SimulatedCluster& cluster, const std::vector<std::uint64_t>& before) {
  Reads reads;
  for (std::size_t node = 0; node < cluster.node_count(); ++node) {
    if (node == victim) continue;
    const auto bytes = static_cast<double>(
        cluster.directory().reads_of(cluster.node_host(node)).bytes - before[node]);
    reads.mean += bytes / static_cast<double>(cluster.node_count() - 1);
    reads.max = std::max(reads.max, bytes);
  }
  return reads;
}

void fail_over(SimulatedCluster& cluster, ScaleFigures& figures) {
  const std::vector<std::string> ids = objects_of_victim(cluster);
  std::vector<std::uint64_t> before;
  for (std::size_t node = 0; node < cluster.node_count(); ++node) {
    before.push_back(cluster.directory().reads_of(cluster.node_host(node)).bytes);
  }
  const TimePoint crashed_at = cluster.simulation().now();
  cluster.crash(victim);
  // Clients begin with the servers in turn.
  for (const std::string& id : ids) spawn_caller(cluster, "caller of " + id, {id});
  figures.is_sound &= cluster.run_until([&] { return cluster.are_clients_done(); }, 1min);
  figures.answers_after = cluster.simulation().now() - crashed_at;
  cluster.run_for(10s);
  const Reads reads = reads_since(cluster, before);
  figures.read_bytes_mean = reads.mean;
  figures.read_bytes_max = reads.max;
}

}  // namespace

ScaleFigures measure_scale(std::size_t node_count) {
  const auto start = std::chrono::steady_clock::now();
  const auto count = static_cast<double>(node_count);
  const auto memory_before = static_cast<double>(resident_bytes());
  ScaleFigures figures{.nodes = node_count, .placement_took = placement_time(node_count)};
  SimulatedCluster cluster({.seed = 1, .nodes = node_count, .partition_count = partition_count},
                           [](framework::Node& node) { node.host<Counter>(); });
  cluster.run_for(1min);
  const auto counts = shares(cluster);
  figures.spread = static_cast<double>(std::ranges::max(counts)) * count / partition_count;
  connect_all(cluster);
  figures.is_sound &= cluster.run_until([&] { return cluster.are_clients_done(); }, 5min);
  figures.connections = 2 * static_cast<double>(cluster.fabric().connection_count()) / count;
  for (std::size_t node = 0; node < node_count; ++node) {
    const auto* const its = cluster.node(node);
    if (its == nullptr) continue;
    figures.stacks +=
        static_cast<double>(its->scheduler().stacks().statistics().in_use_count) / count;
  }
  figures.memory_bytes = (static_cast<double>(resident_bytes()) - memory_before) / count;
  fail_over(cluster, figures);
  figures.is_sound &= cluster.violations().empty();
  figures.took = real_time_since(start);
  return figures;
}

}  // namespace corolane::bench
