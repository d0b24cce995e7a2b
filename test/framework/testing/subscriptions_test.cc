// SPDX-License-Identifier: MIT
// What subscriptions cost a whole cluster, and what subscribers hear under faults.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "coroutine/task.h"
#include "coroutine/task_group.h"
#include "framework/node/node.h"
#include "framework/node/shard.h"
#include "framework/routing/detail/push_hub.h"
#include "framework/testing/cluster.h"
#include "test/framework/room.h"
#include "test/framework/room_mirror.h"

namespace corolane::sim {
namespace {

using namespace std::chrono_literals;

constexpr int room_count = 250;
constexpr int listener_count = 400;
constexpr int rooms_per_listener = 25;

class SubscriptionsTest : public testing::Test {
 protected:
  void host(framework::Node& node) {
    node.host<test::Room>();
    node.host<test::Listener>();
    node.serve([this](framework::Shard& shard) {
      shards_.insert(&shard);
      return std::make_unique<test::WatchService>(shard.router());
    });
  }
  static std::string room(int i) { return "room " + std::to_string(i % room_count); }
  test::ListenerClient listener(int i) {
    return {cluster_.router("client"), "listener " + std::to_string(i)};
  }
  void listen(int from, int to) {
    for (int i = 0; i < listener_count; ++i) {
      for (int j = from; j < to; ++j) {
        test::ListenRequest request;
        request.set_room(room(i + 16 * j));  // A different one for each j.
        const auto listening = listener(i).listen(request);
        ASSERT_TRUE(listening) << listening;
      }
    }
  }
  std::size_t stacks() const {
    std::size_t count = 0;
    for (const auto* const shard : shards_) {
      count += shard->scheduler().stacks().statistics().in_use_count;
    }
    return count;
  }
  std::uint64_t serialised() const {
    std::uint64_t count = 0;
    for (const auto* const shard : shards_) {
      count += shard->push().outlets().statistics().serialised_count;
    }
    return count;
  }

  std::set<framework::Shard*> shards_;
  SimulatedCluster cluster_{{.seed = 1, .nodes = 2, .shards = 4},
                            [this](framework::Node& node) { host(node); }};
};

TEST_F(SubscriptionsTest, TenThousandNeedNoStackAndAPublicationIsSerialisedOnce) {
  // One subscription of each listener connects all shards.
  ASSERT_TRUE(cluster_.run("first subscriptions", [&] { listen(0, 1); }));
  cluster_.run_for(2s);
  ASSERT_EQ(shards_.size(), 8U);
  const std::size_t stacks_before = stacks();

  ASSERT_TRUE(cluster_.run("all subscriptions", [&] { listen(1, rooms_per_listener); }));
  cluster_.run_for(2s);
  EXPECT_LE(stacks(), stacks_before + 8);

  EXPECT_EQ(serialised(), 0U);
  ASSERT_TRUE(cluster_.run("publications", [&] {
    for (int i = 0; i < room_count; ++i) {
      const auto said =
          test::RoomClient(cluster_.router("client"), room(i)).say(test::say_request("hello"));
      ASSERT_TRUE(said) << said;
    }
  }));
  cluster_.run_for(2s);
  EXPECT_EQ(serialised(), static_cast<std::uint64_t>(room_count));
  ASSERT_TRUE(cluster_.run("what was heard", [&] {
    for (int i = 0; i < listener_count; ++i) {
      const auto heard = listener(i).heard({});
      ASSERT_TRUE(heard) << heard;
      EXPECT_EQ(heard->texts_size(), rooms_per_listener);
      EXPECT_EQ(heard->gap_count(), static_cast<std::uint32_t>(rooms_per_listener));
    }
  }));
}

TEST_F(SubscriptionsTest, AfterAPartitionListenersHearAgain) {
  ASSERT_TRUE(cluster_.run("subscriptions", [&] { listen(0, 1); }));
  cluster_.partition({0}, {1});
  cluster_.run_for(30s);
  cluster_.heal();
  cluster_.run_for(30s);
  ASSERT_TRUE(cluster_.run("publications", [&] {
    for (int i = 0; i < room_count; ++i) {
      const auto said =
          test::RoomClient(cluster_.router("client"), room(i)).say(test::say_request("hello"));
      ASSERT_TRUE(said) << said;
    }
  }));
  cluster_.run_for(2s);
  ASSERT_TRUE(cluster_.run("what was heard", [&] {
    for (int i = 0; i < listener_count; ++i) {
      const auto heard = listener(i).heard({});
      ASSERT_TRUE(heard) << heard;
      EXPECT_EQ(heard->texts_size(), 1) << i;
    }
  }));
}

// What the shards of a cluster have heard; outlives the cluster.
struct Heard {
  std::vector<std::string> failures;
  // The number of sayings by node, shard and room; a node that starts again begins anew.
  std::map<std::string, std::uint64_t> said_counts;
};

// Follows some rooms on one shard, as long as it lives.
class Mirrors final : public rpc::Service {
 public:
  static constexpr int room_count = 6;

