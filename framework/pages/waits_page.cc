// SPDX-License-Identifier: MIT
// /waits: which objects wait for which.
#include <algorithm>
#include <chrono>
#include <memory>
#include <set>
#include <string_view>
#include <utility>

#include "coroutine/base/text.h"
#include "framework/cluster/cluster.h"
#include "framework/node/detail/node_peers.h"
#include "framework/node/detail/object_waits.h"
#include "framework/node/each_shard.h"
#include "framework/node/inspection.corolane.h"
#include "framework/pages/detail/page.h"
#include "framework/pages/detail/page_text.h"
#include "framework/pages/detail/pages.h"
#include "framework/pages/detail/silent_shards.h"
#include "framework/pages/detail/wait_graph.h"

namespace corolane::framework::detail {
namespace {

using namespace std::chrono_literals;

// The limit for each shard.
constexpr std::uint32_t wait_count_max = 5'000;
// A stuck node does not answer; the others are shown without it. Of many stuck nodes the last ones
// are not even asked.
constexpr NodePeers::AskTimes ask_times = {.each = 2s, .all = 5s};
constexpr std::size_t wait_rows_max = 1'000;
constexpr std::size_t drawn_count_max = 60;

struct NodeWait {
  std::string node;
  ObjectWait wait;
};

struct Waits {
  std::vector<NodeWait> all;
  std::size_t left_out_count = 0;
  std::set<std::string> silent_nodes;
  std::vector<ShardSilence> silent_shards;  // Of this node.

  void add(const std::string& node, const WaitsReply& reply) {
    for (const ObjectWait& wait : reply.waits()) all.push_back({node, wait});
    left_out_count += reply.left_out_count();
  }
};

// --- From where they come

Result<WaitsReply> ask(rpc::Client& client, Deadline deadline) {
  WaitsRequest request;
  request.set_count_max(wait_count_max);
  return InspectionClient(client).waits(request, {.deadline = deadline});
}

void ask_others(Node& node, Waits& waits) {
  if (node.cluster() == nullptr) return;
  const auto view = node.cluster()->view();
  node.peers().ask_others(
      *view, node.cluster()->epoch(), ask_times,
      [&waits](const Member& member, std::size_t shard, const auto& client, Deadline deadline) {
        const auto reply = client ? ask(**client, deadline) : Result<WaitsReply>(client.error());
        if (reply) {
          waits.add(member.name, *reply);
        } else {
          waits.silent_nodes.insert(member.name + ", shard " + std::to_string(shard) + ": " +
                                    reply.error().to_string());
        }
      });
}

Result<Waits> gather(Node& node) {
  auto shards =
      from_each_shard(node, [](const Shard& shard) { return waits_of(shard, wait_count_max); });
  if (!shards) return shards.error();
  Waits waits;
  for (const WaitsReply& shard : shards->parts) waits.add(node.config().name, shard);
  waits.silent_shards = std::move(shards->silent);
  ask_others(node, waits);
  std::ranges::stable_sort(waits.all, std::greater{},
                           [](const NodeWait& wait) { return wait.wait.milliseconds(); });
  return waits;
}

// --- What they come to

std::string object_name(std::string_view type, std::string_view id) {
  return std::string(type) + "(" + quote(id) + ")";
}

std::string waiting_name(const ObjectWait& wait) {
  return wait.from_type().empty() ? std::string() : object_name(wait.from_type(), wait.from_id());
}

std::string awaited_name(const ObjectWait& wait) { return object_name(wait.type(), wait.id()); }

std::string_view stage_text(const ObjectWait& wait) {
  return wait.is_running() ? "runs" : "waits for its turn";
}

WaitGraph graph_of(const Waits& waits) {
  WaitGraph graph;
  for (const auto& [node, wait] : waits.all) {
    if (wait.from_type().empty()) continue;
    graph.add(waiting_name(wait), awaited_name(wait),
              wait.method() + " " + std::string(stage_text(wait)) + " on " + node + " for " +
                  seconds_text(std::chrono::milliseconds(wait.milliseconds())));
  }
  return graph;
}

Json waits_json(const Waits& waits, WaitGraph& graph) {
  Json rows = Json::array();
  for (const auto& [node, wait] : waits.all) {
    if (rows.size() == wait_rows_max) break;
    rows.push_back({{"waiting", wait.from_type().empty() ? Json() : Json(waiting_name(wait))},
                    {"for", awaited_name(wait)},
                    {"method", wait.method()},
                    {"stage", stage_text(wait)},
                    {"seconds", static_cast<double>(wait.milliseconds()) / 1e3},
                    {"node", node},
                    {"task_there", wait.task().empty() ? Json() : Json(wait.task())}});
  }
  return {{"cycles", graph.cycles()},
          {"waits", std::move(rows)},
          {"count", waits.all.size()},
          {"left_out", waits.left_out_count},
          {"nodes_without_answer", waits.silent_nodes}};
}

std::string waiting_cell(const Json& wait) {
  return wait.at("waiting").is_null() ? "outside" : cell_text(wait.at("waiting"));
}

std::string cycle_text(const Json& cycle) {
  std::string text = "cycle: ";
  for (const Json& name : cycle.elements()) text.append(name.text()).append(" -> ");
  return text.append(cycle.elements().front().text()).append("\n");
}

std::string waits_text(const Json& page) {
  std::string text;
  for (const Json& cycle : page.at("cycles").elements()) text += cycle_text(cycle);
  text += table_text(page.at("waits"),
                     "WAITING: waiting, FOR: for, METHOD: method, WHICH: stage, SINCE: seconds, "
                     "NODE: node, TASK THERE: task_there",
                     {{"waiting", waiting_cell}});
  const Json& count = page.at("count");
  text += count_text(count, "call of an object waits", "calls of objects wait");
  if (count.number() > wait_rows_max) text += ", the longest shown";
  const Json& left_out = page.at("left_out");
  if (left_out.number() > 0)
    text += "; " + count_text(left_out, "more was", "more were") + " left out";
  text += "; " + count_text(page.at("cycles").size(), "cycle", "cycles") + "\n";
  for (const Json& node : page.at("nodes_without_answer").elements()) {
    text.append("no answer from node ").append(cell_text(node)).append("\n");
  }
  return text;
}

}  // namespace

Result<net::HttpResponse> waits_page(Node& node, const net::HttpRequest& request) {
  const auto waits = gather(node);
  if (!waits) return waits.error();
  WaitGraph graph = graph_of(*waits);
  if (request.query("format") == "svg") {
    const std::string title = std::to_string(waits->all.size()) + " calls of objects wait, " +
                              std::to_string(graph.cycles().size()) + " cycles";
    return net::HttpResponse{.content_type = "image/svg+xml",
                             .body = graph.svg(title, drawn_count_max)};
  }
  Json page = waits_json(*waits, graph);
  name_silent_shards(page, node, waits->silent_shards);
  return in_format(request, page, waits_text);
}

}  // namespace corolane::framework::detail
