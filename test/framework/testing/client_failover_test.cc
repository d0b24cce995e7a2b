// SPDX-License-Identifier: MIT
// One ClusterClient while the servers of a cluster come and go.
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
#include <vector>

#include "coroutine/task.h"
#include "coroutine/testing/matchers.h"
#include "framework/client/cluster_client.h"
#include "framework/node/node.h"
#include "framework/testing/cluster.h"
#include "test/framework/counter.h"
#include "test/framework/room.h"
#include "test/framework/user_door.h"

namespace corolane::sim {
namespace {

using namespace std::chrono_literals;
using framework::ClusterClient;
using testing::IsEmpty;

class ClientFailoverTest : public testing::Test {
 protected:
  void start(const SimulatedCluster::Options& options) {
    cluster_.emplace(options, [](framework::Node& node) {
      node.set_login([](std::string_view token, const rpc::LoginPeer&) -> Result<rpc::Principal> {
        return rpc::Principal{.id = std::string(token)};
      });
      node.host_users();
      node.serve([](framework::Shard& shard) {
        return std::make_unique<test::UserDoorService>(shard.router());
      });
      node.serve([](framework::Shard& shard) {
        return std::make_unique<test::WatchService>(shard.router());
      });
      node.host<test::Counter>();
      node.host<test::Room>();
    });
    cluster_->run_for(10s);
  }
  void TearDown() override {
    EXPECT_THAT(cluster_->violations(), IsEmpty());
    cluster_.reset();
  }

  // A client that has logged in. To be made and destroyed by a task.
  std::unique_ptr<ClusterClient> client(std::vector<net::HostPort> servers,
                                        std::string user = "ann") {
    return std::make_unique<ClusterClient>(
        cluster_->network(), std::move(servers),
        ClusterClient::Options{
            .connection = {.token = [user] { return Result<std::string>(user); }}, .clock = now});
  }
  void restart_all() {
    for (std::size_t node = 0; node < cluster_->node_count(); ++node) {
      cluster_->stop(node);
      EXPECT_TRUE(cluster_->run_until([&] { return !cluster_->is_running(node); }, 60s));
      cluster_->restart(node);
      cluster_->run_for(5s);
    }
  }

