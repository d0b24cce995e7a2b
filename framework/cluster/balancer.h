// SPDX-License-Identifier: MIT
// Chooses the partitions that should live on another node, because they compute a lot and their
// shard has no core left for the others.
//
//   for (const auto& move : choose_moves(members, pins, loads, {.move_count_max = 51})) {
//     auto pinned =
//         balanced.pin(move.place.placement, move.place.partition, move.pin, deadline);
//   }
//
// On every node a partition lives on the shard of its number, so shards are what fills up. The
// fullest one is relieved first, by the partition whose move leaves the fuller one of both shards
// with least to do. The shard that gets it stays emptier than the other one was, by a margin:
// otherwise the next minute could undo the move. A partition that an operator has pinned stays.
#pragma once

#include <compare>
#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "framework/cluster/cluster_view.h"
#include "framework/wire/partition.h"

namespace corolane::framework {

struct PartitionPlace {
  Placement placement;
  Partition partition = 0;

  friend auto operator<=>(const PartitionPlace&, const PartitionPlace&) = default;
};

// What the objects of a node compute.
struct NodeLoad {
  std::string node;
  // In cores; without partitions that compute nothing.
  std::map<PartitionPlace, double> cores = {};
};

struct BalanceMove {
  PartitionPlace place;
  std::string from;
  std::optional<Pin> pin;  // Nothing: the partition goes back to where placement wants it.
  double cores = 0;
};

struct BalanceOptions {
  // The moves of one run.
  std::size_t move_count_max = partition_count_min / 20;
  // A shard with less to do is not relieved.
  double full_cores = 0.5;
  // The margin.
  double margin_cores = 0.1;
  // The balancer lets a pin of its own go when its partition computes less.
  double idle_cores = 0.01;
};

// Nodes without a load, such as those that did not answer, neither give nor get anything.
std::vector<BalanceMove> choose_moves(std::span<const Member> members,
                                      const std::map<Placement, Pins>& pins,
                                      std::span<const NodeLoad> loads,
                                      const BalanceOptions& options = {});

}  // namespace corolane::framework
