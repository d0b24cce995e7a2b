// SPDX-License-Identifier: MIT
// The objects of a node, on all its shards, as its Cluster sees them.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "framework/cluster/cluster.h"
#include "framework/cluster/ownership.h"
#include "framework/node/detail/node_peers.h"
#include "framework/node/detail/shard_set.h"

namespace corolane::framework::detail {

class NodeTenants final : public Cluster::Tenants {
 public:
  using Ownerships = std::map<Placement, std::unique_ptr<Ownership>>;

  // All of them outlive it. `prefix` is that of the keys in the directory, for people.
  NodeTenants(ShardSet& shards, NodePeers& peers, const Ownerships& ownerships, std::string prefix,
              Log& log)
      : shards_(shards),
        peers_(peers),
        ownerships_(ownerships),
        prefix_(std::move(prefix)),
        log_(log) {}

  std::vector<Partition> release(const Placement& placement, std::span<const Partition> partitions,
                                 Deadline deadline) override;
  void resume(const Placement& placement, std::span<const Partition> partitions) override;
  void drop_all() override;
  Result<DirectoryMark> admit(const DirectoryMark& mark, Deadline deadline) override;
  Error refuse(const DirectoryMark& mark, const DirectoryMark& noted) const override;
  void view_changed(const std::shared_ptr<const ClusterView>& view) override;

 private:
  Result<DirectoryMark> note(const DirectoryMark& mark, bool may_replace, Deadline deadline);

  ShardSet& shards_;
  NodePeers& peers_;
  const Ownerships& ownerships_;
  const std::string prefix_;
  Log& log_;
  // When the directory of that generation was first found to be gone.
  TimePoint former_gone_at_{};
  std::uint64_t former_generation_ = 0;
};

}  // namespace corolane::framework::detail
