// SPDX-License-Identifier: MIT
#include "framework/node/detail/node_tenants.h"

#include <vector>

#include "framework/objects/detail/object_host.h"
#include "framework/routing/detail/object_router.h"

namespace corolane::framework::detail {

std::vector<Partition> NodeTenants::release(const Placement& placement,
                                            std::span<const Partition> partitions,
                                            Deadline deadline) {
  const Ownership& ownership = *ownerships_.at(placement);
  std::vector<std::vector<Partition>> kept_by_shard(shards_.count());
  const auto released = shards_.on_each([&](Shard& shard) -> Result<void> {
    if (shard.host() == nullptr) return {};
    kept_by_shard[shard.index()] = shard.host()->release(ownership, partitions, deadline);
    return {};
  });
  // The failed shard is unknown, so all partitions count as kept.
  if (!released) return {partitions.begin(), partitions.end()};
  std::vector<Partition> kept;
  for (const auto& of_shard : kept_by_shard)
    kept.insert(kept.end(), of_shard.begin(), of_shard.end());
  return kept;
}

void NodeTenants::resume(const Placement& placement, std::span<const Partition> partitions) {
  const Ownership& ownership = *ownerships_.at(placement);
  shards_.post(
      [&ownership, those = std::vector(partitions.begin(), partitions.end())](Shard& shard) {
        if (shard.host() != nullptr) shard.host()->resume(ownership, those);
      });
}

void NodeTenants::drop_all() {
  static_cast<void>(shards_.on_each([](Shard& shard) -> Result<void> {
    if (shard.host() != nullptr) shard.host()->drop_all();
    return {};
  }));
}

void NodeTenants::view_changed(const std::shared_ptr<const ClusterView>& view) {
  shards_.post([view](Shard& shard) { shard.object_router().set_view(view); });
}

}  // namespace corolane::framework::detail
