// SPDX-License-Identifier: MIT
#include "framework/cluster/detail/member_fit.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

namespace corolane::framework::detail {
namespace {

std::string_view affinity_of(const PlacementGroup& group, const std::string& type) {
  const auto found = group.affinities.find(type);
  return found == group.affinities.end() ? std::string_view() : std::string_view(found->second);
}

}  // namespace

Result<void> check_fits(const Member& self, const Member& other) {
  if (self.groups.empty() || other.groups.empty()) return {};
  const auto refused = [](std::string message) {
    return Error(Code::failed_precondition, std::move(message));
  };
  if (other.partition_count != self.partition_count) {
    return refused("the objects of " + other.name + " are in " +
                   std::to_string(other.partition_count) + " partitions, and those of " +
                   self.name + " in " + std::to_string(self.partition_count) +
                   ": all nodes of a cluster use one store, see node.store");
  }
  for (const PlacementGroup& group : self.groups) {
    for (const PlacementGroup& other_group : other.groups) {
      for (const std::string& type : group.types) {
        if (!std::ranges::binary_search(other_group.types, type)) continue;
        if (group.placement != other_group.placement) {
          return refused(other.name + " hosts " + type +
                         " with another placement, and so finds other owners of its objects: stop "
                         "all nodes to change HostOptions::placement");
        }
        if (affinity_of(group, type) != affinity_of(other_group, type)) {
          return refused(other.name + " hosts " + type +
                         " with another affinity, and so finds its objects elsewhere: a type with "
                         "stored objects keeps its affinity, see HostOptions::affinity");
        }
      }
    }
  }
  return {};
}

}  // namespace corolane::framework::detail
