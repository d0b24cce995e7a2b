// SPDX-License-Identifier: MIT
// Faults as files, and runs of the market under them.
#include "framework/testing/faults.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <string>
#include <vector>

#include "coroutine/testing/matchers.h"
#include "coroutine/testing/temporary_folder.h"
#include "framework/testing/detail/shrink.h"
#include "framework/testing/simulated_run.h"
#include "tools/simulation/planted_bugs.h"
#include "tools/simulation/run.h"

namespace corolane::sim {
namespace {

using namespace std::chrono_literals;
using test::fails_with;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(FaultsTest, AreReadFromFiles) {
  const test::TemporaryFolder folder;
  std::ofstream(folder.path() / "b.yaml") << "fault: pause\nevery: 2s\nlasts_max: 10s\n";
  std::ofstream(folder.path() / "a.yaml") << "fault: reset\n";
  const auto faults = read_faults(folder.path());
  ASSERT_TRUE(faults) << faults.error();
  ASSERT_EQ(faults->size(), 2u);
  EXPECT_EQ((*faults)[0].name, "a");
  EXPECT_EQ((*faults)[0].fault, FaultKind::reset);
  EXPECT_EQ((*faults)[1].fault, FaultKind::pause);
  EXPECT_EQ((*faults)[1].every, 2s);
  EXPECT_EQ((*faults)[1].lasts_max, 10s);
}

TEST(FaultsTest, AnInvalidFileIsRefusedWithItsLine) {
  const test::TemporaryFolder folder;
  const std::string path = folder.path() / "wrong.yaml";
  std::ofstream(path) << "fault: pauze\n";
  const auto misspelled = read_fault(path);
  ASSERT_THAT(misspelled, fails_with(Code::invalid_argument));
  EXPECT_THAT(misspelled.error().message(), HasSubstr("wrong.yaml:1"));
  std::ofstream(path) << "fault: pause\nlasts_min: 2s\nlasts_max: 1s\n";
  EXPECT_THAT(read_fault(path), fails_with(Code::invalid_argument));
  EXPECT_THAT(read_faults(folder.path() / "nowhere"), fails_with(Code::not_found));
}

TEST(FaultsTest, TheStandardFaultsAreTheFilesOfTheFolder) {
  std::vector<std::string> names;
  for (const char* const folder :
       {"framework/testing/faults/network", "framework/testing/faults/machines"}) {
    const auto found = read_faults(folder);
    ASSERT_TRUE(found) << found.error();
    for (const Fault& fault : *found) names.push_back(fault.name);
  }
  std::vector<std::string> standard;
  for (const Fault& fault : standard_faults()) {
    standard.push_back(fault.name);
    EXPECT_EQ(fault.path, "");
  }
  EXPECT_EQ(standard, names);
}

TEST(FaultsTest, AreFoundByNameFileAndFolder) {
  const test::TemporaryFolder folder;
  const std::string path = folder.path() / "long_pause.yaml";
  std::ofstream(path) << "fault: pause\nlasts_max: 20s\n";
  const auto found = find_faults("crash,reset," + path);
  ASSERT_TRUE(found) << found.error();
  ASSERT_EQ(found->size(), 3u);
  EXPECT_EQ((*found)[0].name, "crash");
  EXPECT_EQ((*found)[2].name, "long_pause");
  EXPECT_EQ((*found)[2].path, path);
  EXPECT_EQ(find_faults(folder.path().string())->size(), 1u);
  EXPECT_EQ(find_faults("all")->size(), standard_faults().size());
  EXPECT_THAT(*find_faults("none"), IsEmpty());
}

TEST(FaultsTest, AnUnknownNameIsRefusedWithTheKnownOnes) {
  const auto found = find_faults("crash,rain");
  ASSERT_THAT(found, fails_with(Code::not_found));
  EXPECT_THAT(found.error().message(), HasSubstr("\"rain\" is neither a file"));
  EXPECT_THAT(found.error().message(), HasSubstr(" power_off"));
}

TEST(RunTest, ASeedReplaysExactlyAndAnotherOneDiffers) {
  const Scenario market = market_scenario();
  RunPlan plan{.seed = 11, .length = 15s, .node_count = 3, .client_count = 12};
  const RunResult first = run_once(market, plan);
  EXPECT_THAT(first.violations, IsEmpty());
  EXPECT_GT(first.counts.at("faults"), 5u);
  EXPECT_GT(first.counts.at("calls answered"), 50u);
  EXPECT_EQ(run_once(market, plan).hash, first.hash);
  // A reader of the trace does not change the run.
  std::size_t event_count = 0;
  EXPECT_EQ(run_once(market, plan, [&](const Trace::Event&) { ++event_count; }).hash, first.hash);
  EXPECT_GT(event_count, 1'000u);
  plan.seed = 12;
  EXPECT_NE(run_once(market, plan).hash, first.hash);
}

#ifdef COROLANE_SEEDED_BUGS
TEST(RunTest, AFailingRunIsShrunk) {
  const PlantedBugs planted({.reply_before_write = true});
  const Scenario market = market_scenario();
  const RunPlan plan{.seed = 1, .length = 16s, .node_count = 3, .client_count = 8};
  const auto kind_of_failure = [&](const RunPlan& tried) {
    const RunResult result = run_once(market, tried);
    return result.violations.empty() ? "" : kind_of(result.violations.front());
  };
  ASSERT_EQ(kind_of_failure(plan), "I3");
  const RunPlan smaller =
      shrink(plan, [&](const RunPlan& tried) { return kind_of_failure(tried) == "I3"; });
  EXPECT_THAT(smaller.faults, IsEmpty());
  EXPECT_EQ(smaller.node_count, 1u);
  EXPECT_LE(smaller.client_count, 4u);
  EXPECT_LE(smaller.length, 8s);
}
#endif

}  // namespace
}  // namespace corolane::sim
