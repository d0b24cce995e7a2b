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
#include "framework/node/detail/object_loads.h"
#include "framework/node/detail/shard_set.h"
#include "framework/node/inspection.corolane.h"
#include "framework/routing/detail/object_router.h"

namespace corolane::framework::detail {
namespace {

using namespace std::chrono_literals;

// A node that does not answer in this time takes no part.
constexpr Duration load_answer_time_max = 5s;
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
  coroutine::TaskGroup asking;
  for (const Member& member : view->members()) {
    Told& its = told[member.name];
    its.load.node = member.name;
    if (member.epoch == cluster_.epoch()) continue;
    for (std::size_t shard = 0; shard < member.shards.size(); ++shard) {
      auto spawned = asking.spawn(
          "ask for loads",
          [&, shard] {
            const auto client = router_.client_of(member, shard);
            its.add(*view, InspectionClient(*client).loads(
                               {}, {.deadline = Deadline::after(load_answer_time_max)}));
          },
          control);
      if (!spawned) its.is_whole = false;
    }
  }
  std::vector<std::optional<LoadsReply>> own(shards_.count());
  auto looked = shards_.on_each([&](Shard& shard) -> Result<void> {
    own[shard.index()] = loads_of(shard);
    return {};
  });
  static_cast<void>(asking.join(Deadline::never()));
  Told& its = told[cluster_.self().name];
  its.is_whole = looked.has_value();
  for (const auto& reply : own) {
    if (reply) its.add(*view, *reply);
  }
  std::vector<NodeLoad> loads;
  for (auto& [name, each] : told) {
    if (each.is_whole) loads.push_back(std::move(each.load));
  }
  return loads;
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