  std::optional<SimulatedCluster> cluster_;
};

TEST_F(ClientFailoverTest, CallsPushesAndNewsGoOnWhileAllNodesRestart) {
  start({.seed = 1, .nodes = 3, .shards = 2});
  constexpr std::int64_t count = 400;
  bool is_over = false;
  // Ann makes calls of all kinds, and reads what she is pushed.
  cluster_->spawn("ann", [&] {
    const auto ann = client(cluster_->servers());
    auto pushes = ann->pushes<test::CounterReply>();
    ASSERT_TRUE(ann->wait_until_connected(Deadline::after(5s)));
    test::WatchRequest request;
    request.set_room("lobby");
    const auto followed = test::WatchClient(*ann).follow(request);
    ASSERT_TRUE(followed) << followed;
    auto news = ann->follow<test::RoomEvent>(followed->group());

    auto pushing = coroutine::spawn("push", [&] {
      for (std::int64_t i = 1; i <= count; ++i) {
        ASSERT_TRUE(
            test::FarUser(*ann, "ann").push_for_good(i, {.deadline = Deadline::after(60s)}));
        ASSERT_TRUE(test::CounterClient(*ann, "c").add_for_good(test::add_request(1)));
        ASSERT_TRUE(test::RoomClient(*ann, "lobby").say_for_good(test::say_request("hello")));
        ASSERT_TRUE(coroutine::sleep_for(50ms));
      }
    });
    auto listening = coroutine::spawn("listen", [&] {
      std::uint64_t heard = 0;
      std::uint64_t gap_count = 0;
      while (heard < count) {
        const auto event = news.next(Deadline::after(60s));
        ASSERT_TRUE(event) << event;
        if (event->is_gap()) {
          ++gap_count;
          const auto picture = test::RoomClient(*ann, "lobby").look({});
          ASSERT_TRUE(picture) << picture;
          heard = picture->said_count();
        } else if ((*event)->number() > heard) {
          EXPECT_EQ((*event)->number(), heard + 1);
          heard = (*event)->number();
        }
      }
      EXPECT_LE(gap_count, 3u) << "where the room has moved";
    });
    for (std::int64_t i = 1; i <= count; ++i) {
      const auto pushed = pushes.next(Deadline::after(60s));
      ASSERT_TRUE(pushed) << pushed;
      ASSERT_FALSE(pushed->is_gap());
      ASSERT_EQ((*pushed)->value(), i);
    }
    EXPECT_TRUE(pushing.join(Deadline::never()));
    EXPECT_TRUE(listening.join(Deadline::never()));
    const auto value = test::CounterClient(*ann, "c").get({});
    ASSERT_TRUE(value) << value;
    EXPECT_EQ(value->value(), count);
    EXPECT_GT(ann->statistics().connect_count, 1u);
    is_over = true;
  });
  restart_all();
  EXPECT_TRUE(cluster_->run_until([&] { return cluster_->are_clients_done(); }, 120s));
  EXPECT_TRUE(is_over);
}

TEST_F(ClientFailoverTest, AServerThatCannotReachTheOwnerIsLeftForAnother) {
  start({.seed = 2, .nodes = 3});
  const auto owner = cluster_->owner_of("corolane.test.Counter", "c").value_or(0);
  const std::size_t cut_off = (owner + 1) % 3;
  const std::size_t whole = (owner + 2) % 3;
  EXPECT_TRUE(cluster_->run("ann", [&] {
    ClusterClient::Options options{.clock = now};
    // The servers are tried from this one on: the one that is cut off.
    options.connection.random_seed = 2;
    ClusterClient ann(cluster_->network(),
                      {cluster_->servers()[cut_off], cluster_->servers()[whole]}, options);
    ASSERT_TRUE(test::CounterClient(ann, "c").add_for_good(test::add_request(1)));
    ASSERT_EQ(ann.statistics().connect_count, 1u);
    cluster_->partition({cut_off}, {owner, whole});
    const auto added = test::CounterClient(ann, "c").add_for_good(test::add_request(1));
    ASSERT_TRUE(added) << added;
    EXPECT_EQ(added->value(), 2);
    EXPECT_EQ(ann.statistics().connect_count, 2u);
    cluster_->heal();
  }));
}

TEST_F(ClientFailoverTest, AServerThatIsLeftAnswersTheCallsThatItHas) {
  start({.seed = 3, .nodes = 2});
  EXPECT_TRUE(cluster_->run("ann", [&] {
    const auto ann = client(cluster_->servers());
    rpc::Client& connection = *ann;
    ASSERT_TRUE(ann->wait_until_connected(Deadline::after(5s)));
    auto slow = coroutine::spawn(
        "slow", [&] { return test::CounterClient(*ann, "c").add(test::add_request(1, 2s)); });
    ASSERT_TRUE(coroutine::sleep_for(1s));
    connection.leave_server();
    EXPECT_TRUE(test::CounterClient(*ann, "d").add(test::add_request(1)));
    EXPECT_EQ(ann->statistics().connect_count, 2u);
    const auto added = slow.join(Deadline::never());
    ASSERT_TRUE(added) << added;
    EXPECT_EQ(added->value(), 1);
    EXPECT_EQ(ann->statistics().retry_count, 0u);
  }));
}

TEST_F(ClientFailoverTest, ASessionComesAlongWhenItsServerIsLeft) {
  start({.seed = 4, .nodes = 3});
  EXPECT_TRUE(cluster_->run("ann", [&] {
    const auto ann = client(cluster_->servers());
    auto pushes = ann->pushes<test::CounterReply>();
    ASSERT_TRUE(ann->wait_until_connected(Deadline::after(5s)));
    rpc::Client& connection = *ann;
    const auto bob = client(cluster_->servers(), "bob");
    for (std::int64_t i = 1; i <= 20; ++i) {
      connection.leave_server();
      ASSERT_TRUE(test::FarUser(*bob, "ann").push(i));
      const auto pushed = pushes.next(Deadline::after(5s));
      ASSERT_TRUE(pushed) << pushed;
      ASSERT_FALSE(pushed->is_gap());
      EXPECT_EQ((*pushed)->value(), i);
    }
  }));
}

}  // namespace
}  // namespace corolane::sim
