// SPDX-License-Identifier: MIT
// Makes a run for each of many seeds, several at a time, and explains the first that fails.
//
//   DriveOptions options;
//   options.seeds = {.first = 1, .last = 1'000};
//   options.command = "build/game_check";
//   return drive(scenario, RunPlan{.node_count = 5}, options);
//
// `corolane simulate` does this for the tests of a program (simulated_test.h); a program of its own
// calls drive() in its main.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coroutine/base/result.h"
#include "framework/testing/faults.h"
#include "framework/testing/run_plan.h"

namespace corolane::sim {

struct Seeds {
  std::uint64_t first = 1;
  std::uint64_t last = 200;

  std::uint64_t count() const { return last - first + 1; }
};

struct DriveOptions {
  Seeds seeds = {};
  std::size_t job_count = 0;  // Runs at the same time; 0: one for each core.
  // Runs all seeds and reports each failure, instead of explaining the first one.
  bool keeps_going = false;
  // Where the events of a failing run go, or of the run of a single seed, which is then made twice
  // and compared event by event; empty: "seed-N.trace".
  std::string trace = {};
  // Each replaces a part of the plan.
  std::optional<std::chrono::seconds> length = {};
  std::optional<std::size_t> node_count = {};
  std::optional<std::size_t> client_count = {};
  std::optional<std::vector<Fault>> faults = {};
  bool is_in_order = false;
  std::chrono::seconds run_time_max{120};  // Real time.
  std::string command = {};                // Which makes a run again, when options follow it.
};

// Sets one option of a command line: --seeds, --seconds, --nodes, --clients, --faults, --jobs,
// --trace, --in-order or --keep-going. Fails with invalid_argument, and like find_faults().
Result<void> set_option(DriveOptions& options, std::string_view name, std::string_view value);

// Prints progress to standard error, and to standard output a summary, or the first seed that
// fails, a smaller run that fails in the same way, and the command that replays it exactly. Returns
// the exit status: 0, or 1 when a run failed. Blocks.
int drive(const Scenario& scenario, const RunPlan& plan, const DriveOptions& options);

// The first seed that fails, and how; empty: none does. Prints nothing.
struct FailedSeed {
  std::uint64_t seed = 0;
  std::string violation = {};
};
std::optional<FailedSeed> first_failure(const Scenario& scenario, const RunPlan& plan,
                                        const DriveOptions& options);

// The command that makes exactly this run again.
std::string replay_command(const RunPlan& plan, const DriveOptions& options);

}  // namespace corolane::sim
