// /objects: the hosted types and the cluster; /objects?type=: the active objects of a type.
#include <algorithm>
#include <string_view>
#include <utility>

#include "coroutine/base/text.h"
#include "framework/cluster/cluster.h"
#include "framework/node/each_shard.h"
#include "framework/objects/detail/object_host.h"
#include "framework/pages/detail/page.h"
#include "framework/pages/detail/pages.h"

namespace corolane::framework::detail {
namespace {

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
