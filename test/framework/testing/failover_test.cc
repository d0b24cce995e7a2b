// SPDX-License-Identifier: MIT
// What the failover of a node costs the others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <string>

#include "framework/testing/cluster.h"
#include "framework/wire/partition.h"
#include "test/framework/counter.h"

namespace corolane::sim {
namespace {

using namespace std::chrono_literals;
using testing::IsEmpty;

void host_counted(framework::Node& node) { node.host<test::Counter>(); }

// A storm of reads would make a failover last: the directory decides about leases, too.
TEST(FailoverTest, CallsThatWaitForAnOwnerReadLittleOfTheDirectory) {
  SimulatedCluster cluster({.seed = 1, .nodes = 3}, host_counted);
  cluster.run_for(10s);
  const auto reads = [&](std::size_t node) {
    return cluster.directory().reads_of(cluster.node_host(node));
  };
  const auto before_0 = reads(0);
  const auto before_2 = reads(2);
  cluster.switch_off(1);
  for (int i = 0; i < 400; ++i) {
    cluster.spawn("client", [&cluster, id = std::to_string(i)] {
      EXPECT_TRUE(test::CounterClient(cluster.router("client " + id), id)
                      .add_for_good(test::add_request(1)));
    });
  }
  EXPECT_TRUE(cluster.run_until([&] { return cluster.are_clients_done(); }, 20s));
  EXPECT_THAT(cluster.violations(), IsEmpty());
  for (const auto& [before, after] :
       {std::pair(before_0, reads(0)), std::pair(before_2, reads(2))}) {
    EXPECT_EQ(after.list_count, before.list_count);
    // The watch tells of each partition that has moved; one list has a thousand entries.
    EXPECT_LT(after.entry_count - before.entry_count, 2 * framework::partition_count_min);
    EXPECT_LT(after.request_count - before.request_count, 100U);
  }
}

}  // namespace
}  // namespace corolane::sim
