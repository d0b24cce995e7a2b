// SPDX-License-Identifier: MIT
#include "framework/node/detail/cluster_waits.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <utility>

#include "coroutine/base/text.h"
#include "coroutine/task.h"
#include "framework/cluster/cluster.h"
#include "framework/node/detail/object_waits.h"
#include "framework/node/each_shard.h"
#include "framework/node/inspection.corolane.h"

namespace corolane::framework::detail {
namespace {

// The loop is held for that many waits.
constexpr std::size_t edges_between_yields = 1'000;

void add(const std::string& node, const WaitsReply& reply, ClusterWaits& waits) {
  const auto add_all = [&](const auto& added, auto& all) {
    for (const auto& wait : added) {
      if (waits.size() < ClusterWaits::count_max) {
        all.push_back({node, wait});
      } else {
        ++waits.left_out_count;
      }
    }
  };
  add_all(reply.waits(), waits.calls);
  add_all(reply.locks(), waits.locks);
  add_all(reply.tasks(), waits.tasks);
  waits.left_out_count += reply.left_out_count();
}

void sort(ClusterWaits& waits) {
  std::ranges::stable_sort(waits.calls, std::greater{},
                           [](const auto& call) { return call.wait.milliseconds(); });
  std::ranges::stable_sort(waits.locks, std::greater{},
                           [](const auto& lock) { return lock.wait.milliseconds(); });
  std::ranges::stable_sort(waits.tasks, std::greater{},
                           [](const auto& group) { return group.wait.milliseconds_max(); });
}

Result<WaitsReply> ask(const Result<std::shared_ptr<rpc::Client>>& client,
                       const WaitsRequest& request, Deadline deadline) {
  if (!client) return client.error();
  return InspectionClient(**client).waits(request, {.deadline = deadline});
}

std::string task_name(std::string_view task, std::string_view name, const std::string& node) {
  if (task.empty()) return {};
  return "task " + std::string(task) + " " + quote(name) + " on " + node;
}

// Both work for one object, which does not wait for itself.
bool are_apart(const WaitParty& waiting, const WaitParty& holder) {
  return waiting.type() == holder.type() && waiting.id() == holder.id() &&
         waiting.task() != holder.task();
}

std::string name_of(const WaitParty& party, const LockWait& wait, const std::string& node) {
  const bool is_object = !party.type().empty() && !are_apart(wait.waiting(), wait.holder());
  return is_object ? object_name(party.type(), party.id())
                   : task_name(party.task(), party.task_name(), node);
}

std::string seconds_text(std::uint64_t milliseconds) {
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "%.1f s", static_cast<double>(milliseconds) / 1e3);
  return text.data();
}

}  // namespace

Result<ClusterWaits> waits_here(Node& node, const WaitsRequest& request) {
  auto shards =
      from_each_shard(node, [request](const Shard& shard) { return waits_of(shard, request); });
  if (!shards) return shards.error();
  ClusterWaits waits;
  for (const WaitsReply& shard : shards->parts) add(node.config().name, shard, waits);
  waits.silent_shards = std::move(shards->silent);
  sort(waits);
  return waits;
}

void add_waits_elsewhere(Node& node, const WaitsRequest& request, const NodePeers::AskTimes& times,
                         ClusterWaits& waits) {
  if (node.cluster() == nullptr) return;
  const auto view = node.cluster()->view();
  node.peers().ask_others(
      *view, node.cluster()->epoch(), times,
      [&](const Member& member, std::size_t shard, const auto& client, Deadline deadline) {
        const auto reply = ask(client, request, deadline);
        if (reply) return add(member.name, *reply, waits);
        waits.silent_nodes.insert(member.name + ", shard " + std::to_string(shard) + ": " +
                                  reply.error().to_string());
      });
  sort(waits);
}

std::string object_name(std::string_view type, std::string_view id) {
  return std::string(type) + "(" + quote(id) + ")";
}

std::string waiting_name(const ObjectWait& wait, const std::string& node) {
  if (!wait.from_type().empty()) return object_name(wait.from_type(), wait.from_id());
  return task_name(wait.from_task(), wait.from_task_name(), node);
}

std::string waiting_name(const LockWait& wait, const std::string& node) {
  return name_of(wait.waiting(), wait, node);
}

std::string holder_name(const LockWait& wait, const std::string& node) {
  return wait.has_holder() ? name_of(wait.holder(), wait, node) : std::string();
}

WaitGraph graph_of(const ClusterWaits& waits) {
  WaitGraph graph;
  std::size_t edge_count = 0;
  const auto rest = [&edge_count] {
    if (++edge_count % edges_between_yields == 0) static_cast<void>(coroutine::yield());
  };
  for (const auto& [node, wait] : waits.calls) {
    const std::string waiting = waiting_name(wait, node);
    if (waiting.empty()) continue;
    const char* const stage = wait.is_running() ? " runs" : " waits for its turn";
    const std::string since =
        wait.milliseconds() == 0 ? "" : ", for " + seconds_text(wait.milliseconds());
    graph.add(waiting, object_name(wait.type(), wait.id()),
              wait.method() + stage + " on " + node + since);
    rest();
  }
  for (const auto& [node, wait] : waits.locks) {
    const std::string holder = holder_name(wait, node);
    if (holder.empty()) continue;
    graph.add(waiting_name(wait, node), holder,
              wait.lock() + " made at " + wait.made_at() + " on " + node + ", for " +
                  seconds_text(wait.milliseconds()));
    rest();
  }
  return graph;
}

std::string cycle_text(const std::vector<std::string>& cycle) {
  std::string text;
  for (const std::string& name : cycle) text.append(name).append(" -> ");
  return text.append(cycle.front());
}

}  // namespace corolane::framework::detail
