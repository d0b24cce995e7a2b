// SPDX-License-Identifier: MIT
#include "framework/node/detail/balancing.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "coroutine/task.h"
#include "framework/cluster/cluster.h"
#include "framework/node/detail/node_peers.h"
#include "framework/node/detail/object_loads.h"
#include "framework/node/detail/shard_pulse.h"
#include "framework/node/inspection.corolane.h"

namespace corolane::framework::detail {
namespace {

using namespace std::chrono_literals;

// A node that does not answer in this time takes no part, and many such nodes end the question
// long before the next one.
constexpr NodePeers::AskTimes ask_times = {.each = 5s, .all = 30s};
constexpr Duration pin_commit_time_max = 2s;

constexpr coroutine::TaskOptions control = {.purpose = coroutine::StackPool::Purpose::control};

// What one node has told; nothing when one of its shards has not answered.
struct Told {
  NodeLoad load;
  bool is_whole = true;

  void add(const ClusterView& view, const Result<LoadsReply>& reply) {
    is_whole = is_whole && reply.has_value();
    if (!reply) return;
    for (const PartitionLoad& each : reply->loads()) {
      const Placement* const placement = view.find_placement(each.type());
      if (placement == nullptr || each.partition() >= partition_count_max) continue;
      load.cores[{*placement, static_cast<Partition>(each.partition())}] +=
          static_cast<double>(each.cores());
    }
  }
};

}  // namespace

Result<void> Balancing::start() {
  auto spawned = tasks_.spawn(
      "balance partitions",
      [this] {
        while (coroutine::sleep_for(interval)) balance();
      },
      control);
  if (!spawned) return spawned.error();
  return {};
}

bool Balancing::is_oldest() const {
  const auto& members = cluster_.view()->members();
  const auto oldest = std::ranges::min_element(members, {}, &Member::epoch);
  return oldest != members.end() && oldest->epoch == cluster_.epoch() && !oldest->is_draining;
}

std::vector<NodeLoad> Balancing::ask_all() {
  const auto view = cluster_.view();
  std::map<std::string, Told> told;
  for (const Member& member : view->members()) told[member.name].load.node = member.name;
  const auto own = own_loads();
  peers_.ask_others(*view, cluster_.epoch(), ask_times,
                    [&](const Member& member, std::size_t, const auto& client, Deadline deadline) {
                      const auto reply =
                          client ? InspectionClient(**client).loads({}, {.deadline = deadline})
                                 : Result<LoadsReply>(client.error());
                      told[member.name].add(*view, reply);
                    });
  Told& its = told[cluster_.self().name];
  its.is_whole = own.has_value();
  if (own) {
    for (const LoadsReply& reply : *own) its.add(*view, reply);
  }
  std::vector<NodeLoad> loads;
  for (auto& [name, each] : told) {
    if (each.is_whole) loads.push_back(std::move(each.load));
  }
  return loads;
}

// Fails when one of the shards hangs.
Result<std::vector<LoadsReply>> Balancing::own_loads() {
  const auto loads = std::make_shared<std::vector<LoadsReply>>(shards_.count());
  const auto silent = shards_.ask_each([loads](const Shard& shard) -> Result<void> {
    (*loads)[shard.index()] = loads_of(shard);
    return {};
  });
  if (!silent) return silent.error();
  if (!silent->empty()) return Error(Code::unavailable, "a shard does not answer");
  return std::move(*loads);
}

void Balancing::balance() {
  if (!is_oldest()) return;
  const auto loads = ask_all();
  const auto view = cluster_.view();
  std::map<Placement, Pins> pins;
  for (const auto& group : view->groups()) pins[group.placement] = group.pins;
  for (const auto& [place, from, pin, cores] : choose_moves(view->members(), pins, loads)) {
    if (!is_oldest()) return;
    auto pinned =
        cluster_.pin(place.placement, place.partition, pin, Deadline::after(pin_commit_time_max));
    if (!pinned) {
      log_.warning("a partition is not moved",
                   {{"partition", place.partition}, {"error", pinned.error().to_string()}});
      return;
    }
    ++move_count_;
    if (pin) {
      log_.info(
          "a partition moves to another node",
          {{"partition", place.partition}, {"cores", cores}, {"from", from}, {"to", pin->node}});
    } else {
      log_.info("an idle partition goes back", {{"partition", place.partition}, {"from", from}});
    }
  }
}

}  // namespace corolane::framework::detail
