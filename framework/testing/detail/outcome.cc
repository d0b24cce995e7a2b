// SPDX-License-Identifier: MIT
#include "framework/testing/detail/outcome.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "framework/testing/detail/other_addresses.h"
#include "framework/testing/simulated_run.h"

namespace corolane::sim {
namespace {

using nlohmann::json;

// One in this many seeds is run twice. It is not a multiple of `in_order_one_in`
// (simulated_run.cc), so that both orders are covered.
constexpr std::uint64_t twice_one_in = 19;

}  // namespace

SeedOutcome run_seed(const Scenario& scenario, const RunPlan& plan) {
  RunResult result = run_once(scenario, plan);
  SeedOutcome outcome{.seed = plan.seed,
                      .violation = result.violations.empty() ? "" : result.violations.front(),
                      .ran_twice = plan.seed % twice_one_in == 0,
                      .simulated = result.simulated,
                      .took = result.took,
                      .counts = std::move(result.counts),
                      .marks = std::move(result.marks),
                      .moments = std::move(result.moments)};
  if (outcome.ran_twice) {
    const OtherAddresses elsewhere;
    const RunResult again = run_once(scenario, plan);
    if (again.hash != result.hash && outcome.violation.empty()) outcome.violation = differs;
    outcome.simulated += again.simulated;
    outcome.took += again.took;
  }
  return outcome;
}

std::string to_text(const SeedOutcome& outcome) {
  return json{{"seed", outcome.seed},         {"violation", outcome.violation},
              {"twice", outcome.ran_twice},   {"simulated", outcome.simulated.count()},
              {"took", outcome.took.count()}, {"counts", outcome.counts},
              {"marks", outcome.marks},       {"moments", outcome.moments}}
      .dump(-1, ' ', false, json::error_handler_t::replace);
}

SeedOutcome outcome_of(const std::string& text) {
  const json read = json::parse(text);
  return {.seed = read["seed"],
          .violation = read["violation"],
          .ran_twice = read["twice"],
          .simulated = Duration(read["simulated"]),
          .took = Duration(read["took"]),
          .counts = read["counts"],
          .marks = read["marks"],
          .moments = read["moments"]};
}

}  // namespace corolane::sim
