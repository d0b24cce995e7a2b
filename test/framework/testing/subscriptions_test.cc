// SPDX-License-Identifier: MIT
// What subscriptions cost a whole cluster.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <set>
#include <string>

#include "framework/node/shard.h"
#include "framework/routing/detail/push_hub.h"
#include "framework/testing/cluster.h"
#include "test/framework/room.h"

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

}  // namespace
}  // namespace corolane::sim
