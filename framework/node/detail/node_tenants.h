// SPDX-License-Identifier: MIT
// The objects of a node, on all its shards, as its Cluster sees them.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <vector>

#include "framework/cluster/cluster.h"
#include "framework/cluster/ownership.h"
#include "framework/node/detail/shard_set.h"

namespace corolane::framework::detail {

class NodeTenants final : public Cluster::Tenants {
 public:
  using Ownerships = std::map<Placement, std::unique_ptr<Ownership>>;

  // Both outlive it.
  NodeTenants(ShardSet& shards, const Ownerships& ownerships)
      : shards_(shards), ownerships_(ownerships) {}

  std::vector<Partition> release(const Placement& placement, std::span<const Partition> partitions,
                                 Deadline deadline) override;
  void resume(const Placement& placement, std::span<const Partition> partitions) override;
  void drop_all() override;
  void view_changed(const std::shared_ptr<const ClusterView>& view) override;

 private:
  ShardSet& shards_;
  const Ownerships& ownerships_;
};

}  // namespace corolane::framework::detail
