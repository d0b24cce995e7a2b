// SPDX-License-Identifier: MIT
// Members of a cluster, and their keys in its directory.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>

#include "framework/cluster/cluster_view.h"
#include "framework/cluster/detail/cluster_table.h"
#include "framework/directory/directory.h"

namespace corolane::test {

// A node that hosts players of that placement and lies in its zone.
inline framework::Member player_node(std::string name, const framework::Placement& placement = {}) {
  return {.name = std::move(name),
          .incarnation = "1",
          .shards = {{.host = "127.0.0.1", .port = 1}},
          .zone = placement.zone,
          .groups = {{.placement = placement, .types = {"game.Player"}}}};
}

inline std::string node_key(const framework::Member& member) {
  using framework::detail::ClusterTable;
  return ClusterTable::node_key(ClusterTable::name_of(member));
}

// Everything in the directory below that prefix.
inline framework::Directory::Snapshot read_all(framework::Directory& directory,
                                               std::string_view prefix = "") {
  auto snapshot = directory.list(prefix, Deadline::never());
  EXPECT_TRUE(snapshot) << snapshot.error();
  return snapshot ? *std::move(snapshot) : framework::Directory::Snapshot();
}

// Writes the key of the member, on no lease; sets its epoch.
inline void enter(framework::Directory& directory, framework::Member& member) {
  const auto put =
      directory.commit({.puts = {{.key = node_key(member),
                                  .value = framework::detail::ClusterTable::to_value(member)}}},
                       Deadline::never());
  ASSERT_TRUE(put) << put;
  member.epoch = put->revision;
}

// Removes the key, as the end of its lease does.
inline void vanish(framework::Directory& directory, const framework::Member& member) {
  ASSERT_TRUE(directory.commit({.removals = {node_key(member)}}, Deadline::never()));
}

}  // namespace corolane::test
