// SPDX-License-Identifier: MIT
// The outcome of a run, which its process reports as text.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "coroutine/base/clock.h"
#include "framework/testing/run_plan.h"

namespace corolane::sim {

// The outcome of a seed.
struct SeedOutcome {
  std::uint64_t seed = 0;
  std::string violation = {};  // The first violation; empty: none.
  bool ran_twice = false;
  Duration simulated{};
  Duration took{};
  std::map<std::string, std::uint64_t> counts = {};
  std::map<std::string, bool> marks = {};
  std::map<std::string, std::uint64_t> moments = {};
};

// The violation of a run whose repetition was not the same.
inline constexpr const char* differs = "the second run of the seed differs from the first";

// Runs the seed of `plan`, some seeds twice to check that both runs are the same.
SeedOutcome run_seed(const Scenario& scenario, const RunPlan& plan);

std::string to_text(const SeedOutcome& outcome);
SeedOutcome outcome_of(const std::string& text);

}  // namespace corolane::sim
