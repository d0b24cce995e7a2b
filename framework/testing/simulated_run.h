// SPDX-License-Identifier: MIT
// A run of a simulated cluster under faults, for a test that runs for many seeds
// (simulated_test.h).
//
//   SIMULATED_TEST(GuildTest, NoDonationIsLost, .length = 20s)(SimulatedRun& run) {
//     std::uint64_t told = 0;
//     SimulatedCluster cluster(run.options(), host_guilds);
//     cluster.spawn("anna", [&] {
//       GuildClient guild(cluster.router("anna"), "lions");
//       while (!run.is_ending()) {
//         if (guild.donate(donation(1))) ++told;
//       }
//     });
//     run.play(cluster);
//     EXPECT_EQ(cluster.stored<GuildRecord>("my_game.Guild", "lions").gold(), told);
//   }
//
// Faults strike from the time at which the cluster serves until 70 % of the run. At 80 %
// is_ending() becomes true, and the clients have ten seconds to return: all objects must answer
// then.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "coroutine/base/clock.h"
#include "framework/testing/cluster.h"
#include "framework/testing/nemesis.h"
#include "framework/testing/run_plan.h"
#include "framework/testing/trace.h"

namespace corolane::sim {

// Outlives the cluster.
class SimulatedRun {
 public:
  // `reader` receives every event; may be null.
  SimulatedRun(const RunPlan& plan, Trace::Reader reader)
      : plan_(plan), reader_(std::move(reader)) {}
  SimulatedRun(const SimulatedRun&) = delete;
  SimulatedRun& operator=(const SimulatedRun&) = delete;

  const RunPlan& plan() const { return plan_; }

  // `options` with the seed, the nodes and the order of this run. The cluster that is made of them
  // reports to this run when it is destroyed.
  SimulatedCluster::Options options(SimulatedCluster::Options options = {});

  // A fault that strikes besides those of the plan. Call it before open().
  void add_fault(Fault fault) { own_faults_.push_back(std::move(fault)); }

  // open() and close().
  void play(SimulatedCluster& cluster);
  // Lets the cluster start, until it serves, and faults strike from then on.
  void open(SimulatedCluster& cluster);
  // Lets the clients work, then ends the run and waits until all clients have returned. Returns
  // false when something was violated.
  bool close(SimulatedCluster& cluster);

  // Clients start nothing new, and return soon.
  bool is_ending() const { return is_ending_; }

  // Adds to a figure that is summed over all runs, such as "games".
  void count(const std::string& what, std::uint64_t number) { result_.counts[what] += number; }
  // Reports a violation, like SimulatedCluster::violated().
  void violated(std::string what) { result_.violations.push_back(std::move(what)); }
  // The run ends early once `has_failed` returns true.
  void set_has_failed(std::function<bool()> has_failed) { has_failed_ = std::move(has_failed); }

  // The time from now until that part of the run is over.
  Duration until_part(const SimulatedCluster& cluster, double part) const;

  RunResult& result() { return result_; }

 private:
  void run_for(SimulatedCluster& cluster, Duration duration);
  void take(SimulatedCluster& cluster);

  const RunPlan plan_;
  const Trace::Reader reader_;
  std::function<bool()> has_failed_ = [] { return false; };
  bool is_ending_ = false;
  std::vector<Fault> own_faults_;
  std::optional<Nemesis> nemesis_;
  RunResult result_;
};

// Runs `scenario` once.
RunResult run_once(const Scenario& scenario, const RunPlan& plan, Trace::Reader reader = nullptr);

}  // namespace corolane::sim
