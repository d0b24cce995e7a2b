// SPDX-License-Identifier: MIT
// How a node hosts the objects of one type.
//
//   node.host<Chat>({.transient = true});
//   node.host<Match>({.placement = {.role = "match"}, .idle_time_max = 30s});
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "coroutine/base/clock.h"
#include "framework/cluster/cluster_view.h"

namespace corolane::framework {

struct HostOptions {
  // The nodes that may host them. Nodes with another placement for a type are not let into the
  // cluster, so all nodes stop before it changes.
  Placement placement = {};
  // Objects of types with the same affinity and placement live together, on one shard of one node,
  // when their ids are the same up to the first slash: Player "ann", Bag "ann" and Item "ann/sword"
  // with .affinity = "player". Calls among them stay on their thread. It decides where an object is
  // stored, so it never changes for a type with stored objects: nodes that host a type with another
  // affinity are not let into the cluster. At most 63 letters, digits and hyphens; empty: the
  // objects are spread one by one.
  std::string affinity = {};
  // Objects that live in memory only, such as lobbies, chats and running matches. They are neither
  // sealed nor stored: an activation and a change cost nothing, and when an object is deactivated
  // or its node crashes, its state and its request ids are gone. One node owns each of them as
  // always, by its lease alone. They have no durable methods, and setting a reminder fails.
  bool transient = false;
  // In the place of node.objects.idle_time_max and mailbox_max, for objects of this type.
  std::optional<Duration> idle_time_max = {};
  std::optional<std::uint32_t> mailbox_max = {};
  // A change is written this long after it was made, unless a durable call stores it earlier. So it
  // is what a crash may lose: less of it means more writes.
  Duration save_after = std::chrono::milliseconds(500);
};

}  // namespace corolane::framework
