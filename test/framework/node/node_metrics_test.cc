// SPDX-License-Identifier: MIT
#include "framework/node/node_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "coroutine/testing/programs.h"
#include "coroutine/testing/temporary_folder.h"
#include "framework/node/node.h"
#include "net/testing/network.h"
#include "test/framework/counter.h"
#include "test/framework/slow_service.h"
#include "test/framework/test_node.h"

namespace corolane::framework {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

// The metrics of a node that has served one call of a service and one of an object.
std::string metrics_of_a_node() {
  sim::SimulatedNetwork network;
  Node node(test::node_config("metrics"), network);
  node.serve(test::SlowService());
  node.host<test::Counter>();
  EXPECT_TRUE(node.start());
  const auto client = test::connect(network, node);
  const bool called = client && test::SlowClient(*client).wait(test::wait_request(3ms)).has_value();
  EXPECT_TRUE(called);
  EXPECT_TRUE(test::CounterClient(node.router(), "a").add_for_good({}));
  const auto text = metrics_text(node);
  EXPECT_TRUE(text) << text;
  return text.value_or("");
}

TEST(NodeMetricsTest, NamesAndTypesAreThoseOfTheGoldenList) {
  std::ifstream file("test/data/metrics.txt");
  ASSERT_TRUE(file) << "run the test from the root of the repository";
  std::string expected;
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with('#')) expected.append(line).append("\n");
  }
  std::string actual;
  std::istringstream text(metrics_of_a_node());
  constexpr std::string_view type_line = "# TYPE ";
  for (std::string line; std::getline(text, line);) {
    if (line.starts_with(type_line)) actual.append(line.substr(type_line.size())).append("\n");
  }
  EXPECT_EQ(actual, expected)
      << "dashboards and alerts use these names: change the list on purpose";
}

TEST(NodeMetricsTest, PromtoolHasNoComplaints) {
  COROLANE_NEEDS(test::missing_program("promtool"));
  const test::TemporaryFolder folder;
  const std::string path = folder.path() / "metrics.txt";
  std::ofstream(path) << metrics_of_a_node();
  EXPECT_EQ(std::system(("promtool check metrics <" + path).c_str()), 0);
}

TEST(NodeMetricsTest, CallsAreCountedByMethod) {
  const std::string text = metrics_of_a_node();
  EXPECT_THAT(text,
              HasSubstr("\ncorolane_rpc_calls_total{method=\"corolane.test.Slow/Wait\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("\ncorolane_rpc_call_seconds_bucket"
                              "{method=\"corolane.test.Slow/Wait\",le=\"0.001\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("\ncorolane_rpc_call_seconds_bucket"
                              "{method=\"corolane.test.Slow/Wait\",le=\"0.005\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("\ncorolane_node_info{name=\"metrics\",version=\""));
}

TEST(NodeMetricsTest, ObjectsAreCountedByType) {
  const std::string text = metrics_of_a_node();
  for (const char* name : {"active", "calls_total", "activations_total", "saves_total"}) {
    EXPECT_THAT(text, HasSubstr(std::string("\ncorolane_objects_") + name +
                                "{type=\"corolane.test.Counter\"} 1\n"));
  }
  EXPECT_THAT(text, HasSubstr("\ncorolane_cluster_members 1\n"));
  EXPECT_THAT(text, HasSubstr("\ncorolane_cluster_partitions 1024\n"));
  EXPECT_THAT(text, HasSubstr("\ncorolane_cluster_partitions_claimed_total 1024\n"));
  EXPECT_THAT(text, HasSubstr("\ncorolane_cluster_fence_seconds +Inf\n"));
}

}  // namespace
}  // namespace corolane::framework
