// SPDX-License-Identifier: MIT
// The plans that shrinking a failing plan leaves.
#include "framework/testing/detail/shrink.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

namespace corolane::sim {
namespace {

using namespace std::chrono_literals;
using testing::IsEmpty;

std::vector<std::string> names_of(const std::vector<Fault>& faults) {
  std::vector<std::string> names;
  for (const Fault& fault : faults) names.push_back(fault.name);
  return names;
}

bool has(const RunPlan& plan, const std::string& fault) {
  return std::ranges::find(plan.faults, fault, &Fault::name) != plan.faults.end();
}

TEST(ShrinkTest, KeepsTheFaultsThatTheFailureNeeds) {
  int runs = 0;
  const RunPlan smallest = shrink(RunPlan(), [&](const RunPlan& tried) {
    ++runs;
    return has(tried, "crash") && has(tried, "no_store");
  });
  EXPECT_THAT(names_of(smallest.faults), testing::UnorderedElementsAre("crash", "no_store"));
  EXPECT_LT(runs, 60);
}

TEST(ShrinkTest, KeepsNoFaultWhenItFailsWithoutAny) {
  int runs = 0;
  const RunPlan smallest =
      shrink(RunPlan{.length = 8s, .node_count = 1, .client_count = 4}, [&](const RunPlan&) {
        ++runs;
        return true;
      });
  EXPECT_THAT(smallest.faults, IsEmpty());
  EXPECT_EQ(runs, 1);
}

TEST(ShrinkTest, KeepsTheNodesClientsAndTimeThatTheFailureNeeds) {
  const RunPlan plan{.length = 60s, .node_count = 5, .client_count = 50, .faults = {}};
  const RunPlan smallest = shrink(plan, [](const RunPlan& tried) {
    return tried.node_count >= 2 && tried.client_count >= 9 && tried.length >= 20s;
  });
  EXPECT_EQ(smallest.node_count, 2u);
  EXPECT_GE(smallest.client_count, 9u);
  EXPECT_LE(smallest.client_count, 12u);
  EXPECT_GE(smallest.length, 20s);
  EXPECT_LE(smallest.length, 27s);
}

TEST(ShrinkTest, LeavesAsManyClientsAsACommandLineAccepts) {
  for (std::size_t count = 4; count < 60; ++count) {
    const RunPlan plan{.length = 8s, .node_count = 1, .client_count = count, .faults = {}};
    EXPECT_EQ(shrink(plan, [](const RunPlan&) { return true; }).client_count, 4u) << count;
  }
}

TEST(ShrinkTest, APlanThatFailsOnlyAsItIsStays) {
  const RunPlan plan;
  const RunPlan smallest = shrink(plan, [](const RunPlan&) { return false; });
  EXPECT_EQ(names_of(smallest.faults), names_of(plan.faults));
  EXPECT_EQ(smallest.node_count, plan.node_count);
  EXPECT_EQ(smallest.length, plan.length);
}

}  // namespace
}  // namespace corolane::sim
