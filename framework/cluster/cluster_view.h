// Who is in the cluster and who owns what, as one node has last heard of it: immutable, shared by
// its shards. It may be old: whoever acts on it is told so by the one it leads to.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "framework/wire/partition.h"
#include "net/endpoint.h"

namespace corolane::framework {

// Which nodes may host objects of a type: those with these labels; an empty one asks for nothing.
struct Placement {
  std::string zone = {};
  std::string role = {};

  friend auto operator<=>(const Placement&, const Placement&) = default;
};

// Types of one placement, whose partitions have owners of their own.
struct PlacementGroup {
  Placement placement;
  std::vector<std::string> types;  // "package.Counter"; sorted.

  friend bool operator==(const PlacementGroup&, const PlacementGroup&) = default;
};

// A node as it tells the others of itself.
struct Member {
  std::string name;                   // "chess-1".
  std::string incarnation;            // Of this process: no other one of that name has it.
  std::uint64_t epoch = 0;            // When it joined; what makes it this process on the wire.
  std::vector<net::HostPort> shards;  // Where other nodes call them, by number.
  std::uint32_t weight = 100;         // Its share of the partitions, beside those of the others.
  std::string zone = {};
  std::vector<std::string> roles = {};
  std::vector<PlacementGroup> groups = {};  // What it hosts.
  std::string version = {};                 // Of the program, for people.
  bool is_draining = false;  // It takes nothing any more, and gives away what it has.

  bool hosts(const Placement& placement) const;
};

class ClusterView {
 public:
  struct Owner {
    const Member* member = nullptr;  // Null when nobody owns it, or who did is gone.
    std::uint64_t epoch = 0;         // Of the ownership.
  };
  using Owners = std::array<Owner, partition_count>;
  struct Group {
    Placement placement;
    Owners owners;
  };

  ClusterView(std::vector<Member> members, std::vector<Group> groups)
      : members_(std::move(members)), groups_(std::move(groups)) {}
  ClusterView(const ClusterView&) = delete;
  ClusterView& operator=(const ClusterView&) = delete;

  const std::vector<Member>& members() const { return members_; }
  const std::vector<Group>& groups() const { return groups_; }

  // Null when no node hosts objects of that type.
  const Group* find_group(std::string_view type) const;
  // Null when nobody of that epoch lives.
  const Member* find_member(std::uint64_t epoch) const;

 private:
  std::vector<Member> members_;
  std::vector<Group> groups_;  // Their owners are among the members.
};

}  // namespace corolane::framework
