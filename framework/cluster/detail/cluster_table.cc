// SPDX-License-Identifier: MIT
#include "framework/cluster/detail/cluster_table.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "framework/cluster/detail/seeded_bugs.h"

namespace corolane::framework::detail {
namespace {

using nlohmann::json;

constexpr std::string_view nodes = "nodes/";
constexpr std::string_view draining = "draining/";
constexpr std::string_view partitions = "partitions/";

template <typename Number>
std::optional<Number> number_of(std::string_view text) {
  Number number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// "zone=eu,role=room": either may be missing.
std::string to_text(const Placement& placement) {
  std::string text;
  if (!placement.zone.empty()) text = "zone=" + placement.zone;
  if (!placement.role.empty()) text += (text.empty() ? "role=" : ",role=") + placement.role;
  return text;
}

Placement placement_of(std::string_view text) {
  Placement placement;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    if (part.starts_with("zone=")) placement.zone = part.substr(5);
    if (part.starts_with("role=")) placement.role = part.substr(5);
  }
  return placement;
}

struct PartitionPlace {
  Placement placement;
  Partition partition;
};

// "17", "role=room/17".
std::optional<PartitionPlace> partition_place_of(std::string_view text) {
  const auto slash = text.rfind('/');
  const std::string_view group = slash == std::string_view::npos ? "" : text.substr(0, slash);
  const auto number =
      number_of<Partition>(slash == std::string_view::npos ? text : text.substr(slash + 1));
  if (!number || *number >= partition_count) return std::nullopt;
  return PartitionPlace{.placement = placement_of(group), .partition = *number};
}

// An invalid entry of another program must not end this one.
std::optional<Member> member_of(const Directory::Entry& entry, std::string_view name) {
  const auto dot = name.rfind('.');
  if (dot == std::string_view::npos) return std::nullopt;
  Member member{.name = std::string(name.substr(0, dot)),
                .incarnation = std::string(name.substr(dot + 1)),
                .epoch = entry.created_at,
                .shards = {}};
  try {
    const json value = json::parse(entry.value);
    for (const json& shard : value.at("shards")) {
      auto host = net::parse_host_port(shard.get<std::string>());
      if (!host) return std::nullopt;
      member.shards.push_back(*std::move(host));
    }
    member.weight = value.value("weight", member.weight);
    member.zone = value.value("zone", "");
    member.roles = value.value("roles", member.roles);
    member.version = value.value("version", "");
    for (const json& group : value.at("hosts")) {
      member.groups.push_back({.placement = placement_of(group.at("placement").get<std::string>()),
                               .types = group.at("types").get<std::vector<std::string>>()});
    }
  } catch (const json::exception&) {
    return std::nullopt;
  }
  if (member.shards.empty()) return std::nullopt;
  return member;
}

}  // namespace

std::string ClusterTable::key(std::string_view kind, std::string_view name) {
  return std::string(prefix).append(kind).append(name);
}

std::string ClusterTable::partition_key(const Placement& placement, Partition partition) {
  std::string group = to_text(placement);
  if (!group.empty()) group += '/';
  return key(partitions, group + std::to_string(partition));
}

std::string ClusterTable::to_value(const Member& member) {
  json value = {{"shards", json::array()},
                {"weight", member.weight},
                {"version", member.version},
                {"hosts", json::array()}};
  for (const net::HostPort& shard : member.shards) {
    value["shards"].push_back(net::to_string({.address = shard.host, .port = shard.port}));
  }
  if (!member.zone.empty()) value["zone"] = member.zone;
  if (!member.roles.empty()) value["roles"] = member.roles;
  for (const PlacementGroup& group : member.groups) {
    value["hosts"].push_back({{"placement", to_text(group.placement)}, {"types", group.types}});
  }
  return value.dump();
}

std::string ClusterTable::owner_value(std::string_view name, std::uint64_t node_epoch) {
  return std::string(name).append(" ").append(std::to_string(node_epoch));
}

void ClusterTable::load(const Directory::Snapshot& snapshot) {
  *this = ClusterTable();
  for (const Directory::Entry& entry : snapshot.entries) put(entry);
  revision_ = snapshot.revision;
}

// Only owners: put() compares their revisions, while a node that has left since the snapshot would
// come back.
void ClusterTable::take_owners(const Directory::Snapshot& snapshot) {
  for (const Directory::Entry& entry : snapshot.entries) {
    std::string_view name = entry.key;
    if (!name.starts_with(prefix)) continue;
    name.remove_prefix(prefix.size());
    if (name.starts_with(partitions)) put(entry);
  }
}

void ClusterTable::apply(const Directory::Change& change) {
  change.is_removed ? remove(change.entry) : put(change.entry);
  revision_ = std::max(revision_, change.entry.modified_at);
}

void ClusterTable::put(const Directory::Entry& entry) {
  std::string_view name = entry.key;
  if (!name.starts_with(prefix)) return;
  name.remove_prefix(prefix.size());
  if (name.starts_with(nodes)) {
    auto member = member_of(entry, name.substr(nodes.size()));
    if (!member) {
      ++unreadable_count_;
      return;
    }
    std::string node = name_of(*member);
    nodes_.insert_or_assign(std::move(node), *std::move(member));
  } else if (name.starts_with(draining)) {
    draining_.insert_or_assign(std::string(name.substr(draining.size())), entry.created_at);
  } else if (name.starts_with(partitions)) {
    const auto place = partition_place_of(name.substr(partitions.size()));
    const auto space = entry.value.rfind(' ');
    const auto node_epoch =
        space == std::string::npos
            ? std::nullopt
            : number_of<std::uint64_t>(std::string_view(entry.value).substr(space + 1));
    if (!place || !node_epoch) {
      ++unreadable_count_;
      return;
    }
    Ownership& known = ownerships_[place->placement][place->partition];
    if (known.revision > entry.modified_at) return;
    known = {.owner = entry.value.substr(0, space),
             .node_epoch = *node_epoch,
             .revision = entry.modified_at};
  } else if (entry.key == id_key()) {
    id_ = entry.value;
  } else if (entry.key == generation_key()) {
    const auto generation = number_of<std::uint64_t>(entry.value);
    if (!generation) ++unreadable_count_;
    generation_ = std::min(generation.value_or(generation_), DirectoryMark::generation_max);
  }
}

void ClusterTable::remove(const Directory::Entry& entry) {
  std::string_view name = entry.key;
  if (!name.starts_with(prefix)) return;
  name.remove_prefix(prefix.size());
  if (name.starts_with(nodes)) {
    const auto found = nodes_.find(name.substr(nodes.size()));
    if (found != nodes_.end() && found->second.epoch <= entry.modified_at) nodes_.erase(found);
  } else if (name.starts_with(draining)) {
    const auto found = draining_.find(name.substr(draining.size()));
    if (found != draining_.end() && found->second <= entry.modified_at) draining_.erase(found);
  } else if (name.starts_with(partitions)) {
    const auto place = partition_place_of(name.substr(partitions.size()));
    if (!place) return;
    Ownership& known = ownerships_[place->placement][place->partition];
    if (known.revision <= entry.modified_at) known = {};
  }
}

const Member* ClusterTable::find(std::string_view name) const {
  const auto found = nodes_.find(name);
  return found == nodes_.end() ? nullptr : &found->second;
}

std::vector<Member> ClusterTable::members() const {
  std::vector<Member> members;
  members.reserve(nodes_.size());
  for (const auto& [name, member] : nodes_) {
    members.push_back(member);
    members.back().is_draining = draining_.contains(name);
  }
  return members;
}

const ClusterTable::Ownerships& ClusterTable::ownerships(const Placement& placement) const {
  static const Ownerships nobody;
  const auto found = ownerships_.find(placement);
  return found == ownerships_.end() ? nobody : found->second;
}

std::shared_ptr<const ClusterView> ClusterTable::view() const {
  std::vector<Member> members = this->members();
  std::vector<ClusterView::Group> groups;
  std::map<std::string, const Member*, std::less<>> by_name;
  for (const Member& member : members) by_name.emplace(name_of(member), &member);
  for (const auto& [placement, ownerships] : ownerships_) {
    ClusterView::Group& group = groups.emplace_back();
    group.placement = placement;
    for (std::size_t i = 0; i < partition_count; ++i) {
      const Ownership& known = ownerships[i];
      const auto found = by_name.find(known.owner);
      const bool is_alive = found != by_name.end() && found->second->epoch == known.node_epoch;
      group.owners[i] = {.member = is_alive ? found->second : nullptr, .epoch = epoch_of(known)};
    }
  }
  if (!COROLANE_SEEDED_BUG(node_epochs_reused)) {
    for (Member& member : members) member.epoch = DirectoryMark::epoch(generation_, member.epoch);
  }
  // Moving the vector leaves its elements where they are.
  return std::make_shared<const ClusterView>(std::move(members), std::move(groups));
}

}  // namespace corolane::framework::detail
