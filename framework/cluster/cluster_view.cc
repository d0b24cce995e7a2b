// SPDX-License-Identifier: MIT
#include "framework/cluster/cluster_view.h"

#include <algorithm>
#include <utility>

namespace corolane::framework {

bool Member::hosts(const Placement& placement) const {
  const bool has_zone = placement.zone.empty() || placement.zone == zone;
  const bool has_role =
      placement.role.empty() || std::ranges::find(roles, placement.role) != roles.end();
  return has_zone && has_role &&
         std::ranges::find(groups, placement, &PlacementGroup::placement) != groups.end();
}

bool Member::hosts(const Placement& placement, std::string_view type) const {
  const auto found = std::ranges::find(groups, placement, &PlacementGroup::placement);
  return found != groups.end() && std::ranges::binary_search(found->types, type);
}

ClusterView::ClusterView(std::vector<Member> members, std::vector<Group> groups,
                         std::uint64_t self_epoch, std::size_t partition_count)
    : members_(std::move(members)),
      groups_(std::move(groups)),
      self_epoch_(self_epoch),
      partition_count_(partition_count) {
  for (Group& group : groups_) {
    const std::vector<std::string>* types = nullptr;
    for (const Member& member : members_) {
      const auto hosted =
          std::ranges::find(member.groups, group.placement, &PlacementGroup::placement);
      if (hosted == member.groups.end()) continue;
      if (types == nullptr) types = &hosted->types;
      group.is_mixed = group.is_mixed || hosted->types != *types;
    }
  }
}

const Placement* ClusterView::find_placement(std::string_view type) const {
  for (const Member& member : members_) {
    for (const PlacementGroup& hosted : member.groups) {
      if (std::ranges::binary_search(hosted.types, type)) return &hosted.placement;
    }
  }
  return nullptr;
}

const ClusterView::Group* ClusterView::find_group(std::string_view type) const {
  for (const Member& member : members_) {
    for (const PlacementGroup& hosted : member.groups) {
      if (!std::ranges::binary_search(hosted.types, type)) continue;
      const auto found = std::ranges::find(groups_, hosted.placement, &Group::placement);
      if (found != groups_.end()) return &*found;
    }
  }
  return nullptr;
}

PartitionHash ClusterView::partition_hash(std::string_view type) const {
  for (const Member& member : members_) {
    for (const PlacementGroup& hosted : member.groups) {
      if (!std::ranges::binary_search(hosted.types, type)) continue;
      const auto affinity = hosted.affinities.find(type);
      return affinity == hosted.affinities.end()
                 ? PartitionHash(type, partition_count_)
                 : PartitionHash::of_affinity(affinity->second, partition_count_);
    }
  }
  return PartitionHash(type, partition_count_);
}

const Member* ClusterView::find_member(std::uint64_t epoch) const {
  const auto found = std::ranges::find(members_, epoch, &Member::epoch);
  return found == members_.end() ? nullptr : &*found;
}

}  // namespace corolane::framework
