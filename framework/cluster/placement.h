// SPDX-License-Identifier: MIT
// Assigns partitions to nodes: every node that sees the same members computes the same result.
//
//   const auto owners = choose_owners(members, {.zone = "eu"});
//   const Member* owner = owners[partition_of("chess.Game", "17")];
//
// Two builds that computed different results would hand partitions back and forth. So each member
// says which rules it knows, and all apply the latest one that every member knows:
//
// 1: weighted rendezvous hashing (Thaler and Ravishankar 1998; weights as in Schindelhauer and
//    Schomaker 2005). Each member draws a number from its name and the partition, and the best one
//    wins. A new member takes its share evenly from all others, a leaving one spreads its share
//    evenly over them, and nothing else moves. The largest share of 100 nodes is about twice the
//    mean.
// 2: the same with bounded loads (Mirrokni, Thorup and Zadimoghaddam 2018): a member that has a
//    tenth more than its share by weight takes part in no further draw. Few other partitions move:
//    when the hundredth node comes, up to about twice its share. Only members that host all types
//    which most members host take part (README.md, "An update to another build").
// 3: the same with pins: a partition that is pinned to a member which takes part is that member's,
//    and counts as one of its share. A pin to a node that does not take part has no effect.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "framework/cluster/cluster_view.h"
#include "framework/wire/partition.h"

namespace corolane::framework {

// Pins have an effect once all members know this rule.
inline constexpr std::uint32_t rule_with_pins = 3;

// The members that may own partitions of that placement. No partition may be theirs otherwise,
// whatever is pinned.
std::vector<const Member*> possible_owners(std::span<const Member> members,
                                           const Placement& placement);

// The member that should own each partition of that placement, by number; null when none may host
// it. Takes about a fifth of a millisecond for 100 members.
//
// When two members have the same name, the one that joined later counts: the node has been
// restarted.
std::vector<const Member*> choose_owners(std::span<const Member> members,
                                         const Placement& placement, const Pins& pins = {});

}  // namespace corolane::framework
