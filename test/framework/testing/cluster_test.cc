// SPDX-License-Identifier: MIT
// Whole simulated clusters serve, survive faults, and replay from a seed.
#include "framework/testing/cluster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "coroutine/task.h"
#include "coroutine/task_group.h"
#include "coroutine/testing/matchers.h"
#include "framework/node/node.h"
#include "test/framework/counter.h"
#include "test/framework/puppet.h"
#include "tools/simulation/planted_bugs.h"

namespace corolane::sim {
namespace {

using namespace std::chrono_literals;
using test::fails_with;
using testing::ElementsAre;
using testing::IsEmpty;

void host_counters(framework::Node& node) { node.host<test::Counter>(); }

test::AddRequest one() {
  test::AddRequest request;
  request.set_amount(1);
  return request;
}

void add_to_all(SimulatedCluster& cluster) {
  for (int i = 0; i < 100; ++i) {
    test::CounterClient counter(cluster.router("client"), std::to_string(i));
    const auto added = counter.add_for_good(one());
    EXPECT_TRUE(added) << added;
  }
}

TEST(SimulatedClusterTest, ServesItsClients) {
  SimulatedCluster cluster({.seed = 1, .nodes = 3}, host_counters);
  EXPECT_TRUE(cluster.run("client", [&] { add_to_all(cluster); }));
  EXPECT_THAT(cluster.violations(), IsEmpty());
  EXPECT_EQ(cluster.stored<test::CounterState>("corolane.test.Counter", "7").value(), 1);
}

TEST(SimulatedClusterTest, ServesItsClientsOnAllShards) {
  std::set<std::size_t> shards;
  const auto set_up = [&shards](framework::Node& node) {
    node.host<test::Counter>([&shards](framework::Shard& shard) {
      shards.insert(shard.index());
      return std::make_unique<test::Counter>();
    });
  };
  SimulatedCluster cluster({.seed = 1, .nodes = 2, .shards = 4}, set_up);
  const auto add = [&] { add_to_all(cluster); };
  EXPECT_TRUE(cluster.run("client", add));
  EXPECT_THAT(shards, ElementsAre(0, 1, 2, 3));
  cluster.crash(0);
  EXPECT_TRUE(cluster.run("client after a crash", add));
  EXPECT_THAT(cluster.violations(), IsEmpty());
  EXPECT_EQ(cluster.stored<test::CounterState>("corolane.test.Counter", "7").value(), 2);
}

TEST(SimulatedClusterTest, AClusterOfManyPartitionsServesItsClients) {
  SimulatedCluster cluster({.seed = 1, .nodes = 3, .partition_count = 4'096}, host_counters);
  const auto add = [&] { add_to_all(cluster); };
  EXPECT_TRUE(cluster.run("client", add));
  cluster.crash(0);
  EXPECT_TRUE(cluster.run("client after a crash", add));
  EXPECT_THAT(cluster.violations(), IsEmpty());
  EXPECT_EQ(cluster.stored<test::CounterState>("corolane.test.Counter", "7").value(), 2);
}

TEST(SimulatedClusterTest, ObjectsOfOneAffinityLiveTogether) {
  std::map<std::string, std::set<std::string>> places;
  std::list<test::Puppet::Strings> strings;
  std::set<std::string> counters;  // Where the counter was.
  const auto set_up = [&](framework::Node& node) {
    const framework::HostOptions together = {.affinity = "player"};
    node.host<test::Counter>(
        [&](framework::Shard& shard) {
          counters.insert(node.config().name + "/" + std::to_string(shard.index()));
          return std::make_unique<test::Counter>();
        },
        together);
    node.host<test::Puppet>(
        [&](framework::Shard& shard) {
          const auto place = node.config().name + "/" + std::to_string(shard.index());
          const auto run = [&places, place](test::Puppet& puppet) -> Result<void> {
            places[puppet.id().substr(0, puppet.id().find('/'))].insert(place);
            return {};
          };
          return std::make_unique<test::Puppet>(
              strings.emplace_back(test::Puppet::Strings{.run = run}));
        },
        together);
  };
  SimulatedCluster cluster({.seed = 1, .nodes = 3, .shards = 2}, set_up);
  EXPECT_TRUE(cluster.run("client", [&] {
    for (int i = 0; i < 30; ++i) {
      for (const char* rest : {"", "/sword", "/bag/3"}) {
        test::PuppetClient puppet(cluster.router("client"), std::to_string(i) + rest);
        const auto ran = puppet.run({});
        EXPECT_TRUE(ran) << ran;
      }
    }
    const auto added = test::CounterClient(cluster.router("client"), "7").add(one());
    EXPECT_TRUE(added) << added;
  }));
  EXPECT_EQ(counters, places["7"]);
  std::set<std::string> all;
  for (const auto& [name, where] : places) {
    EXPECT_EQ(where.size(), 1U) << name;
    all.insert(where.begin(), where.end());
  }
  EXPECT_GT(all.size(), 3U);
}

// The client tries again when one of its calls has closed a cycle.
TEST(SimulatedClusterTest, ObjectsThatCallEachOtherOverShardsWaitForNoDeadline) {
  SimulatedCluster cluster({.seed = 3, .nodes = 1, .shards = 4}, host_counters);
  const auto add_along = [&](const std::string& client, int from, int to) {
    test::AddAlongRequest request;
    request.add_ids(std::to_string(to));
    const auto added =
        test::CounterClient(cluster.router(client), std::to_string(from)).add_along(request);
    EXPECT_TRUE(added) << added;
  };
  EXPECT_TRUE(cluster.run("client", [&] {
    for (int i = 0; i < 4; ++i) add_along("first", i, (i + 1) % 4);
    const TimePoint start = now();
    coroutine::TaskGroup clients;
    for (int i = 0; i < 20; ++i) {
      ASSERT_TRUE(clients.spawn("client", [&add_along, i] {
        const int pair = i % 2 * 2;
        const bool is_first = i % 4 < 2;
        for (int j = 0; j < 20; ++j) {
          add_along("client " + std::to_string(i), pair + (is_first ? 0 : 1),
                    pair + (is_first ? 1 : 0));
        }
      }));
    }
    EXPECT_TRUE(clients.join(Deadline::never()));
    EXPECT_LT(now() - start, 5s);
  }));
  EXPECT_THAT(cluster.violations(), IsEmpty());
}

TEST(SimulatedClusterTest, LosesNoWriteInACrash) {
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

TEST(SimulatedClusterTest, PartitionedNodesServeAgainAfterTheyHeal) {
  SimulatedCluster cluster({.seed = 3, .nodes = 3}, host_counters);
  cluster.run_for(3s);
  cluster.partition({0}, {1, 2});
  cluster.run_for(5s);
  cluster.heal();
  EXPECT_TRUE(cluster.run(
      "client",
      [&] {
        for (int i = 0; i < 30; ++i) {
          test::CounterClient counter(cluster.router("client"), std::to_string(i));
          EXPECT_TRUE(counter.add_for_good(one()));
        }
      },
      1min));
  EXPECT_THAT(cluster.violations(), IsEmpty());
}

TEST(SimulatedClusterTest, ASwitchedOffMachineLosesItsObjectsWhenItsLeaseExpires) {
  SimulatedCluster cluster({.seed = 4, .nodes = 3}, host_counters);
  cluster.run_for(3s);
  const std::size_t owner = cluster.owner_of("corolane.test.Counter", "7").value();
  cluster.switch_off(owner);
  TimePoint answered_at{};
  const TimePoint start = cluster.simulation().now();
  EXPECT_TRUE(cluster.run("client", [&] {
    EXPECT_TRUE(test::CounterClient(cluster.router("client"), "7").add_for_good(one()));
    answered_at = cluster.simulation().now();
  }));
  EXPECT_GT(answered_at - start, 4s);
  EXPECT_LT(answered_at - start, 10s);
  EXPECT_NE(cluster.owner_of("corolane.test.Counter", "7"), owner);
}

// Counts what is answered while the directory is away from these nodes for half a minute.
int answered_without_directory(SimulatedCluster& cluster, std::size_t node_count) {
  EXPECT_TRUE(cluster.run("client before", [&] {
    EXPECT_TRUE(test::CounterClient(cluster.router("client before"), "0").add_for_good(one()));
  }));
  cluster.run_for(10s);  // All partitions have reached their owners.
  for (std::size_t i = 0; i < node_count; ++i) {
    cluster.fabric().cut(cluster.node_host(i), cluster.directory().host());
    cluster.fabric().cut(cluster.directory().host(), cluster.node_host(i));
  }
  cluster.run_for(10s);
  int answered = 0;
  bool is_away = true;
  cluster.spawn("client", [&] {
    for (int i = 0; is_away; ++i) {
      test::CounterClient counter(cluster.router("client"), std::to_string(i % 10));
      const rpc::CallOptions soon = {.deadline = Deadline::after(500ms)};
      if (counter.add_for_good(one(), soon) && counter.get({}, soon)) ++answered;
      EXPECT_TRUE(coroutine::sleep_for(100ms));
    }
  });
  cluster.run_for(20s);
  is_away = false;
  const int before_return = answered;
  for (std::size_t i = 0; i < node_count; ++i) {
    cluster.fabric().mend(cluster.node_host(i), cluster.directory().host());
    cluster.fabric().mend(cluster.directory().host(), cluster.node_host(i));
  }
  EXPECT_TRUE(cluster.run_until([&] { return cluster.are_clients_done(); }, 1min));
  EXPECT_TRUE(cluster.run("client after", [&] {
    for (int i = 0; i < 10; ++i) {
      test::CounterClient counter(cluster.router("client after"), std::to_string(i));
      EXPECT_TRUE(counter.add_for_good(one()));
    }
  }));
  EXPECT_THAT(cluster.violations(), IsEmpty());
  return before_return;
}

TEST(SimulatedClusterTest, NodesMayServeWithoutTheirDirectory) {
  SimulatedCluster serving(
      {.seed = 9, .nodes = 3, .without_directory = framework::WithoutDirectory::serve},
      host_counters);
  EXPECT_GT(answered_without_directory(serving, 3), 100);
  SimulatedCluster refusing(
      {.seed = 9, .nodes = 3, .without_directory = framework::WithoutDirectory::refuse},
      host_counters);
  EXPECT_EQ(answered_without_directory(refusing, 3), 0);
}

TEST(SimulatedClusterTest, ANodeWithoutItsDirectoryGivesWayToTheOthers) {
  SimulatedCluster cluster(
      {.seed = 10, .nodes = 3, .without_directory = framework::WithoutDirectory::serve},
      host_counters);
  EXPECT_GT(answered_without_directory(cluster, 1), 50);
}

TEST(SimulatedClusterTest, AStoppedNodeHandsOverItsObjects) {
  SimulatedCluster cluster({.seed = 5, .nodes = 2}, host_counters);
  cluster.run_for(5s);
  cluster.stop(0);
  EXPECT_TRUE(cluster.run_until([&] { return !cluster.is_running(0); }, 20s));
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(cluster.owner_of("corolane.test.Counter", std::to_string(i)), 1u);
  }
}

TEST(SimulatedClusterTest, AReplacedDirectoryIsRefusedUntilOperatorsAcceptIt) {
  SimulatedCluster cluster({.seed = 8, .nodes = 3}, host_counters);
  const auto add = [&](Duration patience) {
    return cluster.run(
        "client",
        [&] {
          const rpc::CallOptions options{.deadline = Deadline::after(patience)};
          test::CounterClient counter(cluster.router("client"), "7");
          EXPECT_TRUE(counter.add_for_good(one(), options));
        },
        patience);
  };
  EXPECT_TRUE(add(10s));
  cluster.directory().replace();
  cluster.run_for(20s);
  EXPECT_FALSE(cluster.owner_of("corolane.test.Counter", "7")) << "nobody has joined it";
  cluster.directory().accept();
  EXPECT_TRUE(add(10s));
  EXPECT_TRUE(cluster.owner_of("corolane.test.Counter", "7"));
  EXPECT_EQ(cluster.stored<test::CounterState>("corolane.test.Counter", "7").value(), 2);
  EXPECT_THAT(cluster.violations(), IsEmpty());
}

TEST(SimulatedClusterTest, AnOwnerNoticesThatTheStoreHasLostItsWrites) {
  SimulatedCluster cluster({.seed = 4, .nodes = 1}, host_counters);
  const auto add = [&] {
    return test::CounterClient(cluster.router("client"), "a").add_for_good(one());
  };
  EXPECT_TRUE(cluster.run("first", [&] { EXPECT_TRUE(add()); }));
  cluster.store().begin_losing();
  EXPECT_TRUE(cluster.run("second", [&] { EXPECT_TRUE(add()); }));
  cluster.store().lose();
  cluster.store().lose();
  EXPECT_TRUE(cluster.run("third", [&] { EXPECT_THAT(add(), fails_with(Code::data_loss)); }));
  EXPECT_TRUE(cluster.run("fourth", [&] { EXPECT_TRUE(add()); }));
  EXPECT_THAT(cluster.violations(), IsEmpty());
  EXPECT_EQ(cluster.stored<test::CounterState>("corolane.test.Counter", "a").value(), 2)
      << "those of the first and of the fourth";
}

TEST(SimulatedClusterTest, AnInvariantThatIsViolatedEndsTheRun) {
  SimulatedCluster cluster({.seed = 6, .nodes = 1}, host_counters);
  cluster.invariant("time stands still",
                    [&] { return cluster.simulation().elapsed() > 2s ? "it does not" : ""; });
  cluster.run_for(1min);
  EXPECT_THAT(cluster.violations(), testing::ElementsAre("time stands still: it does not"));
  EXPECT_LT(cluster.simulation().elapsed(), 3s);
}

TEST(SimulatedClusterTest, ARareStateIsMarkedOnceItIsReached) {
  SimulatedCluster cluster({.seed = 7, .nodes = 1}, host_counters);
  cluster.sometimes("it rains", false);
  cluster.sometimes("it snows", false);
  cluster.sometimes("it rains");
  EXPECT_TRUE(cluster.marks().at("it rains"));
  EXPECT_FALSE(cluster.marks().at("it snows"));
}

#ifdef COROLANE_SEEDED_BUGS
// The checkers catch a bug that is seeded into the nodes.
TEST(SimulatedClusterTest, AnOwnerThatForgetsRequestsIsCaught) {
  const PlantedBugs planted({.request_ids_outside_state = true});
  SimulatedCluster cluster({.seed = 8, .nodes = 2}, host_counters);
  cluster.spawn("client", [&] {
    static_cast<void>(test::CounterClient(cluster.router("client"), "1").add_for_good(one()));
  });
  cluster.run_for(10s);
  ASSERT_FALSE(cluster.violations().empty());
  EXPECT_THAT(cluster.violations().front(), testing::StartsWith("I3 "));
}
#endif

}  // namespace
}  // namespace corolane::sim
