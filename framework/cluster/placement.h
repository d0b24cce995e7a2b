// SPDX-License-Identifier: MIT
// Assigns partitions to nodes: every node that sees the same members computes the same result.
//
//   const Member* owner = choose_owner(members, {.zone = "eu"}, partition_of("chess.Game", "17"));
#pragma once

#include <span>

#include "framework/cluster/cluster_view.h"
#include "framework/wire/partition.h"

namespace corolane::framework {

// The member that should own the partition of that placement; null when none may host it.
//
// Weighted rendezvous hashing (Thaler and Ravishankar 1998; weights as in Schindelhauer and
// Schomaker 2005): each member draws a number from its name and the partition, and the best one
// wins. A new member takes its share evenly from all others, a leaving one spreads its share evenly
// over them, and nothing else moves.
//
// When two members have the same name, the one that joined later counts: the node has been
// restarted.
const Member* choose_owner(std::span<const Member> members, const Placement& placement,
                           Partition partition);

}  // namespace corolane::framework
