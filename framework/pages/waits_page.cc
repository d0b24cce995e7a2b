// /waits: which objects wait for which.
#include <algorithm>
#include <chrono>
#include <memory>
#include <set>
#include <string_view>
#include <utility>

#include "coroutine/base/text.h"
#include "coroutine/task_group.h"
#include "framework/cluster/cluster.h"
#include "framework/node/detail/object_waits.h"
#include "framework/node/each_shard.h"
#include "framework/node/inspection.corolane.h"
#include "framework/pages/detail/page.h"
#include "framework/pages/detail/pages.h"
#include "framework/pages/detail/wait_graph.h"
#include "framework/routing/detail/object_router.h"

namespace corolane::framework::detail {
namespace {

using namespace std::chrono_literals;

// The limit for each shard.
constexpr std::uint32_t wait_count_max = 5'000;
// A stuck node does not answer; the others are shown without it.
constexpr Duration answer_time_max = 2s;
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

  void add(const std::string& node, const WaitsReply& reply) {
    for (const ObjectWait& wait : reply.waits()) all.push_back({node, wait});
    left_out_count += reply.left_out_count();
  }
};

// --- From where they come

void ask(Node& node, const Member& member, std::size_t shard, Waits& waits) {
  WaitsRequest request;
  request.set_count_max(wait_count_max);
  const auto client = node.object_router().client_of(member, shard);
  const auto reply =
      InspectionClient(*client).waits(request, {.deadline = Deadline::after(answer_time_max)});
  if (reply) {
    waits.add(member.name, *reply);
  } else {
    waits.silent_nodes.insert(member.name + ": " + reply.error().to_string());
  }
}

void ask_others(Node& node, Waits& waits) {
  if (node.cluster() == nullptr) return;
  const auto view = node.cluster()->view();
  coroutine::TaskGroup asking;
  for (const Member& member : view->members()) {
    if (member.epoch == node.cluster()->self().epoch) continue;
    for (std::size_t shard = 0; shard < member.shards.size(); ++shard) {
      auto spawned = asking.spawn(
          "ask who waits", [&node, &member, shard, &waits] { ask(node, member, shard, waits); },
          {.purpose = coroutine::StackPool::Purpose::control});
      if (!spawned) waits.silent_nodes.insert(member.name + ": " + spawned.error().to_string());
    }
  }
  // A cancelled page does not wait for the answers.
  static_cast<void>(asking.join());
}

Result<Waits> gather(Node& node) {
  auto shards =
      from_each_shard(node, [](const Shard& shard) { return waits_of(shard, wait_count_max); });
  if (!shards) return shards.error();
  Waits waits;
  for (const WaitsReply& shard : *shards) waits.add(node.config().name, shard);
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

Json as_json(const Waits& waits, WaitGraph& graph) {
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

std::string cycle_text(const std::vector<std::string>& cycle) {
  std::string text = "cycle: ";
  for (const std::string& name : cycle) text.append(name).append(" -> ");
  return text + cycle.front() + "\n";
}

std::string as_text(const Waits& waits, WaitGraph& graph) {
  std::string text;
  for (const auto& cycle : graph.cycles()) text += cycle_text(cycle);
  std::vector<Row<7>> rows = {{"WAITING", "FOR", "METHOD", "WHICH", "SINCE", "NODE", "TASK THERE"}};
  for (const auto& [node, wait] : waits.all) {
    if (rows.size() > wait_rows_max) break;
    rows.push_back({wait.from_type().empty() ? "outside" : waiting_name(wait), awaited_name(wait),
                    wait.method(), std::string(stage_text(wait)),
                    seconds_text(std::chrono::milliseconds(wait.milliseconds())), escaped(node),
                    wait.task().empty() ? "-" : wait.task()});
  }
  text += table_text(rows) + std::to_string(waits.all.size()) + " calls of objects wait";
  if (waits.all.size() > wait_rows_max) text += ", the longest shown";
  if (waits.left_out_count > 0) {
    text += "; " + std::to_string(waits.left_out_count) + " more were left out";
  }
  text += "; " + std::to_string(graph.cycles().size()) + " cycles\n";
  for (const std::string& node : waits.silent_nodes) text += "no answer from node " + node + "\n";
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
  return in_format(
      request, [&] { return json_response(as_json(*waits, graph)); },
      [&] { return net::HttpResponse{.body = as_text(*waits, graph)}; });
}

}  // namespace corolane::framework::detail
