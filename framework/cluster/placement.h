// Where a partition is to live: the same answer on every node that sees the same members.
#pragma once

#include <span>

#include "framework/cluster/cluster_view.h"
#include "framework/wire/partition.h"

namespace corolane::framework {

// The member that the partition of that placement is to belong to; null when none may host it.
//
// Weighted rendezvous hashing (Thaler and Ravishankar 1998; weights as in Schindelhauer and
// Schomaker 2005): each member draws a number from its name and the partition, and the best one
// wins. So a member that comes takes its share evenly from all others, one that goes leaves its own
// evenly to them, and nothing else moves.
//
// Of two members of one name, the one that joined later counts: the other one has been restarted.
const Member* choose_owner(std::span<const Member> members, const Placement& placement,
                           Partition partition);

}  // namespace corolane::framework
