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
using Affinities = decltype(PlacementGroup::affinities);

// More nodes than leave while one request is under way.
constexpr std::size_t gone_count_max = 1'000;

constexpr std::string_view nodes = "nodes/";
constexpr std::string_view draining = "draining/";
constexpr std::string_view partitions = "partitions/";
constexpr std::string_view pins_prefix = "pins/";

constexpr std::string_view by_operator = "operator";
constexpr std::string_view by_balancer = "balancer";

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

// The inverse of partition_place_of().
std::string to_text(const Placement& placement, Partition partition) {
  std::string group = to_text(placement);
  if (!group.empty()) group += '/';
  return group + std::to_string(partition);
}

// "17", "role=room/17".
std::optional<PartitionPlace> partition_place_of(std::string_view text) {
  const auto slash = text.rfind('/');
  const std::string_view group = slash == std::string_view::npos ? "" : text.substr(0, slash);
  const auto number =
      number_of<Partition>(slash == std::string_view::npos ? text : text.substr(slash + 1));
  if (!number || *number >= partition_count_max) return std::nullopt;
  return PartitionPlace{.placement = placement_of(group), .partition = *number};
}

// "chess-2 operator".
std::optional<Pin> pin_of(std::string_view text) {
  const auto space = text.find(' ');
  if (space == 0 || space == std::string_view::npos) return std::nullopt;
  const std::string_view by = text.substr(space + 1);
  if (by != by_operator && by != by_balancer) return std::nullopt;
  return Pin{.node = std::string(text.substr(0, space)), .is_by_balancer = by == by_balancer};
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
    member.placement_rule = value.value("placement_rule", 1U);
    member.forwards = value.value("forwards", false);
    member.partition_count = value.value("partitions", partition_count_min);
    for (const json& group : value.at("hosts")) {
      member.groups.push_back({.placement = placement_of(group.at("placement").get<std::string>()),
                               .types = group.at("types").get<std::vector<std::string>>(),
                               .affinities = group.value("affinities", Affinities())});
    }
  } catch (const json::exception&) {
    return std::nullopt;
  }
  if (member.shards.empty() || !is_partition_count(member.partition_count)) return std::nullopt;
  return member;
}

}  // namespace

std::string ClusterTable::key(std::string_view kind, std::string_view name) {
  return std::string(prefix).append(kind).append(name);
}

std::string ClusterTable::partition_key(const Placement& placement, Partition partition) {
  return key(partitions, to_text(placement, partition));
}

std::string ClusterTable::pin_key(const Placement& placement, Partition partition) {
  return key(pins_prefix, to_text(placement, partition));
}

std::string ClusterTable::to_value(const Pin& pin) {
  return pin.node + " " + std::string(pin.is_by_balancer ? by_balancer : by_operator);
}

std::string ClusterTable::to_value(const Member& member) {
  json value = {{"shards", json::array()},     {"weight", member.weight},
                {"version", member.version},   {"placement_rule", member.placement_rule},
                {"forwards", member.forwards}, {"hosts", json::array()}};
  for (const net::HostPort& shard : member.shards) {
    value["shards"].push_back(net::to_string({.address = shard.host, .port = shard.port}));
  }
  if (member.partition_count != partition_count_min) value["partitions"] = member.partition_count;
  if (!member.zone.empty()) value["zone"] = member.zone;
  if (!member.roles.empty()) value["roles"] = member.roles;
  for (const PlacementGroup& group : member.groups) {
    json& hosted = value["hosts"].emplace_back(
        json{{"placement", to_text(group.placement)}, {"types", group.types}});
    if (!group.affinities.empty()) hosted["affinities"] = group.affinities;
  }
  return value.dump();
}

std::string ClusterTable::owner_value(std::string_view name, std::uint64_t node_epoch) {
  return std::string(name).append(" ").append(std::to_string(node_epoch));
}

std::string ClusterTable::id_in(const Directory::Snapshot& snapshot) {
  const auto found = std::ranges::find(snapshot.entries, id_key(), &Directory::Entry::key);
  return found == snapshot.entries.end() ? std::string() : found->value;
}

void ClusterTable::load(const Directory::Snapshot& snapshot) {
  const std::uint64_t change_count = change_count_;
  const std::uint64_t placement_change_count = placement_change_count_;
  const std::uint64_t whole_change_count = whole_change_count_;
  const std::size_t partition_count = partition_count_;
  const bool is_partition_count_set = is_partition_count_set_;
  *this = ClusterTable();
  whole_change_count_ = whole_change_count + 1;
  partition_count_ = partition_count;
  is_partition_count_set_ = is_partition_count_set;
  for (const Directory::Entry& entry : snapshot.entries) put(entry, snapshot.revision);
  revision_ = snapshot.revision;
  next_to_watch_ = revision_ + 1;
  change_count_ = change_count + 1;
  placement_change_count_ = placement_change_count + 1;
}

