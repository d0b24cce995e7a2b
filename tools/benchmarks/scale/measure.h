// SPDX-License-Identifier: MIT
// What a cluster costs by the number of its nodes: real nodes on simulated machines, under virtual
// time, and the crash of one of them.
//
//   const ScaleFigures figures = measure_scale(100);
//   std::cout << figures.answers_after << '\n';
#pragma once

#include <cstddef>

#include "coroutine/base/clock.h"

namespace corolane::bench {

struct ScaleFigures {
  std::size_t nodes = 0;
  // By the other nodes, from the crash until all calls are answered and the cluster is calm again.
  double read_bytes_mean = 0;
  double read_bytes_max = 0;
  Duration answers_after{};   // Virtual time from the crash to the last of the answers.
  Duration placement_took{};  // Real time to place all partitions.
  double spread = 0;          // The partitions of the node with most of them, by the mean.
  double connections = 0;     // Of one node, counted at both ends, when each has called all.
  double stacks = 0;          // Of one node, in use.
  double memory_bytes = 0;    // Of one node.
  Duration took{};            // Real time of all of this.
  bool is_sound = true;       // All calls were answered, and no invariant was violated.
};

// Runs the cluster outside of any scheduler. The same calls are the same run, apart from real time
// and memory.
ScaleFigures measure_scale(std::size_t node_count);

}  // namespace corolane::bench
