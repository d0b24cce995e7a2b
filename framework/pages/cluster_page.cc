// SPDX-License-Identifier: MIT
// /cluster: all nodes of the cluster on one page, asked from any of them.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "coroutine/base/clock.h"
#include "coroutine/stack/stack_pool.h"
#include "coroutine/sync/for_each.h"
#include "coroutine/task.h"
#include "framework/admin/admin.h"
#include "framework/cluster/cluster.h"
#include "framework/node/detail/cluster_waits.h"
#include "framework/node/detail/node_history.h"
#include "framework/node/node.h"
#include "framework/pages/detail/far_page.h"
#include "framework/pages/detail/page.h"
#include "framework/pages/detail/page_text.h"
#include "framework/pages/detail/pages.h"
#include "framework/pages/detail/silent_shards.h"
#include "framework/store/detail/store_gate.h"
#include "framework/telemetry/version.h"

namespace corolane::framework::detail {
namespace {

using namespace std::chrono_literals;

// Of each node, and of the page.
constexpr std::size_t part_rows_max = 20;
constexpr std::size_t method_rows_max = 300;
constexpr std::uint32_t asked_waits_max = 200;
// Rates and latencies are those of the last seconds that the node's history has.
constexpr std::chrono::seconds recent_time(5);
constexpr std::size_t nodes_asked_at_once = 64;

// --- What a node tells of itself

// The rows of another page of this node; none when it cannot be shown.
Json page_rows(const Node& node, const std::string& page, std::string_view key) {
  auto json = Json::parse(node.admin().get(page + "?format=json").body);
  return json && json->at(key).elements().size() > 0 ? json->at(key) : Json::array();
}

Json first_of(const Json& rows, std::size_t count) {
  const auto all = rows.elements();
  Json first = Json::array();
  for (const Json& row : all.first(std::min(count, all.size()))) first.push_back(row);
  return first;
}

constexpr std::array<std::string_view, 7> recent_keys = {
    "calls_per_second", "errors_per_second", "refusals_per_second", "p99_seconds", "cpu",
    "memory_bytes",     "loop_delay_seconds"};

// The last samples of a node's history. What they do not tell is null.
class RecentSamples {
 public:
  explicit RecentSamples(const History& history)
      : history_(history), view_(history.view(recent_time, history.second_count)) {}