void ClusterTable::merge(const Directory::Snapshot& all) {
  for (const Directory::Entry& entry : all.entries) put(entry, all.revision);
  remove_others(all);
  revision_ = std::max(revision_, all.revision);
  next_to_watch_ = std::max(next_to_watch_, all.revision + 1);
}

void ClusterTable::merge(std::span<const std::string> keys, const Directory::Snapshot& some) {
  for (const Directory::Entry& entry : some.entries) put(entry, some.revision);
  for (const std::string& key : keys) {
    const bool is_there = std::ranges::binary_search(some.entries, key, {}, &Directory::Entry::key);
    if (!is_there) remove({.key = key, .modified_at = some.revision});
  }
  revision_ = std::max(revision_, some.revision);
}

bool ClusterTable::merge(const Directory::Recent& recent) {
  for (const Directory::Entry& entry : recent.entries) put(entry, recent.revision);
  if (revision_ <= recent.revision && entry_count() != recent.entry_count) return false;
  next_to_watch_ = std::max(next_to_watch_, recent.revision + 1);
  revision_ = std::max(revision_, recent.revision);
  return true;
}

// `count` is the number of entries of that kind in the table.
template <typename F>
bool ClusterTable::has_same(std::size_t count, const Directory::Recent& recent,
                            F&& is_known) const {
  if (revision_ > recent.revision) return true;
  return count == recent.entry_count && std::ranges::all_of(recent.entries, is_known);
}

bool ClusterTable::has_nodes(const Directory::Recent& recent) const {
  const auto is_known = [this](const Directory::Entry& entry) {
    const auto found = nodes_.find(std::string_view(entry.key).substr(nodes_prefix().size()));
    const bool is_readable = found != nodes_.end() && found->second.epoch == entry.created_at;
    return is_readable || others_.contains(entry.key);
  };
  return has_same(nodes_.size() + unreadable_count_of(nodes_prefix()), recent, is_known);
}

bool ClusterTable::has_draining(const Directory::Recent& recent) const {
  const auto is_known = [this](const Directory::Entry& entry) {
    return draining_.contains(std::string_view(entry.key).substr(all_draining_prefix().size()));
  };
  return has_same(draining_.size(), recent, is_known);
}

bool ClusterTable::has_pins(const Directory::Recent& recent) const {
  const auto is_known = [this](const Directory::Entry& entry) {
    const auto at =
        partition_place_of(std::string_view(entry.key).substr(all_pins_prefix().size()));
    if (!at || others_.contains(entry.key)) return others_.contains(entry.key);
    const auto known = pin_changes_.find({at->placement, at->partition});
    return known != pin_changes_.end() && known->second.is_there &&
           known->second.revision == entry.modified_at;
  };
  return has_same(pin_count() + unreadable_count_of(all_pins_prefix()), recent, is_known);
}

std::size_t ClusterTable::unreadable_count_of(std::string_view key_prefix) const {
  return static_cast<std::size_t>(std::ranges::count_if(
      others_, [&](const std::string& other) { return other.starts_with(key_prefix); }));
}

void ClusterTable::apply(const Directory::Change& change) {
  if (change.is_removed) {
    remove(change.entry);
  } else {
    put(change.entry, change.entry.modified_at);
  }
  revision_ = std::max(revision_, change.entry.modified_at);
}

// More changes of the same revision may follow, so a new watch begins with that one again.
void ClusterTable::follow(const Directory::Change& change) {
  apply(change);
  next_to_watch_ = std::max(next_to_watch_, change.entry.modified_at);
}

// `as_of` is the revision at which the entry was there.
void ClusterTable::put(const Directory::Entry& entry, Directory::Revision as_of) {
  std::string_view name = entry.key;
  if (!name.starts_with(prefix)) return;
  name.remove_prefix(prefix.size());
  if (name.starts_with(nodes)) {
    name.remove_prefix(nodes.size());
    if (!has_left(name, entry, as_of)) put_node(entry, name);
  } else if (name.starts_with(draining)) {
    name.remove_prefix(draining.size());
    if (!has_left(name, entry, as_of)) put_draining(entry, name);
  } else if (name.starts_with(partitions)) {
    put_owner(entry, name.substr(partitions.size()));
  } else if (name.starts_with(pins_prefix)) {
    put_pin(entry, name.substr(pins_prefix.size()));
  } else {
    put_other(entry);
  }
}

