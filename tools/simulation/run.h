// One simulated run of the market under faults, and its result. tools/simulate makes many runs, and
// shrinks a failing one.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "framework/cluster/seeded_bugs.h"
#include "framework/testing/faults.h"
#include "framework/testing/trace.h"

namespace corolane::sim {

struct RunPlan {
  std::uint64_t seed = 1;
  std::chrono::seconds length{60};  // Simulated time.
  std::size_t node_count = 5;
  std::size_t client_count = 50;
  std::vector<Fault> faults = {};
  bool shuffles = true;
  framework::SeededBugs bugs = {};
};

struct RunResult {
  std::vector<std::string> violations = {};
  std::uint64_t hash = 0;
  Duration simulated{};
  Duration took{};  // Processor time.
  std::uint64_t step_count = 0;
  std::uint64_t fault_count = 0;
  std::uint64_t call_count = 0;
  std::uint64_t write_count = 0;
  std::uint64_t game_count = 0;
  std::map<std::string, bool> marks = {};
};

// `reader` receives every event; may be null.
RunResult run(const RunPlan& plan, Trace::Reader reader = nullptr);

// The smallest plan that still violates the same invariant ("I3"): fewer faults, fewer nodes, less
// time. Calls `on_step` with each plan that it tries.
RunPlan shrink(const RunPlan& plan, const std::string& invariant,
               const std::function<void(const RunPlan& tried, bool fails)>& on_step);

}  // namespace corolane::sim
