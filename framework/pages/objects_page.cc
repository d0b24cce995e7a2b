// SPDX-License-Identifier: MIT
// /objects: the hosted types and the cluster; /objects?type=: the active objects of a type.
#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "coroutine/base/text.h"
#include "coroutine/task.h"
#include "framework/cluster/cluster.h"
#include "framework/node/each_shard.h"
#include "framework/objects/detail/object_host.h"
#include "framework/pages/detail/busy_partitions.h"
#include "framework/pages/detail/page.h"
#include "framework/pages/detail/page_text.h"
#include "framework/pages/detail/pages.h"
#include "framework/pages/detail/silent_shards.h"
#include "net/http/percents.h"

namespace corolane::framework::detail {
namespace {

// --- The types that a node knows: those that it hosts, and those of other nodes

std::string list_of(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text.append(text.empty() ? "" : ", ").append(name);
  return text;
}

// The names, sorted.
std::vector<std::string> object_types(const Node& node) {
  std::set<std::string> names;
  for (const HostedObjects& hosted : node.hosted()) names.insert(hosted.type.name);
  if (node.cluster() != nullptr) {
    for (const Member& member : node.cluster()->view()->members()) {
      for (const auto& group : member.groups) names.insert(group.types.begin(), group.types.end());
    }
  }
  return {names.begin(), names.end()};
}

// --- The objects of a type

// A longer page would not be read, and building it would delay calls.
constexpr std::size_t object_rows_max = 1'000;
// Objects are visited in parts, and calls run between them.
constexpr std::size_t objects_per_part = 1'000;

struct ObjectRow {
  std::string id;
  bool is_active = false;
  Duration age{};
  std::size_t waiting_count = 0;
  std::size_t memory_bytes = 0;
  Duration cpu{};
  std::string running;  // The earliest call that has a turn.
  coroutine::TaskAddress task = {};
};

struct Objects {
  std::size_t count = 0;
  std::vector<ObjectRow> rows;
};

// The most waiting calls come first; among equals the smaller id.
bool is_listed_before(const ObjectRow& left, const ObjectRow& right) {
  if (left.waiting_count != right.waiting_count) return left.waiting_count > right.waiting_count;
  return left.id < right.id;
}

ObjectRow row_of(const ObjectCell& cell, const Shard& shard) {
  ObjectRow row{.id = cell.id(),
                .is_active = cell.is_active(),
                .memory_bytes = cell.size_bytes(),
                .cpu = cell.cpu.sum(),
                .running = {}};
  if (row.is_active) row.age = shard.scheduler().turn_time() - cell.active_since();
  for (const auto* visitor = cell.visitors(); visitor != nullptr; visitor = visitor->next()) {
    if (visitor->stage() == ObjectVisitor::Stage::waiting) ++row.waiting_count;
    if (visitor->stage() != ObjectVisitor::Stage::inside) continue;
    row.running = visitor->facts().what;
    row.task = {.scheduler = static_cast<std::uint32_t>(shard.index()), .id = visitor->task()};
  }
  return row;
}

// Keeps the first rows, in any order, at most twice as many as are shown.
void add(Objects& objects, ObjectRow row) {
  ++objects.count;
  objects.rows.push_back(std::move(row));
  if (objects.rows.size() < 2 * object_rows_max) return;
  std::ranges::nth_element(objects.rows, objects.rows.begin() + object_rows_max, is_listed_before);
  objects.rows.resize(object_rows_max);
}

// Objects come and go between the parts; none is visited twice.
Objects objects_of(const Shard& shard, std::string_view type) {
  Objects objects;
  const HostedType* const hosted =
      shard.host() == nullptr ? nullptr : shard.host()->find_type(type);
  if (hosted == nullptr) return objects;
  std::size_t looked_at = 0;
  for (std::size_t i = 0; i < hosted->ownership().partition_count(); ++i) {
    const auto& cells = hosted->of_partition(static_cast<Partition>(i));
    for (const ObjectCell* const cell : cells) add(objects, row_of(*cell, shard));
    looked_at += cells.size();
    if (looked_at < objects_per_part) continue;
    looked_at = 0;
    if (!coroutine::yield()) break;
  }
  return objects;
}

Objects merged(std::vector<Objects> shards) {
  Objects all;
  for (Objects& shard : shards) {
    all.count += shard.count;
    std::ranges::move(shard.rows, std::back_inserter(all.rows));
  }
  std::ranges::sort(all.rows, is_listed_before);
  if (all.rows.size() > object_rows_max) all.rows.resize(object_rows_max);
  return all;
}

Json object_list_json(const std::string& type, const Objects& objects) {
  Json rows = Json::array();
  for (const ObjectRow& row : objects.rows) {
    rows.push_back({{"id", row.id},
                    {"waiting", row.waiting_count},
                    {"running", row.running},
                    {"task", row.task.id == 0 ? Json() : address_json(row.task)},
                    {"is_active", row.is_active},
                    {"seconds", in_seconds(row.age)},
                    {"memory_bytes", row.memory_bytes},
                    {"cpu_seconds", in_seconds(row.cpu)},
                    {"type", type}});
  }
  return {{"type", type}, {"count", objects.count}, {"objects", std::move(rows)}};
}

std::string activity_cell(const Json& object) {
  return object.at("is_active").is_true() ? seconds_text(object.at("seconds")) : "not active";
}

std::string object_list_text(const Json& page) {
  return table_text(page.at("objects"),
                    "ID: id, WAITING: waiting, RUNS: running, TASK: task, ACTIVE FOR: seconds, "
                    "BYTES: memory_bytes, CPU: cpu_seconds",
                    {{"seconds", activity_cell}}) +
         total_text(page, "objects", "with the most calls waiting");
}

// `text` is the type as the request names it.
Result<net::HttpResponse> object_list_page(Node& node, const net::HttpRequest& request,
                                           std::string_view text) {
  std::string wanted;
  if (!net::read_percents(text, ' ', wanted)) {
    return bad_query(Error(Code::invalid_argument, "type is percent-encoded, with %25 for a %"));
  }
  const auto found = find_object_type(node, wanted);
  if (!found) {
    auto response = bad_query(found.error());
    if (found.error().code() == Code::not_found) response.status = 404;
    return response;
  }
  auto shards = from_each_shard(
      node, [type = *found](const Shard& shard) { return objects_of(shard, type); });
  if (!shards) return shards.error();
  Json page = object_list_json(*found, merged(std::move(shards->parts)));
  name_silent_shards(page, node, shards->silent);
  return in_format(request, page, object_list_text);
}

// --- What the node hosts

struct TypeRow {
  std::string_view name;
  ObjectStatistics statistics;
  std::size_t owned_count = 0;  // Partitions, for the whole node.
};

std::vector<TypeRow> types_of(const Shard& shard) {
  std::vector<TypeRow> rows;
  if (shard.host() == nullptr) return rows;
  for (const auto& type : shard.host()->types()) {
    rows.push_back({.name = type->name(),
                    .statistics = type->statistics(),
                    .owned_count = type->ownership().owned_count()});
  }
  return rows;
}

// All shards have the same types.
void add_types(std::vector<TypeRow>& sum, const std::vector<TypeRow>& more) {
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i].statistics.add(more[i].statistics);
}

Json types_json(const std::vector<TypeRow>& types) {
  Json rows = Json::array();
  for (const auto& [name, statistics, owned_count] : types) {
    rows.push_back({{"type", name},
                    {"active", statistics.active_count},
                    {"memory_bytes", statistics.memory_bytes},
                    {"unsaved", statistics.unsaved_count},
                    {"calls", statistics.call_count},
                    {"refused", statistics.refused_count},
                    {"moved", statistics.moved_count},
                    {"activations", statistics.activation_count},
                    {"deactivations", statistics.deactivation_count},
                    {"saves", statistics.save_count},
                    {"failed_saves", statistics.failed_save_count},
                    {"partitions", owned_count}});
  }
  return rows;
}

// --- The cluster

// The number of partitions of one placement that a member owns.
struct Share {
  const Placement& placement;
  std::size_t owned_count;
};

// The shares of a member; null counts partitions without an owner.
std::vector<Share> shares_of(const ClusterView& view, const Member* member) {
  std::vector<Share> shares;
  for (const ClusterView::Group& group : view.groups()) {
    const auto count = std::ranges::count(group.owners, member, &ClusterView::Owner::member);
    if (count > 0) shares.push_back({group.placement, static_cast<std::size_t>(count)});
  }
  return shares;
}

Json shares_json(const std::vector<Share>& shares) {
  Json rows = Json::array();
  for (const auto& [placement, owned_count] : shares) {
    rows.push_back(
        {{"zone", placement.zone}, {"role", placement.role}, {"partitions", owned_count}});
  }
  return rows;
}

Json cluster_json(const Cluster& cluster, const Fence& fence) {
  const ClusterView& view = *cluster.view();
  Json members = Json::array();
  for (const Member& member : view.members()) {
    members.push_back({{"name", member.name},
                       {"epoch", member.epoch},
                       {"incarnation", member.incarnation},
                       {"version", member.version},
                       {"zone", member.zone},
                       {"roles", member.roles},
                       {"shards", member.shards.size()},
                       {"weight", member.weight},
                       {"draining", member.is_draining},
                       {"owns", shares_json(shares_of(view, &member))}});
  }
  return {{"name", cluster.self().name},
          {"epoch", cluster.epoch()},
          {"incarnation", cluster.self().incarnation},
          {"fence_seconds", fence.is_never() ? Json() : Json(in_seconds(fence.time_left()))},
          {"members", std::move(members)},
          {"nobody_owns", shares_json(shares_of(view, nullptr))}};
}

// --- As text

// "512", or "512 of zone eu, 100 of role arena".
std::string shares_text(const Json& shares) {
  std::string text;
  for (const Json& share : shares.elements()) {
    const Json& zone = share.at("zone");
    const Json& role = share.at("role");
    text.append(text.empty() ? "" : ", ").append(cell_text(share.at("partitions")));
    if (!zone.text().empty() || !role.text().empty()) text.append(" of");
    if (!zone.text().empty()) text.append(" zone ").append(cell_text(zone));
    if (!role.text().empty()) text.append(" role ").append(cell_text(role));
  }
  return text.empty() ? "0" : text;
}

std::string member_state_cell(const Json& member) {
  return member.at("draining").is_true() ? "draining" : "serving";
}

std::string owned_cell(const Json& member) { return shares_text(member.at("owns")); }

std::string cluster_text(const Json& cluster) {
  if (cluster.is_null()) return "no cluster\n";
  const Json& fence = cluster.at("fence_seconds");
  const Json& orphans = cluster.at("nobody_owns");
  return "node " + cell_text(cluster.at("name")) + ", epoch " + cell_text(cluster.at("epoch")) +
         ", incarnation " + cell_text(cluster.at("incarnation")) + ", fence " +
         (fence.is_null() ? "never" : "in " + seconds_text(fence)) + "\n\n" +
         table_text(cluster.at("members"),
                    "MEMBER: name, EPOCH: epoch, INCARNATION: incarnation, VERSION: version, "
                    "SHARDS: shards, WEIGHT: weight, STATE: draining, PARTITIONS: owns",
                    {{"draining", member_state_cell}, {"owns", owned_cell}}) +
         (orphans.size() == 0 ? "" : "owned by nobody: " + shares_text(orphans) + "\n");
}

std::string objects_text(const Json& page) {
  const Json& types = page.at("types");
  if (types.size() == 0) return "no objects\n\n" + cluster_text(page.at("cluster"));
  return table_text(types,
                    "TYPE: type, ACTIVE: active, BYTES: memory_bytes, UNSAVED: unsaved, "
                    "CALLS: calls, REFUSED: refused, MOVED: moved, ACTIVATED: activations, "
                    "DEACTIVATED: deactivations, SAVED: saves, SAVES FAILED: failed_saves, "
                    "PARTITIONS: partitions") +
         "\n" + busy_partitions_text(page.at("busy_partitions")) + "\n" +
         cluster_text(page.at("cluster"));
}

}  // namespace