void ClusterTable::put_node(const Directory::Entry& entry, std::string_view name) {
  const auto known = nodes_.find(name);
  // Nothing else of a member ever changes.
  if (known != nodes_.end() && known->second.epoch == entry.created_at) return;
  auto member = member_of(entry, name);
  if (!member) {
    others_.insert(entry.key);
    ++unreadable_count_;
    return;
  }
  others_.erase(entry.key);
  if (!is_partition_count_set_ && !member->groups.empty()) {
    partition_count_ = member->partition_count;
  }
  nodes_.insert_or_assign(std::string(name), *std::move(member));
  placement_changed();
}

void ClusterTable::put_draining(const Directory::Entry& entry, std::string_view name) {
  if (draining_.try_emplace(std::string(name), entry.created_at).second) placement_changed();
}

void ClusterTable::put_owner(const Directory::Entry& entry, std::string_view place) {
  const auto at = partition_place_of(place);
  const auto space = entry.value.rfind(' ');
  const auto node_epoch =
      space == std::string::npos
          ? std::nullopt
          : number_of<std::uint64_t>(std::string_view(entry.value).substr(space + 1));
  if (!at || !node_epoch) {
    const bool is_known = at && ownerships(at->placement)[at->partition].revision != 0;
    if (!is_known) others_.insert(entry.key);
    ++unreadable_count_;
    return;
  }
  others_.erase(entry.key);
  Ownerships& ownerships = ownerships_[at->placement];
  Ownership& known = ownerships.at(at->partition);
  if (known.revision >= entry.modified_at) return;
  known = {.owner = entry.value.substr(0, space),
           .node_epoch = *node_epoch,
           .revision = entry.modified_at};
  ownership_changed(ownerships, at->partition);
}

void ClusterTable::ownership_changed(Ownerships& ownerships, Partition partition) {
  ++change_count_;
  ownerships.changed.push_back(partition);
  // Nobody takes them while the node is not in the cluster.
  if (ownerships.changed.size() <= partition_count_max) return;
  ownerships.changed.clear();
  ++whole_change_count_;
}

std::vector<Partition> ClusterTable::take_changed(const Placement& placement) {
  const auto found = ownerships_.find(placement);
  return found == ownerships_.end() ? std::vector<Partition>()
                                    : std::exchange(found->second.changed, {});
}

void ClusterTable::put_pin(const Directory::Entry& entry, std::string_view place) {
  const auto at = partition_place_of(place);
  auto pin = pin_of(entry.value);
  if (!at || !pin) {
    remove_pin(place, entry.modified_at);
    others_.insert(entry.key);
    ++unreadable_count_;
    return;
  }
  others_.erase(entry.key);
  PinChange& known = pin_changes_[{at->placement, at->partition}];
  if (known.revision >= entry.modified_at) return;
  known = {.revision = entry.modified_at, .is_there = true};
  pins_[at->placement].insert_or_assign(at->partition, *std::move(pin));
  placement_changed();
}

void ClusterTable::put_other(const Directory::Entry& entry) {
  others_.insert(entry.key);
  if (entry.key == id_key()) id_ = entry.value;
  if (entry.key != generation_key() || entry.modified_at < generation_set_at_) return;
  const auto generation = number_of<std::uint64_t>(entry.value);
  if (!generation) ++unreadable_count_;
  generation_set_at_ = entry.modified_at;
  const auto now = std::min(generation.value_or(generation_), DirectoryMark::generation_max);
  if (std::exchange(generation_, now) == now) return;
  ++change_count_;
  ++whole_change_count_;
}

void ClusterTable::remove(const Directory::Entry& entry) {
  std::string_view name = entry.key;
  if (!name.starts_with(prefix)) return;
  name.remove_prefix(prefix.size());
  others_.erase(entry.key);
  if (name.starts_with(nodes)) {
    remove_node(name.substr(nodes.size()), entry.modified_at);
  } else if (name.starts_with(pins_prefix)) {
    remove_pin(name.substr(pins_prefix.size()), entry.modified_at);
  } else if (name.starts_with(draining)) {
    const auto found = draining_.find(name.substr(draining.size()));
    if (found == draining_.end() || found->second > entry.modified_at) return;
    draining_.erase(found);
    placement_changed();
  } else if (name.starts_with(partitions)) {
    const auto place = partition_place_of(name.substr(partitions.size()));
    if (!place) return;
    Ownerships& ownerships = ownerships_[place->placement];
    Ownership& known = ownerships.at(place->partition);
    if (known.revision == 0 || known.revision > entry.modified_at) return;
    known = {};
    ownership_changed(ownerships, place->partition);
  }
}

