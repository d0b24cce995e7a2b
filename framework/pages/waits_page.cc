// SPDX-License-Identifier: MIT
// /waits: which objects and tasks wait for which.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "coroutine/base/text.h"
#include "framework/cluster/cluster.h"
#include "framework/node/detail/cluster_waits.h"
#include "framework/node/node.h"
#include "framework/pages/detail/page.h"
#include "framework/pages/detail/page_text.h"
#include "framework/pages/detail/pages.h"
#include "framework/pages/detail/silent_shards.h"
#include "framework/pages/detail/wait_drawing.h"

namespace corolane::framework::detail {
namespace {

using namespace std::chrono_literals;

// The limits for each shard.
constexpr std::size_t wait_count_max = 5'000;
constexpr std::size_t wait_count_min = 10;
// A stuck node does not answer; the others are shown without it. Of many stuck nodes the last ones
// are not even asked.
constexpr NodePeers::AskTimes ask_times = {.each = 500ms, .all = 5s};
constexpr std::size_t wait_rows_max = 1'000;
constexpr std::size_t drawn_count_max = 60;

// The page has a limit, of which each shard has a part.
WaitsRequest everything(const Node& node) {
  std::size_t shard_count = node.shard_count();
  if (node.cluster() != nullptr) {
    const auto view = node.cluster()->view();
    for (const Member& member : view->members()) {
      if (member.epoch != node.cluster()->epoch()) shard_count += member.shards.size();
    }
  }
  // Calls and locks are two kinds.
  const std::size_t part = ClusterWaits::count_max / (2 * std::max<std::size_t>(shard_count, 1));
  WaitsRequest request;
  request.set_count_max(
      static_cast<std::uint32_t>(std::clamp(part, wait_count_min, wait_count_max)));
  return request;
}

std::string_view stage_text(const ObjectWait& wait) {
  return wait.is_running() ? "runs" : "waits for its turn";
}

Json calls_json(const ClusterWaits& waits) {
  Json rows = Json::array();
  for (const auto& [node, wait] : waits.calls) {
    if (rows.size() == wait_rows_max) break;
    const std::string waiting = waiting_name(wait, node);
    rows.push_back({{"waiting", waiting.empty() ? Json() : Json(waiting)},
                    {"for", object_name(wait.type(), wait.id())},
                    {"method", wait.method()},
                    {"stage", stage_text(wait)},
                    {"seconds", static_cast<double>(wait.milliseconds()) / 1e3},
                    {"node", node},
                    {"task_there", wait.task().empty() ? Json() : Json(wait.task())}});
  }
  return rows;
}

Json locks_json(const ClusterWaits& waits) {
  Json rows = Json::array();
  for (const auto& [node, wait] : waits.locks) {
    if (rows.size() == wait_rows_max) break;
    const std::string holder = holder_name(wait, node);
    rows.push_back({{"waiting", waiting_name(wait, node)},
                    {"lock", wait.lock()},
                    {"made_at", wait.made_at()},
                    {"holder", holder.empty() ? Json("a stackless coroutine") : Json(holder)},
                    {"seconds", static_cast<double>(wait.milliseconds()) / 1e3},
                    {"node", node},
                    {"task", wait.waiting().task()}});
  }
  return rows;
}

Json tasks_json(const ClusterWaits& waits) {
  Json rows = Json::array();
  for (const auto& [node, group] : waits.tasks) {
    if (rows.size() == wait_rows_max) break;
    rows.push_back({{"what", group.what()},
                    {"made_at", group.made_at()},
                    {"kind", group.is_stackless() ? "stackless" : "task"},
                    {"count", group.count()},
                    {"seconds", static_cast<double>(group.milliseconds_max()) / 1e3},
                    {"longest", group.task_name()},
                    {"node", node}});
  }
  return rows;
}

Json waits_json(const ClusterWaits& waits, WaitGraph& graph) {
  return {{"cycles", graph.cycles()},
          {"waits", calls_json(waits)},
          {"locks", locks_json(waits)},
          {"tasks", tasks_json(waits)},
          {"count", waits.calls.size()},
          {"left_out", waits.left_out_count},
          {"nodes_without_answer", waits.silent_nodes}};
}

std::string waiting_cell(const Json& wait) {
  return wait.at("waiting").is_null() ? "outside" : cell_text(wait.at("waiting"));
}

std::string cycle_line(const Json& cycle) {
  std::string text = "cycle: ";
  for (const Json& name : cycle.elements()) text.append(escaped(name.text())).append(" -> ");
  return text.append(escaped(cycle.elements().front().text())).append("\n");
}

// What no object waits for: a table for locks, and one for the rest.
std::string other_waits_text(const Json& page) {
  std::string text;
  if (page.at("locks").size() > 0) {
    text += "\n" + table_text(page.at("locks"),
                              "WAITING: waiting, LOCK: lock, MADE AT: made_at, HELD BY: holder, "
                              "SINCE: seconds, NODE: node, TASK: task");
  }
  if (page.at("tasks").size() > 0) {
    text += "\n" + table_text(page.at("tasks"),
                              "TASKS WAIT FOR: what, MADE AT: made_at, KIND: kind, COUNT: count, "
                              "LONGEST: seconds, BY: longest, NODE: node");
  }
  return text;
}

std::string waits_text(const Json& page) {
  std::string text;
  for (const Json& cycle : page.at("cycles").elements()) text += cycle_line(cycle);
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
  return text + other_waits_text(page);
}

}  // namespace

Result<net::HttpResponse> waits_page(Node& node, const net::HttpRequest& request) {
  const WaitsRequest asked = everything(node);
  auto waits = waits_here(node, asked);
  if (!waits) return waits.error();
  add_waits_elsewhere(node, asked, ask_times, *waits);
  WaitGraph graph = graph_of(*waits);
  if (request.query("format") == "svg") {
    const std::string title =
        count_text(waits->calls.size(), "call of an object waits", "calls of objects wait") + ", " +
        count_text(graph.cycles().size(), "cycle", "cycles");
    return net::HttpResponse{.content_type = "image/svg+xml",
                             .body = drawing_of(graph, title, drawn_count_max)};
  }
  Json page = waits_json(*waits, graph);
  name_silent_shards(page, node, waits->silent_shards);
  return in_format(request, page, waits_text);
}

}  // namespace corolane::framework::detail
