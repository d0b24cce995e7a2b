// SPDX-License-Identifier: MIT
// Clients that follow a room over their session, in a whole cluster.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "coroutine/task.h"
#include "coroutine/testing/matchers.h"
#include "framework/node/each_shard.h"
#include "framework/node/node.h"
#include "framework/routing/detail/push_hub.h"
#include "framework/testing/cluster.h"
#include "rpc/client/client.h"
#include "test/framework/room.h"
#include "test/framework/testing/fan.h"

namespace corolane::sim {
namespace {

using namespace std::chrono_literals;
using testing::IsEmpty;

class FollowTest : public testing::Test {
 protected:
  void start(const SimulatedCluster::Options& options) {
    cluster_.emplace(options, [](framework::Node& node) {
      node.set_login([](std::string_view token, const rpc::LoginPeer&) -> Result<rpc::Principal> {
        return rpc::Principal{.id = std::string(token)};
      });
      node.serve([](framework::Shard& shard) {
        return std::make_unique<test::WatchService>(shard.router());
      });
      node.host<test::Room>();
    });
    cluster_->run_for(10s);
  }
  void TearDown() override {
    run([this] { clients_.clear(); });
    EXPECT_THAT(cluster_->violations(), IsEmpty());
    for (const auto& fan : fans_) EXPECT_THAT(fan->complaints, IsEmpty());
    cluster_.reset();
  }

  // Runs `work` as a client outside of the cluster.
  void run(const std::function<void()>& work) { EXPECT_TRUE(cluster_->run("test", work)); }
  // A client of any of these servers that follows the room. Suspends.
  Fan& follow(std::vector<net::HostPort> servers, const std::string& room = "lobby") {
    Fan& fan = *fans_.emplace_back(std::make_unique<Fan>());
    clients_.push_back(std::make_unique<rpc::Client>(
        cluster_->network(), std::move(servers),
        rpc::Client::Options{.token = [] { return Result<std::string>("ann"); }, .pushes = &fan}));
    EXPECT_TRUE(clients_.back()->wait_until_connected(Deadline::after(5s)));
    const auto followed = fan.follow(*clients_.back(), room);
    EXPECT_TRUE(followed) << followed;
    return fan;
  }
  // Says something so often. Suspends.
  void say(std::uint64_t count, Duration pause = 1ms) {
    test::RoomClient room(cluster_->router("speaker"), "lobby");
    for (std::uint64_t i = 0; i < count; ++i) {
      const auto said = room.say_for_good(test::say_request("hello"));
      EXPECT_TRUE(said) << said;
      EXPECT_TRUE(coroutine::sleep_for(pause));
    }
  }
  // Breaks the connections of clients.
  void cut() {
    for (std::size_t node = 0; node < cluster_->node_count(); ++node) {
      for (int i = 0; i < 4; ++i) {
        cluster_->fabric().reset_one(cluster_->client_host(), cluster_->node_host(node));
      }
    }
  }

  // How many shards follow an object, over all objects.
  std::size_t outlet_count() {
    std::size_t count = 0;
    run([&] {
      for (std::size_t i = 0; i < cluster_->node_count(); ++i) {
        const auto of_node = framework::from_each_shard(
            *cluster_->node(i),
            [](framework::Shard& shard) { return shard.push().outlets().statistics().count; });
        EXPECT_TRUE(of_node);
        for (const std::size_t of_shard : of_node->parts) count += of_shard;
      }
    });
    return count;
  }

