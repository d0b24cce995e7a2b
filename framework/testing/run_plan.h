// SPDX-License-Identifier: MIT
// One simulated run: all that decides it, and what came out.
//
//   const RunPlan plan{.seed = 7, .length = 20s, .node_count = 5};
//   const RunResult result = run_once(scenario, plan);  // simulated_run.h
//   EXPECT_THAT(result.violations, IsEmpty());
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "coroutine/base/clock.h"
#include "framework/testing/faults.h"

namespace corolane::sim {

class SimulatedRun;

// Equal plans give equal runs, step by step.
struct RunPlan {
  std::uint64_t seed = 1;
  std::chrono::seconds length{30};  // Simulated time, at least 8 s.
  std::size_t node_count = 3;
  std::size_t client_count = 10;  // For a test whose clients can be more or fewer.
  std::vector<Fault> faults = standard_faults();
  // Ready tasks run in any order, except in one of four seeds.
  bool shuffles = true;
};

struct RunResult {
  std::vector<std::string> violations = {};
  std::uint64_t hash = 0;  // It covers all events.
  Duration simulated{};
  Duration took{};                                   // Processor time.
  std::map<std::string, std::uint64_t> counts = {};  // Such as {"faults", 17}.
  std::map<std::string, bool> marks = {};            // See SimulatedCluster::sometimes().
  // The crashes at each moment of a marked section (section_crashes.h).
  std::map<std::string, std::uint64_t> moments = {};
};

// The code of a run.
using Scenario = std::function<void(SimulatedRun& run)>;

// The invariant that is violated: "I3" for one of ownership; otherwise the part before the first
// colon, which is the name of an invariant.
std::string kind_of(const std::string& violation);

}  // namespace corolane::sim