void ClusterTable::remove_node(std::string_view name, Directory::Revision revision) {
  note_gone(name, revision);
  const auto found = nodes_.find(name);
  if (found == nodes_.end() || found->second.epoch > revision) return;
  nodes_.erase(found);
  placement_changed();
  const auto drains = draining_.find(name);  // On the same lease.
  if (drains != draining_.end()) draining_.erase(drains);
}

void ClusterTable::remove_pin(std::string_view place, Directory::Revision revision) {
  const auto at = partition_place_of(place);
  if (!at) return;
  PinChange& known = pin_changes_[{at->placement, at->partition}];
  if (known.revision > revision) return;
  known.revision = revision;
  if (!std::exchange(known.is_there, false)) return;
  pins_[at->placement].erase(at->partition);
  placement_changed();
}

// An answer that is older than that may still arrive.
void ClusterTable::note_gone(std::string_view name, Directory::Revision revision) {
  auto& noted = gone_.try_emplace(std::string(name), revision).first->second;
  noted = std::max(noted, revision);
  if (gone_.size() <= gone_count_max) return;
  gone_.erase(std::ranges::min_element(gone_, {}, [](const auto& each) { return each.second; }));
}

bool ClusterTable::has_left(std::string_view name, const Directory::Entry& entry,
                            Directory::Revision as_of) const {
  const auto found = gone_.find(name);
  return found != gone_.end() && entry.created_at <= found->second && as_of < found->second;
}

void ClusterTable::remove_others(const Directory::Snapshot& all) {
  std::vector<std::string> absent;
  const auto look_for = [&](std::string key, Directory::Revision created_at) {
    if (created_at > all.revision) return;
    if (std::ranges::binary_search(all.entries, key, {}, &Directory::Entry::key)) return;
    absent.push_back(std::move(key));
  };
  for (const auto& [name, member] : nodes_) look_for(node_key(name), member.epoch);
  for (const auto& [name, created_at] : draining_) look_for(draining_key(name), created_at);
  for (const std::string& key : others_) look_for(key, 0);
  for (const auto& [place, known] : pin_changes_) {
    if (known.is_there) look_for(pin_key(place.first, place.second), known.revision);
  }
  for (const std::string& key : absent) remove({.key = key, .modified_at = all.revision});
}

std::size_t ClusterTable::entry_count() const {
  std::size_t count = nodes_.size() + draining_.size() + pin_count() + others_.size();
  for (const auto& [placement, ownerships] : ownerships_) count += ownerships.count();
  return count;
}

std::size_t ClusterTable::Ownerships::count() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(known_, [](const auto& each) { return each.revision != 0; }));
}

std::size_t ClusterTable::pin_count() const {
  std::size_t count = 0;
  for (const auto& [placement, pins] : pins_) count += pins.size();
  return count;
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

const Pins& ClusterTable::pins(const Placement& placement) const {
  static const Pins none;
  const auto found = pins_.find(placement);
  return found == pins_.end() ? none : found->second;
}

std::shared_ptr<const ClusterView> ClusterTable::view(std::uint64_t self_epoch) const {
  std::vector<Member> members = this->members();
  std::vector<ClusterView::Group> groups;
  // Epochs of members are unique.
  struct Known {
    std::uint64_t epoch;
    std::string name;
    const Member* member;
  };
  std::vector<Known> by_epoch;
  for (const Member& member : members) by_epoch.push_back({member.epoch, name_of(member), &member});
  std::ranges::sort(by_epoch, {}, &Known::epoch);
  for (const auto& [placement, ownerships] : ownerships_) {
    ClusterView::Group& group = groups.emplace_back();
    group.placement = placement;
    group.pins = pins(placement);
    group.owners.resize(partition_count_);
    for (std::size_t i = 0; i < partition_count_; ++i) {
      const Ownership& known = ownerships[i];
      const auto found = std::ranges::lower_bound(by_epoch, known.node_epoch, {}, &Known::epoch);
      const bool is_alive =
          found != by_epoch.end() && found->epoch == known.node_epoch && found->name == known.owner;
      group.owners[i] = {.member = is_alive ? found->member : nullptr, .epoch = epoch_of(known)};
    }
  }
  if (!COROLANE_SEEDED_BUG(node_epochs_reused)) {
    for (Member& member : members) member.epoch = DirectoryMark::epoch(generation_, member.epoch);
  }
  // Moving the vector leaves its elements where they are.
  return std::make_shared<const ClusterView>(std::move(members), std::move(groups), self_epoch,
                                             partition_count_);
}

}  // namespace corolane::framework::detail