Result<std::string> find_object_type(const Node& node, std::string_view text) {
  const auto known = object_types(node);
  std::vector<std::string> matches;
  for (const std::string& name : known) {
    if (name == text) return name;
    if (name.ends_with("." + std::string(text))) matches.push_back(name);
  }
  if (matches.size() == 1) return matches.front();
  if (matches.empty()) {
    return Error(Code::not_found,
                 "object type " + quote(text) + " is unknown here; " +
                     (known.empty() ? "no types are known" : "known types: " + list_of(known)));
  }
  return Error(Code::invalid_argument,
               quote(text) + " may be " + list_of(matches) + ": give the full name");
}

Result<ObjectName> find_object(const Node& node, std::string_view text) {
  const std::size_t slash = text.find('/');
  ObjectName name;
  std::string type;
  if (slash == std::string_view::npos) {
    return Error(Code::invalid_argument, "an object is named TYPE/ID");
  }
  if (!net::read_percents(text.substr(0, slash), '+', type) ||
      !net::read_percents(text.substr(slash + 1), '+', name.id)) {
    return Error(Code::invalid_argument, "type and id are percent-encoded, with %25 for a %");
  }
  auto found = find_object_type(node, type);
  if (!found) return found.error();
  name.type = *std::move(found);
  return name;
}

Result<net::HttpResponse> objects_page(Node& node, const net::HttpRequest& request) {
  if (const auto type = request.query("type"); !type.empty()) {
    return object_list_page(node, request, type);
  }
  auto shards = from_each_shard(node, types_of);
  if (!shards) return shards.error();
  const auto types = added_up(std::move(shards->parts), add_types);
  auto busy = busy_partitions_json(node);
  if (!busy) return busy.error();
  const Cluster* const cluster = node.cluster();
  Json page = {{"types", types_json(types)},
               {"busy_partitions", *std::move(busy)},
               {"cluster", cluster == nullptr ? Json() : cluster_json(*cluster, node.fence())}};
  name_silent_shards(page, node, shards->silent);
  return in_format(request, page, objects_text);
}

}  // namespace corolane::framework::detail