  Mirrors(framework::Router& router, const std::string& place, Heard& heard) {
    for (int i = 0; i < room_count; ++i) {
      const std::string id = std::to_string(i);
      heard.said_counts[place + " room " + id] = 0;
      EXPECT_TRUE(tasks_.spawn("mirror", [&router, &heard, id, name = place + " room " + id] {
        test::RoomMirror mirror(router, id);
        for (;;) {
          // The picture may fail; the next gap or publication brings another one.
          if (!mirror.follow(Deadline::never()) && !coroutine::sleep_for(10ms)) return;
          heard.said_counts[name] = mirror.said_count;
          for (const std::string& failure : mirror.failures) {
            heard.failures.push_back(name + ": " + failure);
          }
          mirror.failures.clear();
        }
      }));
    }
  }

  const char* service_name() const override { return "corolane.test.Mirrors"; }
  std::span<const rpc::Method> methods() const override { return {}; }

 private:
  coroutine::TaskGroup tasks_;
};

TEST(SubscriptionSeedsTest, TheOrderHoldsWhileNodesFailAndLinksBreak) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Heard heard;
    SimulatedCluster cluster({.seed = seed, .nodes = 3, .shards = {}}, [&](framework::Node& node) {
      node.host<test::Room>();
      node.serve([&heard, name = node.config().name](framework::Shard& shard) {
        const std::string place = name + " shard " + std::to_string(shard.index());
        return std::make_unique<Mirrors>(shard.router(), place, heard);
      });
    });
    bool is_over = false;
    for (int i = 0; i < Mirrors::room_count; ++i) {
      cluster.spawn("talk " + std::to_string(i), [&cluster, &is_over, i] {
        test::RoomClient room(cluster.router(std::to_string(i)), std::to_string(i));
        while (!is_over) {
          static_cast<void>(room.say_for_good(test::say_request("hello")));
          static_cast<void>(coroutine::sleep_for(200ms));
        }
      });
    }
    cluster.run_for(10s);
    for (std::size_t round = 0; round < 4; ++round) {
      const std::size_t victim = (seed + round) % 3;
      if (round % 2 == 0) {
        cluster.crash(victim);
      } else {
        cluster.partition({victim}, {(victim + 1) % 3, (victim + 2) % 3});
      }
      cluster.run_for(8s);
      if (round % 2 == 0) {
        // Its next life may have fewer shards.
        const std::string place = cluster.node_host(victim).name() + " ";
        std::erase_if(heard.said_counts,
                      [&](const auto& entry) { return entry.first.starts_with(place); });
        cluster.restart(victim);
      } else {
        cluster.heal();
      }
      cluster.run_for(12s);
    }
    is_over = true;
    EXPECT_TRUE(cluster.run_until([&] { return cluster.are_clients_done(); }, 1min));
    std::map<std::string, std::uint64_t> said_counts;
    // The last saying is heard on all shards.
    EXPECT_TRUE(cluster.run("look", [&] {
      for (int i = 0; i < Mirrors::room_count; ++i) {
        const std::string id = std::to_string(i);
        const auto picture =
            test::RoomClient(cluster.router("look"), id).say_for_good(test::say_request("end"));
        ASSERT_TRUE(picture) << picture;
        said_counts[id] = picture->said_count();
        EXPECT_GT(picture->said_count(), 100U);
      }
    }));
    cluster.run_for(5s);
    EXPECT_THAT(heard.failures, testing::IsEmpty());
    EXPECT_GE(heard.said_counts.size(), 3U * Mirrors::room_count);
    for (const auto& [name, said_count] : heard.said_counts) {
      EXPECT_EQ(said_count, said_counts[name.substr(name.rfind(' ') + 1)]) << name;
    }
    EXPECT_THAT(cluster.violations(), testing::IsEmpty());
  }
}

}  // namespace
}  // namespace corolane::sim
