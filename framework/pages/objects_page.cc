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
#include "framework/pages/detail/page.h"
#include "framework/pages/detail/pages.h"
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
  if (const ObjectHost* const host = node.shard().host()) {
    for (const auto& type : host->types()) names.emplace(type->name());
  }
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
  for (std::size_t i = 0; i < partition_count; ++i) {
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

net::HttpResponse list_as_json(const std::string& type, const Objects& objects) {
  Json rows = Json::array();
  for (const ObjectRow& row : objects.rows) {
    rows.push_back({{"id", row.id},
                    {"waiting", row.waiting_count},
                    {"running", row.running},
                    {"task", row.task.id == 0 ? Json() : address_json(row.task)},
                    {"is_active", row.is_active},
                    {"seconds", in_seconds(row.age)},
                    {"memory_bytes", row.memory_bytes},
                    {"type", type}});
  }
  return json_response({{"type", type}, {"count", objects.count}, {"objects", std::move(rows)}});
}

net::HttpResponse list_as_text(const std::string& type, const Objects& objects) {
  std::vector<Row<6>> rows = {{"ID", "WAITING", "RUNS", "TASK", "ACTIVE FOR", "BYTES"}};
  for (const ObjectRow& row : objects.rows) {
    rows.push_back({escaped(row.id), std::to_string(row.waiting_count),
                    row.running.empty() ? "-" : escaped(row.running),
                    row.task.id == 0 ? "-" : to_string(row.task),
                    row.is_active ? seconds_text(row.age) : "not active",
                    std::to_string(row.memory_bytes)});
  }
  std::string text = table_text(rows) + std::to_string(objects.count) + " objects of " + type;
  if (objects.count > objects.rows.size()) {
    text += ", the " + std::to_string(objects.rows.size()) + " with the most calls waiting shown";
  }
  return {.body = text + "\n"};
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
  auto shards =
      from_each_shard(node, [&](const Shard& shard) { return objects_of(shard, *found); });
  if (!shards) return shards.error();
  const Objects objects = merged(*std::move(shards));
  return in_format(
      request, [&] { return list_as_json(*found, objects); },
      [&] { return list_as_text(*found, objects); });
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

std::string types_text(const std::vector<TypeRow>& types) {
  if (types.empty()) return "no objects\n";
  std::vector<Row<12>> rows = {{"TYPE", "ACTIVE", "BYTES", "UNSAVED", "CALLS", "REFUSED", "MOVED",
                                "ACTIVATED", "DEACTIVATED", "SAVED", "SAVES FAILED", "PARTITIONS"}};
  for (const auto& [name, statistics, owned_count] : types) {
    rows.push_back(
        {std::string(name), std::to_string(statistics.active_count),
         std::to_string(statistics.memory_bytes), std::to_string(statistics.unsaved_count),
         std::to_string(statistics.call_count), std::to_string(statistics.refused_count),
         std::to_string(statistics.moved_count), std::to_string(statistics.activation_count),
         std::to_string(statistics.deactivation_count), std::to_string(statistics.save_count),
         std::to_string(statistics.failed_save_count), std::to_string(owned_count)});
  }
  return table_text(rows);
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

// "512", or "512 of zone eu, 100 of role arena".
std::string shares_text(const std::vector<Share>& shares) {
  std::string text;
  for (const auto& [placement, owned_count] : shares) {
    text.append(text.empty() ? "" : ", ").append(std::to_string(owned_count));
    if (placement != Placement()) text.append(" of");
    if (!placement.zone.empty()) text.append(" zone ").append(escaped(placement.zone));
    if (!placement.role.empty()) text.append(" role ").append(escaped(placement.role));
  }
  return text.empty() ? "0" : text;
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
          {"epoch", cluster.self().epoch},
          {"incarnation", cluster.self().incarnation},
          {"fence_seconds", fence.is_never() ? Json() : Json(in_seconds(fence.time_left()))},
          {"members", std::move(members)},
          {"nobody_owns", shares_json(shares_of(view, nullptr))}};
}

std::string cluster_text(const Cluster& cluster, const Fence& fence) {
  const ClusterView& view = *cluster.view();
  const Member& self = cluster.self();
  std::string text = "node " + escaped(self.name) + ", epoch " + std::to_string(self.epoch) +
                     ", incarnation " + escaped(self.incarnation) + ", fence " +
                     (fence.is_never() ? "never" : "in " + seconds_text(fence.time_left())) +
                     "\n\n";
  std::vector<Row<8>> rows = {
      {"MEMBER", "EPOCH", "INCARNATION", "VERSION", "SHARDS", "WEIGHT", "STATE", "PARTITIONS"}};
  for (const Member& member : view.members()) {
    rows.push_back({escaped(member.name), std::to_string(member.epoch), escaped(member.incarnation),
                    escaped(member.version), std::to_string(member.shards.size()),
                    std::to_string(member.weight), member.is_draining ? "draining" : "serving",
                    shares_text(shares_of(view, &member))});
  }
  text += table_text(rows);
  const auto orphans = shares_of(view, nullptr);
  if (!orphans.empty()) text.append("owned by nobody: ").append(shares_text(orphans)).append("\n");
  return text;
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

Result<net::HttpResponse> objects_page(Node& node, const net::HttpRequest& request) {
  if (const auto type = request.query("type"); !type.empty()) {
    return object_list_page(node, request, type);
  }
  auto shards = from_each_shard(node, types_of);
  if (!shards) return shards.error();
  const auto types = added_up(*std::move(shards), add_types);
  const Cluster* const cluster = node.cluster();
  return in_format(
      request,
      [&] {
        return json_response(
            {{"types", types_json(types)},
             {"cluster", cluster == nullptr ? Json() : cluster_json(*cluster, node.fence())}});
      },
      [&] {
        return net::HttpResponse{
            .body = types_text(types) + "\n" +
                    (cluster == nullptr ? "no cluster\n" : cluster_text(*cluster, node.fence()))};
      });
}

}  // namespace corolane::framework::detail