  std::optional<SimulatedCluster> cluster_;
  std::vector<std::unique_ptr<Fan>> fans_;
  std::vector<std::unique_ptr<rpc::Client>> clients_;
};

TEST_F(FollowTest, ClientsFollowARoomFromAnyNode) {
  start({.seed = 1, .nodes = 4, .edges = 1, .shards = 2});
  run([this] {
    for (const net::HostPort& server : cluster_->servers()) follow({server});
    say(200);
    EXPECT_TRUE(coroutine::sleep_for(100ms));
  });
  for (const auto& fan : fans_) {
    EXPECT_EQ(fan->seen(), 200u);
    EXPECT_EQ(fan->gap_count, 0);
  }
}

TEST_F(FollowTest, AClientFollowsOnlyWhatIsThereAndOverASession) {
  start({.seed = 2, .nodes = 2});
  run([this] {
    test::WatchRequest request;
    request.set_room("no such room");
    Fan fan;
    rpc::Client with_session(cluster_->network(), cluster_->servers(),
                             {.token = [] { return Result<std::string>("ann"); }, .pushes = &fan});
    EXPECT_THAT(test::WatchClient(with_session).follow(request), test::fails_with(Code::not_found));
    request.set_room("lobby");
    rpc::Client without(cluster_->network(), cluster_->servers(),
                        {.token = [] { return Result<std::string>("ann"); }});
    EXPECT_THAT(test::WatchClient(without).follow(request),
                test::fails_with(Code::failed_precondition));
  });
}

// While the client moves from shard to shard and from node to node.
TEST_F(FollowTest, AClientThatIsCutContinuesWithoutAGap) {
  for (const std::uint32_t shards : {1, 3}) {
    start({.seed = 3, .nodes = 3, .shards = shards});
    Fan* fan = nullptr;
    run([&] {
      fan = &follow(cluster_->servers());
      for (int i = 0; i < 20; ++i) {
        say(10);
        cut();
        say(10);
        EXPECT_TRUE(coroutine::sleep_for(50ms));
      }
      EXPECT_TRUE(coroutine::sleep_for(1s));
    });
    EXPECT_EQ(fan->seen(), 400u);
    EXPECT_EQ(fan->begun_count, 1);
    EXPECT_GE(fan->resumed_count, 10);
    EXPECT_EQ(fan->gap_count, 0);
    if (shards == 1) TearDown();
  }
}

// Also when nothing was said since the session has moved.
TEST_F(FollowTest, ARoomIsIdleOnceItsFollowersHaveLeft) {
  start({.seed = 6, .nodes = 4, .edges = 2});
  Fan* fan = nullptr;
  run([&] {
    say(1);
    fan = &follow({cluster_->servers()[0], cluster_->servers()[1]});
  });
  for (std::size_t edge = 0; edge < 2; ++edge) {
    cluster_->stop(edge);
    EXPECT_TRUE(cluster_->run_until([&] { return !cluster_->is_running(edge); }, 60s));
    cluster_->restart(edge);
    cluster_->run_for(10s);
  }
  EXPECT_GE(fan->resumed_count, 1);
  EXPECT_EQ(fan->gap_count, 0);
  EXPECT_EQ(outlet_count(), 1u);
  run([this] { clients_.clear(); });
  cluster_->run_for(80s);  // The session ends.
  EXPECT_EQ(outlet_count(), 0u);
}

TEST_F(FollowTest, ClientsContinueWhileAllNodesRestart) {
  start({.seed = 4, .nodes = 3, .shards = 2});
  run([this] {
    for (int i = 0; i < 10; ++i) follow(cluster_->servers());
  });
  cluster_->spawn("speaker", [this] { say(2'000, 10ms); });
  for (std::size_t node = 0; node < 3; ++node) {
    cluster_->stop(node);
    EXPECT_TRUE(cluster_->run_until([&] { return !cluster_->is_running(node); }, 60s));
    cluster_->restart(node);
    cluster_->run_for(2s);
  }
  EXPECT_TRUE(cluster_->run_until([&] { return cluster_->are_clients_done(); }, 120s));
  cluster_->run_for(2s);
  for (const auto& fan : fans_) {
    EXPECT_EQ(fan->seen(), 2'000u);
    EXPECT_EQ(fan->begun_count, 1);
    EXPECT_LE(fan->gap_count, 3);  // Where the room has moved.
  }
}

TEST_F(FollowTest, AClientIsToldAGapWhenTheNodeOfTheRoomCrashes) {
  start({.seed = 5, .nodes = 4, .edges = 1});
  run([this] { follow({cluster_->servers()[0]}); });
  cluster_->spawn("speaker", [this] { say(300, 20ms); });
  cluster_->run_for(1s);
  const auto owner = cluster_->owner_of("corolane.test.Room", "lobby");
  ASSERT_TRUE(owner);
  cluster_->crash(*owner);
  EXPECT_TRUE(cluster_->run_until([&] { return cluster_->are_clients_done(); }, 120s));
  cluster_->run_for(2s);
  EXPECT_EQ(fans_[0]->seen(), 300u);
  EXPECT_EQ(fans_[0]->begun_count, 1);
  EXPECT_EQ(fans_[0]->resumed_count, 0);
  EXPECT_GE(fans_[0]->gap_count, 1);
}

}  // namespace
}  // namespace corolane::sim
