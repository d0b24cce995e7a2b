// Faults as files, and runs of the market under them.
#include "framework/testing/faults.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <string>

#include "coroutine/testing/matchers.h"
#include "coroutine/testing/temporary_folder.h"
#include "tools/simulation/run.h"

namespace corolane::sim {
namespace {

using namespace std::chrono_literals;
using test::fails_with;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<Fault> all_faults() {
  std::vector<Fault> all;
  for (const char* const folder :
       {"framework/testing/faults/network", "framework/testing/faults/machines"}) {
    const auto found = read_faults(folder);
    EXPECT_TRUE(found) << found.error();
    if (found) all.insert(all.end(), found->begin(), found->end());
  }
  return all;
}

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

TEST(RunTest, ASeedReplaysExactlyAndAnotherOneDiffers) {
  RunPlan plan{.seed = 11, .length = 15s, .node_count = 3, .client_count = 12};
  plan.faults = all_faults();
  const RunResult first = run(plan);
  EXPECT_THAT(first.violations, IsEmpty());
  EXPECT_GT(first.fault_count, 5u);
  EXPECT_GT(first.call_count, 50u);
  EXPECT_EQ(run(plan).hash, first.hash);
  // A reader of the trace does not change the run.
  std::size_t event_count = 0;
  EXPECT_EQ(run(plan, [&](const Trace::Event&) { ++event_count; }).hash, first.hash);
  EXPECT_GT(event_count, 1'000u);
  plan.seed = 12;
  EXPECT_NE(run(plan).hash, first.hash);
}

TEST(RunTest, AFailingRunIsShrunk) {
  RunPlan plan{.seed = 1, .length = 16s, .node_count = 3, .client_count = 8};
  plan.faults = all_faults();
  plan.bugs.reply_before_write = true;
  const RunResult failed = run(plan);
  ASSERT_FALSE(failed.violations.empty());
  EXPECT_THAT(failed.violations.front(), HasSubstr("I3"));
  const RunPlan smaller = shrink(plan, failed.violations.front(), [](const RunPlan&, bool) {});
  EXPECT_THAT(smaller.faults, IsEmpty());
  EXPECT_EQ(smaller.node_count, 1u);
  EXPECT_LE(smaller.client_count, 4u);
  EXPECT_LE(smaller.length, 8s);
}

}  // namespace
}  // namespace corolane::sim