  Json mean(std::string_view series) const {
    const Known known = read(series);
    return known.count == 0 ? Json() : Json(rounded(known.sum / known.count, 1'000));
  }
  Json max(std::string_view series) const {
    const Known known = read(series);
    return known.count == 0 ? Json() : Json(known.max);
  }
  // Of all series with names that begin so.
  Json sum_of_means(std::string_view prefix) const {
    double sum = 0;
    bool is_known = false;
    for (const History::Series& series : history_.series()) {
      if (!series.name.starts_with(prefix)) continue;
      const Json one = mean(series.name);
      if (one.is_null()) continue;
      sum += one.number();
      is_known = true;
    }
    return is_known ? Json(rounded(sum, 1'000)) : Json();
  }

 private:
  struct Known {
    double sum = 0;
    double max = 0;
    int count = 0;
  };

  Known read(std::string_view name) const {
    Known known;
    const auto found = std::ranges::find(history_.series(), name, &History::Series::name);
    if (found == history_.series().end()) return known;
    std::vector<float> samples(view_.count);
    history_.read(static_cast<std::size_t>(found - history_.series().begin()), view_, samples);
    for (const float sample : samples) {
      if (std::isnan(sample)) continue;
      known.sum += sample;
      known.max = std::max(known.max, static_cast<double>(sample));
      ++known.count;
    }
    return known;
  }

  const History& history_;
  const History::View view_;
};

void add_recent(Json& json, const Node& node) {
  if (node.history() == nullptr) return;
  const RecentSamples recent(node.history()->history());
  json["calls_per_second"] = recent.mean("calls");
  json["errors_per_second"] = recent.mean("errors");
  json["refusals_per_second"] = recent.mean("refusals");
  json["p99_seconds"] = recent.max("call_time/p99");
  json["loop_delay_seconds"] = recent.max("loop_delay");
  if (const Json bytes = recent.max("memory"); !bytes.is_null()) {
    json["memory_bytes"] = static_cast<std::uint64_t>(bytes.number());
  }
  json["cpu"] = recent.sum_of_means("cpu/");
}

std::string state_of(const Node& node) {
  if (node.cluster() != nullptr && !node.fence().is_in_time()) return "fenced";
  if (!node.silent_shards().empty()) return "hanging";
  if (node.store_health().is_full()) return "store full";
  if (node.is_stopping()) return "draining";
  return node.is_starting() ? "starting" : "serving";
}

Json stalls_of(const Node& node) {
  Json rows = Json::array();
  const Json stalls = page_rows(node, "/stalls", "stalls");  // Outlives the views of its elements.
  for (const Json& stall : stalls.elements()) {
    if (rows.size() == part_rows_max) break;
    rows.push_back({{"shard", stall.at("shard")},
                    {"begun_at", stall.at("begun_at")},
                    {"seconds", stall.at("seconds")},
                    {"is_going_on", stall.at("is_going_on")},
                    {"object", stall.at("object")},
                    {"task", stall.at("task")}});
  }
  return rows;
}

// Those to other nodes, summed up for each.
Json connections_of(const Node& node) {
  struct Sum {
    int count = 0;
    int open_count = 0;
    double running = 0;
    double unsent_bytes = 0;
  };
  std::map<std::string, Sum> sums;
  const Json connections =
      page_rows(node, "/connections", "connections");  // Outlives the views of its elements.
  for (const Json& row : connections.elements()) {
    if (row.at("side").text() != "to node") continue;
    Sum& sum = sums[std::string(row.at("identity").text())];
    ++sum.count;
    sum.open_count += row.at("is_open").is_true() ? 1 : 0;
    sum.running += row.at("running").number();
    sum.unsent_bytes += row.at("unsent_bytes").number();
  }
  Json rows = Json::array();
  for (const auto& [to, sum] : sums) {
    rows.push_back({{"to", to},
                    {"connections", sum.count},
                    {"open", sum.open_count},
                    {"running", sum.running},
                    {"unsent_bytes", sum.unsent_bytes}});
  }
  return rows;
}

Json waits_of_node(Node& node) {
  WaitsRequest request;
  request.set_count_max(asked_waits_max);
  request.set_calls_only(true);
  const auto waits = waits_here(node, request);
  Json rows = Json::array();
  if (!waits) return rows;
  for (const auto& [name, wait] : waits->calls) {
    if (rows.size() == part_rows_max) break;
    const std::string waiting = waiting_name(wait, name);
    rows.push_back({{"waiting", waiting.empty() ? "outside" : waiting},
                    {"for", object_name(wait.type(), wait.id())},
                    {"method", wait.method()},
                    {"stage", wait.is_running() ? "runs" : "waits for its turn"},
                    {"seconds", static_cast<double>(wait.milliseconds()) / 1e3}});
  }
  return rows;
}

Json self_json(Node& node) {
  Json json = {{"name", node.config().name},
               {"state", state_of(node)},
               {"version", version()},
               {"address", to_string(node.endpoints().clients)},
               {"admin", to_string(node.endpoints().admin)},
               {"uptime_seconds", in_seconds(now() - node.created_at())},
               {"shards", node.shard_count()},
               {"types", page_rows(node, "/objects", "types")},
               {"methods", first_of(page_rows(node, "/methods", "methods"), method_rows_max)},
               {"slowest", first_of(page_rows(node, "/slow", "slowest"), part_rows_max)},
               {"waits", waits_of_node(node)},
               {"stalls", stalls_of(node)},
               {"connections", connections_of(node)}};
  add_recent(json, node);
  name_silent_shards(json, node, node.silent_shards());
  return json;
}

// --- All nodes

struct Asked {
  const Member* member = nullptr;  // Null: this node.
  Result<Json> answer = Error(Code::deadline_exceeded, "not asked");
};

std::vector<Asked> ask_whole_cluster(Node& node, const ClusterView* view) {
  std::vector<Asked> all(1);
  if (view != nullptr) {
    for (const Member& member : view->members()) {
      if (member.epoch != node.cluster()->epoch()) all.push_back({.member = &member});
    }
  }
  static_cast<void>(coroutine::for_each(
      all,
      {.concurrency = nodes_asked_at_once,
       .name = "ask a node",
       .task = {.stack_size_bytes = 128 * 1024, .purpose = coroutine::StackPool::Purpose::control}},
      [&](Asked& asked) {
        asked.answer = asked.member == nullptr
                           ? Result<Json>(self_json(node))
                           : far_page(node, *asked.member, "/cluster?of=node&format=json");
      },
      Deadline::after(5s)));
  std::ranges::sort(all, {}, [&node](const Asked& asked) {
    return asked.member == nullptr ? node.config().name : asked.member->name;
  });
  return all;
}

// Whatever a node answers.
std::uint64_t whole_number(double number) {
  return static_cast<std::uint64_t>(std::clamp(number, 0.0, 1e18));
}

std::string note_of(const Json& answer) {
  std::string text;
  for (const Json& shard : answer.at("silent_shards").elements()) {
    text.append(text.empty() ? "" : "; ").append(shard.at("text").text());
  }
  return text;
}

Json member_json(const Asked& asked) {
  const Member* const member = asked.member;
  if (!asked.answer) {
    return {{"name", member == nullptr ? std::string() : member->name},
            {"state", "not answering"},
            {"version", member == nullptr ? std::string() : member->version},
            {"shards", member == nullptr ? std::size_t{0} : member->shards.size()},
            {"note", no_answer_text(asked.answer.error())}};
  }
  const Json& answer = *asked.answer;
  const bool drains = member != nullptr && member->is_draining;
  std::uint64_t active = 0;
  for (const Json& type : answer.at("types").elements()) {
    active += whole_number(type.at("active").number());
  }
  Json json = {{"name", answer.at("name")},
               {"state", drains && answer.at("state").text() == "serving" ? Json("draining")
                                                                          : answer.at("state")},
               {"version", answer.at("version")},
               {"address", answer.at("address")},
               {"admin", answer.at("admin")},
               {"uptime_seconds", answer.at("uptime_seconds")},
               {"shards", answer.at("shards")},
               {"objects", active},
               {"note", note_of(answer)}};
  for (const std::string_view key : recent_keys) json[key] = answer.at(key);
  return json;
}

// The rows of all nodes with the names of those, the largest first.
Json all_rows(const std::vector<Asked>& all, std::string_view part, std::string_view order,
              std::size_t count_max) {
  std::vector<Json> rows;
  for (const Asked& asked : all) {
    if (!asked.answer) continue;
    for (Json row : asked.answer->at(part).elements()) {
      if (!row.is_object()) continue;  // A node of another build, or one that is confused.
      row["node"] = asked.answer->at("name");
      rows.push_back(std::move(row));
    }
  }
  std::ranges::stable_sort(rows, std::greater{},
                           [order](const Json& row) { return row.at(order).number(); });
  if (rows.size() > count_max) rows.resize(count_max);
  return rows;
}

// Those of one method on all nodes together.
Json method_rows(const std::vector<Asked>& all) {
  constexpr std::array<std::string_view, 4> sums = {"calls", "running", "errors", "refusals"};
  std::map<std::pair<std::string, std::string>, std::pair<Json, int>> methods;
  for (const Asked& asked : all) {
    if (!asked.answer) continue;
    for (const Json& row : asked.answer->at("methods").elements()) {
      auto& [sum, node_count] =
          methods[{std::string(row.at("method").text()), std::string(row.at("kind").text())}];
      if (sum.is_null()) sum = {{"method", row.at("method")}, {"kind", row.at("kind")}};
      for (const std::string_view key : sums) {
        sum[key] = whole_number(sum.at(key).number() + row.at(key).number());
      }
      // The slowest node's.
      Json& p99 = sum["p99_seconds_max"];
      const Json& own = row.at("p99_seconds");
      if (!own.is_null() && (p99.is_null() || own.number() > p99.number())) p99 = own;
      ++node_count;
    }
  }
  std::vector<Json> rows;
  for (auto& [key, method] : methods) {
    method.first["nodes"] = method.second;
    rows.push_back(std::move(method.first));
  }
  std::ranges::stable_sort(rows, std::greater{},
                           [](const Json& row) { return row.at("calls").number(); });
  if (rows.size() > method_rows_max) rows.resize(method_rows_max);
  return rows;
}

Json whole_cluster_json(Node& node) {
  const auto view = node.cluster() == nullptr ? nullptr : node.cluster()->view();
  const auto all = ask_whole_cluster(node, view.get());
  Json members = Json::array();
  for (const Asked& asked : all) members.push_back(member_json(asked));
  return {{"asked", node.config().name},
          {"members", std::move(members)},
          {"types", all_rows(all, "types", "active", method_rows_max)},
          {"methods", method_rows(all)},
          {"slowest", all_rows(all, "slowest", "took_seconds", part_rows_max)},
          {"waits", all_rows(all, "waits", "seconds", part_rows_max)},
          {"stalls", all_rows(all, "stalls", "seconds", part_rows_max)},
          {"connections", all_rows(all, "connections", "unsent_bytes", method_rows_max)}};
}

// --- Text

std::string part_text(const Json& rows, std::string_view legend) {
  return rows.size() == 0 ? std::string() : "\n" + table_text(rows, legend);
}

std::string whole_cluster_text(const Json& page) {
  return table_text(page.at("members"),
                    "MEMBER: name, STATE: state, VERSION: version, ADDRESS: address, "
                    "ADMIN: admin, UPTIME: uptime_seconds, SHARDS: shards, OBJECTS: objects, "
                    "CALLS/S: calls_per_second, ERRORS/S: errors_per_second, "
                    "REFUSALS/S: refusals_per_second, P99: p99_seconds, CPU: cpu, "
                    "MEMORY: memory_bytes, LOOP DELAY: loop_delay_seconds, NOTE: note") +
         part_text(page.at("types"),
                   "TYPE: type, NODE: node, ACTIVE: active, BYTES: memory_bytes, "
                   "UNSAVED: unsaved, CALLS: calls, REFUSED: refused, PARTITIONS: partitions") +
         part_text(page.at("methods"),
                   "METHOD: method, OF: kind, NODES: nodes, CALLS: calls, RUNNING: running, "
                   "ERRORS: errors, REFUSALS: refusals, WORST P99 US: p99_seconds_max") +
         part_text(page.at("waits"),
                   "WAITING: waiting, FOR: for, METHOD: method, WHICH: stage, SINCE: seconds, "
                   "NODE: node") +
         part_text(page.at("slowest"),
                   "SLOWEST: method, OBJECT: object, NODE: node, TOOK: took_seconds, "
                   "QUEUE: queue_seconds, RUN: run_seconds, AT: at, CALLER: caller, "
                   "OUTCOME: code") +
         part_text(page.at("stalls"),
                   "STALLED: node, SHARD: shard, FOR: seconds, BEGUN AT: begun_at, "
                   "GOES ON: is_going_on, OBJECT: object, TASK: task") +
         part_text(page.at("connections"),
                   "FROM: node, TO: to, CONNECTIONS: connections, OPEN: open, RUNNING: running, "
                   "UNSENT: unsent_bytes");
}

}  // namespace

Result<net::HttpResponse> cluster_page(Node& node, const net::HttpRequest& request) {
  if (request.query("of") == "node") return json_response(self_json(node));
  return in_format(request, whole_cluster_json(node), whole_cluster_text);
}

}  // namespace corolane::framework::detail
