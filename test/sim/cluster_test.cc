// Clusters that are simulated whole: they serve, they survive, and a seed replays them.
#include "test/sim/cluster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "coroutine/task.h"
#include "test/framework/counter.h"

namespace corolane::sim {
namespace {

using namespace std::chrono_literals;
using testing::IsEmpty;

void host_counters(framework::Node& node) { node.host<test::Counter>(); }

test::AddRequest one() {
  test::AddRequest request;
  request.set_amount(1);
  return request;
}

TEST(SimulatedClusterTest, ServesItsClients) {
  SimulatedCluster cluster({.seed = 1, .nodes = 3}, host_counters);
  if (std::getenv("TRACE"))
    cluster.simulation().trace().set_reader([](const Trace::Event& e) {
      std::printf("%.6f %.*s %.*s %s\n",
                  static_cast<double>(e.at.time_since_epoch().count()) / 1e9 - 3600,
                  static_cast<int>(e.host.size()), e.host.data(), static_cast<int>(e.what.size()),
                  e.what.data(), e.detail.c_str());
    });
  EXPECT_TRUE(cluster.run("client", [&] {
    for (int i = 0; i < 100; ++i) {
      test::CounterClient counter(cluster.router("client"), std::to_string(i));
      const auto added = counter.add_for_good(one());
      EXPECT_TRUE(added) << added;
    }
  }));
  EXPECT_THAT(cluster.violations(), IsEmpty());
  EXPECT_EQ(cluster.stored<test::CounterState>("corolane.test.Counter", "7").value(), 1);
}

TEST(SimulatedClusterTest, LosesNothingByACrash) {
  SimulatedCluster cluster({.seed = 2, .nodes = 3}, host_counters);
  cluster.spawn("client", [&] {
    for (int i = 0; i < 300; ++i) {
      test::CounterClient counter(cluster.router("client"), std::to_string(i % 10));
      EXPECT_TRUE(counter.add_for_good(one()));
      EXPECT_TRUE(coroutine::sleep_for(20ms));
    }
  });
  cluster.run_for(6s);
  cluster.crash(1);
  cluster.run_for(1s);
  cluster.restart(1);
  EXPECT_TRUE(cluster.run_until([&] { return cluster.are_clients_done(); }, 1min));
  EXPECT_THAT(cluster.violations(), IsEmpty());
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(
        cluster.stored<test::CounterState>("corolane.test.Counter", std::to_string(i)).value(), 30);
  }
}

}  // namespace
}  // namespace corolane::sim
