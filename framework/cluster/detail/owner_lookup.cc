// SPDX-License-Identifier: MIT
#include "framework/cluster/detail/owner_lookup.h"

#include <set>
#include <string>
#include <vector>

namespace corolane::framework::detail {
namespace {

// The entry that names the directory is read with the others.
Result<void> merge_keys(Directory& directory, ClusterTable& table, std::set<std::string> names,
                        Deadline deadline) {
  names.insert(ClusterTable::id_key());
  const std::vector<std::string> keys(names.begin(), names.end());
  const Directory::Revision seen_before = table.revision();
  const auto some = directory.read(keys, deadline);
  if (!some) return some.error();
  if (ClusterTable::id_in(*some) != table.mark().id || some->revision < seen_before) {
    table.note_replaced();
    return Error(Code::failed_precondition, "the directory was replaced or set back");
  }
  table.merge(keys, *some);
  return {};
}

}  // namespace

Result<void> look_up_owners(Directory& directory, ClusterTable& table, const Placement& placement,
                            std::span<const Partition> partitions,
                            std::span<const std::string> nodes, Deadline deadline) {
  std::set<std::string> keys;
  for (const std::string& node : nodes) keys.insert(ClusterTable::node_key(node));
  const auto owner_of = [&](Partition partition) -> const std::string& {
    return table.ownerships(placement)[partition].owner;
  };
  for (const Partition partition : partitions) {
    keys.insert(ClusterTable::partition_key(placement, partition));
    if (!owner_of(partition).empty()) keys.insert(ClusterTable::node_key(owner_of(partition)));
  }
  if (auto merged = merge_keys(directory, table, keys, deadline); !merged) return merged;
  // Owners that it had not heard of.
  std::set<std::string> unknown;
  for (const Partition partition : partitions) {
    const std::string& owner = owner_of(partition);
    if (owner.empty() || table.find(owner) != nullptr) continue;
    if (auto key = ClusterTable::node_key(owner); !keys.contains(key)) unknown.insert(key);
  }
  return unknown.empty() ? Result<void>() : merge_keys(directory, table, unknown, deadline);
}

}  // namespace corolane::framework::detail
