// SPDX-License-Identifier: MIT
// The members of the cluster and the owners of its partitions, as one node last heard of them:
// immutable, shared by its shards. It may be stale: a node that is called by mistake says so in its
// answer.
//
//   for (const Member& member : view.members()) {
//     std::cout << member.name << (member.is_draining ? " drains" : " serves") << '\n';
//   }
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "framework/wire/partition.h"
#include "net/endpoint.h"

namespace corolane::framework {

// The nodes that may host objects of a type are those with these labels; an empty label matches all
// nodes.
struct Placement {
  std::string zone = {};
  std::string role = {};

  friend auto operator<=>(const Placement&, const Placement&) = default;
};

// The types of one placement. Their partitions have owners of their own.
struct PlacementGroup {
  Placement placement;
  std::vector<std::string> types;                                   // "package.Counter"; sorted.
  std::map<std::string, std::string, std::less<>> affinities = {};  // The types that have one.

  friend bool operator==(const PlacementGroup&, const PlacementGroup&) = default;
};

// A node as it describes itself to the others.
struct Member {
  std::string name;                   // "chess-1".
  std::string incarnation;            // Unique to this process among all of that name.
  std::uint64_t epoch = 0;            // When it joined; identifies this process on the wire.
  std::vector<net::HostPort> shards;  // Where other nodes call its shards, by number.
  std::uint32_t weight = 100;         // Its share of the partitions, relative to the other nodes.
  std::string zone = {};
  std::vector<std::string> roles = {};
  std::vector<PlacementGroup> groups = {};  // The types that it hosts.
  std::string version = {};                 // The program's version, for people.
  std::uint32_t placement_rule = 3;         // The latest one that it knows (placement.h).
  bool forwards = true;                     // Each of its shards takes calls for all of them.
  std::size_t partition_count = partition_count_min;  // That of its store.
  bool is_draining = false;  // It takes no more partitions, and hands over those it has.

  bool hosts(const Placement& placement) const;
  bool hosts(const Placement& placement, std::string_view type) const;
};

// Keeps a partition on one node, instead of where placement would put it.
struct Pin {
  std::string node;             // The name; a pin outlives restarts of the node.
  bool is_by_balancer = false;  // Otherwise by an operator: the balancer leaves it alone.

  friend bool operator==(const Pin&, const Pin&) = default;
};
using Pins = std::map<Partition, Pin>;

class ClusterView {
 public:
  struct Owner {
    const Member* member = nullptr;  // Null when there is no owner, or the owner is gone.
    std::uint64_t epoch = 0;         // The epoch of the ownership.
  };
  using Owners = std::vector<Owner>;
  struct Group {
    const Owner& owner(Partition partition) const;

    Placement placement;
    Owners owners;  // By partition; those that never had an owner may be missing at its end.
    Pins pins = {};
    // Its members host different types, as during an update to a build with another type.
    bool is_mixed = false;
  };

  // `self_epoch` is that of the node whose view it is.
  ClusterView(std::vector<Member> members, std::vector<Group> groups, std::uint64_t self_epoch = 0,
              std::size_t partition_count = partition_count_min);
  ClusterView(const ClusterView&) = delete;
  ClusterView& operator=(const ClusterView&) = delete;

  const std::vector<Member>& members() const { return members_; }
  const std::vector<Group>& groups() const { return groups_; }
  // When the node whose view it is joined, after all members of a smaller epoch; 0: it has not.
  std::uint64_t self_epoch() const { return self_epoch_; }
  std::size_t partition_count() const { return partition_count_; }

  // Null when no node hosts objects of that type.
  const Placement* find_placement(std::string_view type) const;
  // Null also while none of their partitions has ever had an owner.
  const Group* find_group(std::string_view type) const;
  // The partitions of its objects, as the nodes that host them say.
  PartitionHash partition_hash(std::string_view type) const;
  // Null when no live member has that epoch.
  const Member* find_member(std::uint64_t epoch) const;

 private:
  std::vector<Member> members_;
  std::vector<Group> groups_;  // Their owners are among the members.
  const std::uint64_t self_epoch_;
  const std::size_t partition_count_;
};

inline const ClusterView::Owner& ClusterView::Group::owner(Partition partition) const {
  static constexpr Owner none;
  return partition < owners.size() ? owners[partition] : none;
}

}  // namespace corolane::framework
