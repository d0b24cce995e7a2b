// SPDX-License-Identifier: MIT
// Inflicts faults on a simulated cluster, at random times that follow from its seed.
//
//   SimulatedCluster cluster({.seed = 7}, host_guilds);
//   Nemesis nemesis(cluster, standard_faults());
//   nemesis.run_until(cluster.simulation().now() + 30s);
//   cluster.run_for(60s);  // Thirty seconds of faults, thirty seconds to recover.
//
// A test that runs for many seeds leaves it to SimulatedRun (simulated_run.h).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "coroutine/base/clock.h"
#include "coroutine/testing/random.h"
#include "framework/testing/cluster.h"
#include "framework/testing/faults.h"

namespace corolane::sim {

// Strikes until run_until() says: must not be destroyed while the cluster runs before that time.
class Nemesis {
 public:
  Nemesis(SimulatedCluster& cluster, std::vector<Fault> faults);
  Nemesis(const Nemesis&) = delete;
  Nemesis& operator=(const Nemesis&) = delete;

  // Starts now. Every fault ends by `until` at the latest, and the cluster is whole again then.
  void run_until(TimePoint until);
  std::uint64_t count() const { return count_; }

 private:
  void plan(std::size_t index);
  void strike(std::size_t index);
  // Begins a fault and schedules its end after `duration`.
  void begin(const Fault& fault, Duration duration, test::Random& dice);
  void arm_section(const Fault& fault, Duration duration, test::Random& dice);
  void strike_node(const Fault& fault, Duration duration, test::Random& dice);
  void strike_network(const Fault& fault, Duration duration, test::Random& dice);
  void strike_directory(const Fault& fault, Duration duration);
  void strike_store(const Fault& fault, Duration duration);
  template <typename Server, typename Change, typename Undo>
  void change_for(Server& server, Duration duration, Change change, Undo undo);
  void later(Duration duration, std::move_only_function<void()> work);
  void note(std::string_view what, std::string detail);
  Host& any_host(test::Random& dice);

  SimulatedCluster& cluster_;
  const std::vector<Fault> faults_;
  std::vector<test::Random> dice_;  // One per fault: leaving one out changes no other.
  TimePoint until_{};
  std::uint64_t count_ = 0;
};

}  // namespace corolane::sim
