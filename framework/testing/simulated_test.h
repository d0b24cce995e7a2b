// SPDX-License-Identifier: MIT
// A test that runs a simulated cluster under faults, for any seed.
//
//   SIMULATED_TEST(GuildTest, NoGoldIsLost, .length = 20s, .node_count = 5)(SimulatedRun& run) {
//     SimulatedCluster cluster(run.options(), host_guilds);
//     cluster.invariant("no gold is lost", [&] { return what_is_lost(cluster); });
//     run.play(cluster);
//   }
//
// The words behind the name are members of RunPlan. Like any other test of the program it runs with
// the rest, for seeds 1 to 5, or for the seed in COROTEST_SEED. For many seeds, several at a time:
//
//     corolane simulate build/my_game_test --seeds 1..1000
//
// A run fails when something is violated, or an expectation of GoogleTest is not met. The first
// failing seed is shrunk, its events are written to a file, and the command that replays it is
// printed.
#pragma once

#include "framework/testing/run_plan.h"
#include "framework/testing/simulated_run.h"

#define SIMULATED_TEST(test_suite, test_name, ...)                                               \
  static void test_suite##_##test_name##_run(::corolane::sim::SimulatedRun& run);                \
  [[maybe_unused]] static const bool test_suite##_##test_name##_is_added =                       \
      ::corolane::sim::add_simulated_test(                                                       \
          {.suite = #test_suite, .test = #test_name, .file = __FILE__, .line = __LINE__},        \
          [] { return ::corolane::sim::RunPlan{__VA_ARGS__}; }, test_suite##_##test_name##_run); \
  static void test_suite##_##test_name##_run

namespace corolane::sim {

struct TestPlace {
  const char* suite;
  const char* test;
  const char* file;
  int line;
};

// Adds the test to GoogleTest's. Returns true, so that it can be called before main.
bool add_simulated_test(const TestPlace& place, RunPlan (*plan)(), void (*body)(SimulatedRun& run));

}  // namespace corolane::sim
