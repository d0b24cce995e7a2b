// SPDX-License-Identifier: MIT
// Donors, while the store forgets what it had confirmed: no promise holds for what it has lost, and
// all of them hold for the rest.
#pragma once

#include <cstddef>

#include "coroutine/testing/random.h"
#include "framework/node/node.h"
#include "framework/testing/cluster.h"
#include "framework/testing/simulated_run.h"

namespace corolane::sim {

class Losses {
 public:
  struct Options {
    std::size_t donor_count = 50;
    std::size_t guild_count = 12;
  };

  static void set_up(framework::Node& node);

  // Both outlive it.
  Losses(SimulatedCluster& cluster, SimulatedRun& run, const Options& options);
  ~Losses();
  Losses(const Losses&) = delete;
  Losses& operator=(const Losses&) = delete;

  // Starts the donors.
  void open();

 private:
  void give(std::size_t donor);
  std::string what_gold_is_wrong() const;

  SimulatedCluster& cluster_;
  SimulatedRun& run_;
  const Options options_;
};

}  // namespace corolane::sim
