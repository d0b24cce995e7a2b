// SPDX-License-Identifier: MIT
// Users of a whole cluster: where their clients are, and what they are pushed, under faults.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
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
#include "framework/client/cluster_client.h"
#include "framework/edge/user.h"
#include "framework/node/node.h"
#include "framework/testing/cluster.h"
#include "rpc/client/client.h"
#include "test/framework/counter.h"
#include "test/framework/user_door.h"

namespace corolane::sim {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

// Keeps all that a client of a user hears.
class Device final : public rpc::PushSink {
 public:
  void on_push(const rpc::Push& push) override {
    const auto pushed = push.as<test::CounterReply>();
    const std::int64_t value = pushed ? pushed->value() : -1;
    values.push_back(value);
    lines.push_back(std::to_string(value));
  }
  void on_gap(std::uint64_t count) override { lines.push_back("lost " + std::to_string(count)); }
  void on_repeated(std::uint64_t) override { ++repeated_count; }
  void on_session(bool is_resumed) override { ++(is_resumed ? resumed_count : begun_count); }
  void on_end(const Error& reason) override { lines.push_back("ended " + reason.to_string()); }

  std::vector<std::string> lines;
  std::vector<std::int64_t> values;
  int begun_count = 0;
  int resumed_count = 0;
  int repeated_count = 0;
};

class UsersTest : public testing::Test {
 protected:
  void start(SimulatedCluster::Options options, framework::UserOptions users = {}) {
    users_ = users;
    cluster_.emplace(options, [this](framework::Node& node) {
      node.set_login([](std::string_view token, const rpc::LoginPeer&) -> Result<rpc::Principal> {
        return rpc::Principal{.id = std::string(token)};
      });
      node.serve([](framework::Shard& shard) {
        return std::make_unique<test::UserDoorService>(shard.router());
      });
      node.host_users(users_);
      node.host<test::Counter>();
    });
    const auto first = cluster_->servers().begin() + static_cast<std::ptrdiff_t>(options.edges);
    inner_servers_.assign(first, cluster_->servers().end());
    cluster_->run_for(10s);
  }

  // Runs `work` as a client outside of the cluster.
  void run(const std::function<void()>& work) { EXPECT_TRUE(cluster_->run("test", work)); }
  void end() {
    run([this] { pusher_.reset(); });
    cluster_.reset();
  }
  void TearDown() override {
    if (cluster_) end();
  }
  std::unique_ptr<rpc::Client> connect(Device& device, const std::string& user,
                                       std::vector<net::HostPort> servers) {
    auto client = std::make_unique<rpc::Client>(
        cluster_->network(), std::move(servers),
        rpc::Client::Options{.token = [user] { return Result<std::string>(user); },
                             .pushes = &device});
    EXPECT_TRUE(client->wait_until_connected(Deadline::after(5s)));
    return client;
  }
  std::unique_ptr<rpc::Client> connect(Device& device, const std::string& user) {
    return connect(device, user, cluster_->servers());
  }
  std::vector<net::HostPort> only(std::size_t node) { return {cluster_->servers()[node]}; }
  // Called by clients.
  test::FarUser user(const std::string& id) {
    if (pusher_ == nullptr) {
      pusher_ = std::make_unique<rpc::Client>(
          cluster_->network(), inner_servers_,
          rpc::Client::Options{.token = [] { return Result<std::string>("pusher"); }});
    }
    return {*pusher_, id};
  }
  // Breaks the connections of all clients, also those of the test's own router.
  void cut() {
    for (std::size_t node = 0; node < cluster_->node_count(); ++node) {
      for (int i = 0; i < 4; ++i) {
        cluster_->fabric().reset_one(cluster_->client_host(), cluster_->node_host(node));
      }
    }
  }
  static void settle() { EXPECT_TRUE(coroutine::sleep_for(100ms)); }

  framework::UserOptions users_;
  std::vector<net::HostPort> inner_servers_;  // Without the edges.
  Device device_;
  Device other_;
  std::unique_ptr<rpc::Client> pusher_;
  // Declared last: tasks in it refer to the others until it is destroyed.
  std::optional<SimulatedCluster> cluster_;
};

TEST_F(UsersTest, APushReachesAUserOnAnyNode) {
  start({.seed = 1, .nodes = 3, .shards = 2});
  run([this] {
    for (std::size_t node = 0; node < 3; ++node) {
      Device device;
      const std::string id = "user " + std::to_string(node);
      const auto client = connect(device, id, only(node));
      EXPECT_TRUE(user(id).push(1));
      EXPECT_TRUE(user(id).push(2));
      settle();
      EXPECT_THAT(device.lines, ElementsAre("1", "2"));
    }
  });
}

TEST_F(UsersTest, APushToAUserWhoIsAwayFailsUnlessItIsKept) {
  start({.seed = 2, .nodes = 1});
  run([this] {
    EXPECT_THAT(user("ann").push(1), test::fails_with(Code::not_found));
    EXPECT_TRUE(user("ann").push_for_good(2));
    const auto client = connect(device_, "ann");
    settle();
    EXPECT_THAT(device_.lines, ElementsAre("2"));
    // What the client has is not sent again.
    EXPECT_EQ(user("ann").look()->kept_count(), 0u);
  });
}

TEST_F(UsersTest, WhatIsKeptIsBounded) {
  start({.seed = 3, .nodes = 1}, {.keeps_pushes = true, .kept_count_max = 3});
  run([this] {
    for (int i = 1; i <= 3; ++i) EXPECT_TRUE(user("ann").push(i));
    EXPECT_THAT(user("ann").push(4), test::fails_with(Code::resource_exhausted));
    EXPECT_THAT(user("ann").push_for_good(4), test::fails_with(Code::resource_exhausted));
    const auto client = connect(device_, "ann");
    settle();
    EXPECT_TRUE(user("ann").push(5));
    settle();
    EXPECT_THAT(device_.lines, ElementsAre("1", "2", "3", "5"));
  });
}

TEST_F(UsersTest, TheNewerLoginWinsAndTheOlderIsToldWhy) {
  start({.seed = 4, .nodes = 2});
  run([this] {
    const auto older = connect(device_, "ann", only(0));
    const auto newer = connect(other_, "ann", only(1));
    EXPECT_TRUE(user("ann").push(1));
    settle();
    EXPECT_THAT(other_.lines, ElementsAre("1"));
    EXPECT_THAT(device_.lines, ElementsAre(StartsWith("ended aborted")));
    EXPECT_EQ(user("ann").look()->device_count(), 1u);
  });
}

TEST_F(UsersTest, SeveralDevicesHearTheSame) {
  start({.seed = 5, .nodes = 2}, {.devices_max = 2});
  run([this] {
    const auto first = connect(device_, "ann", only(0));
    const auto second = connect(other_, "ann", only(1));
    for (int i = 1; i <= 3; ++i) EXPECT_TRUE(user("ann").push(i));
    settle();
    EXPECT_THAT(device_.lines, ElementsAre("1", "2", "3"));
    EXPECT_THAT(other_.lines, ElementsAre("1", "2", "3"));
    Device third;
    const auto client = connect(third, "ann", only(0));
    settle();
    EXPECT_THAT(device_.lines.back(), StartsWith("ended aborted"));
  });
}

TEST_F(UsersTest, AKickEndsAllSessionsOfAUser) {
  start({.seed = 6, .nodes = 2}, {.devices_max = 2});
  run([this] {
    const auto first = connect(device_, "ann", only(0));
    const auto second = connect(other_, "ann", only(1));
    EXPECT_TRUE(user("ann").kick());
    settle();
    for (const Device* const device : {&device_, &other_}) {
      EXPECT_THAT(device->lines, ElementsAre(StartsWith("ended permission_denied")));
    }
    EXPECT_EQ(user("ann").look()->device_count(), 0u);
  });
}

TEST_F(UsersTest, PresenceTellsWhetherAUserIsConnected) {
  start({.seed = 7, .nodes = 2});
  run([this] {
    EXPECT_FALSE(user("ann").look()->is_connected());
    EXPECT_EQ(user("ann").look()->seen_milliseconds(), 0);
    auto client = connect(device_, "ann");
    const auto sight = user("ann").look();
    EXPECT_EQ(sight->device_count(), 1u);
    EXPECT_TRUE(sight->is_connected());
    EXPECT_GT(sight->seen_milliseconds(), 0);
    client.reset();
    settle();
    // The client may still come back, so the session is kept.
    EXPECT_EQ(user("ann").look()->device_count(), 1u);
    EXPECT_FALSE(user("ann").look()->is_connected());
    EXPECT_TRUE(user("ann").push(1));
    EXPECT_TRUE(coroutine::sleep_for(61s));
    EXPECT_EQ(user("ann").look()->device_count(), 0u);
    EXPECT_THAT(user("ann").push(2), test::fails_with(Code::not_found));
  });
}

TEST_F(UsersTest, ASessionMovesWithItsClientAndItsUserFollows) {
  for (const std::uint32_t shards : {1, 3}) {
    Device device;
    start({.seed = 8, .nodes = 3, .shards = shards});
    run([&] {
      const auto client = connect(device, "ann");
      for (int i = 1; i <= 20; ++i) {
        EXPECT_TRUE(user("ann").push(i));
        cut();
        EXPECT_TRUE(coroutine::sleep_for(50ms));
      }
      EXPECT_TRUE(coroutine::sleep_for(1s));
    });
    EXPECT_THAT(device.values, SizeIs(20));
    EXPECT_TRUE(std::ranges::is_sorted(device.values));
    EXPECT_EQ(device.begun_count, 1);
    end();
  }
}

TEST_F(UsersTest, ClientsOfANodeThatDrainsResumeOnAnother) {
  start({.seed = 10, .nodes = 3, .shards = 2});
  std::vector<std::unique_ptr<rpc::Client>> clients;
  std::vector<std::unique_ptr<Device>> devices;
  run([&] {
    for (int i = 0; i < 30; ++i) {
      devices.push_back(std::make_unique<Device>());
      clients.push_back(connect(*devices.back(), "user " + std::to_string(i)));
    }
  });
  std::int64_t last = 0;
  bool has_failed = false;
  cluster_->spawn("pusher", [&] {
    while (last < 400) {
      ++last;
      for (int i = 0; i < 30; ++i) {
        const auto pushed = user("user " + std::to_string(i)).push(last);
        EXPECT_TRUE(pushed) << pushed;
        if (!pushed) has_failed = true;
      }
      EXPECT_TRUE(coroutine::sleep_for(50ms));
    }
  });
  for (std::size_t node = 0; node < 3; ++node) {
    cluster_->stop(node);
    EXPECT_TRUE(cluster_->run_until([&] { return !cluster_->is_running(node); }, 60s));
    cluster_->restart(node);
    cluster_->run_for(2s);
  }
  EXPECT_TRUE(cluster_->run_until([&] { return cluster_->are_clients_done(); }, 120s));
  cluster_->run_for(2s);
  EXPECT_FALSE(has_failed);
  for (const auto& device : devices) {
    EXPECT_EQ(device->begun_count, 1);
    EXPECT_EQ(static_cast<std::int64_t>(device->values.size()), last);
    EXPECT_TRUE(std::ranges::is_sorted(device->values));
  }
  run([&] { clients.clear(); });
}

// The edge dies with what it knows of the acknowledgement, so the user sends all again.
TEST_F(UsersTest, WhatIsKeptComesOnceThoughTheEdgeCrashesWithTheAcknowledgement) {
  start({.seed = 13, .nodes = 4, .edges = 2});
  std::unique_ptr<rpc::Client> client;
  run([&] { client = connect(device_, "ann", {cluster_->servers()[0], cluster_->servers()[1]}); });
  cluster_->spawn("pusher", [&] { EXPECT_TRUE(user("ann").push_for_good(1)); });
  // Before anything of the acknowledgement can leave the edge.
  EXPECT_TRUE(cluster_->run_until([&] { return device_.values.size() == 1; }, 5s));
  for (std::size_t edge = 0; edge < 2; ++edge) cluster_->crash(edge);
  EXPECT_TRUE(cluster_->run_until([&] { return cluster_->are_clients_done(); }, 60s));
  for (std::size_t edge = 0; edge < 2; ++edge) cluster_->restart(edge);
  EXPECT_TRUE(cluster_->run_until([&] { return device_.repeated_count == 1; }, 60s));
  run([&] { EXPECT_TRUE(user("ann").push_for_good(2)); });
  cluster_->run_for(5s);
  EXPECT_THAT(device_.values, ElementsAre(1, 2));
  EXPECT_EQ(device_.begun_count, 2);
  run([&] {
    EXPECT_EQ(user("ann").look()->kept_count(), 0u);
    client.reset();
  });
}

TEST_F(UsersTest, ClientsOfAnEdgeDoNotNoticeThatOtherNodesRestart) {
  start({.seed = 11, .nodes = 4, .edges = 2});
  std::unique_ptr<rpc::Client> client;
  run([&] { client = connect(device_, "ann", {cluster_->servers()[0], cluster_->servers()[1]}); });
  int added = 0;
  cluster_->spawn("player", [&] {
    const std::vector<net::HostPort> edges{cluster_->servers()[0], cluster_->servers()[1]};
    framework::ClusterClient client(
        cluster_->network(), edges,
        {.connection = {.token = [] { return Result<std::string>("player"); }},
         .keeps_session = false,
         .clock = now});
    for (int i = 1; i <= 200; ++i) {
      EXPECT_TRUE(test::CounterClient(client, "c").add(test::add_request(1)));
      ++added;
      EXPECT_TRUE(user("ann").push(i));
      EXPECT_TRUE(coroutine::sleep_for(20ms));
    }
  });
  for (std::size_t node = 2; node < 4; ++node) {
    cluster_->run_for(500ms);
    cluster_->stop(node);
    EXPECT_TRUE(cluster_->run_until([&] { return !cluster_->is_running(node); }, 60s));
    cluster_->restart(node);
    cluster_->run_for(10s);
  }
  EXPECT_TRUE(cluster_->run_until([&] { return cluster_->are_clients_done(); }, 120s));
  for (int i = 0; i < 100; ++i) {
    EXPECT_GE(cluster_->owner_of("corolane.test.Counter", std::to_string(i)).value_or(0), 2u);
  }
  EXPECT_EQ(added, 200);
  EXPECT_EQ(device_.begun_count, 1);
  EXPECT_EQ(device_.resumed_count, 0);
  EXPECT_THAT(device_.values, SizeIs(200));
  EXPECT_TRUE(std::ranges::is_sorted(device_.values));
  EXPECT_EQ(cluster_->stored<test::CounterState>("corolane.test.Counter", "c").value(), 200);
  run([&] { client.reset(); });
}

TEST_F(UsersTest, ASessionOutlivesTheAbsenceOfItsNodeFromTheCluster) {
  start({.seed = 12, .nodes = 3, .edges = 1});
  std::unique_ptr<rpc::Client> client;
  run([&] {
    client = connect(device_, "ann", only(0));
    EXPECT_TRUE(user("ann").push(1));
  });
  cluster_->pause(0, 13s);  // Longer than its lease lasts, and less than its client waits.
  cluster_->run_for(8s);
  run([&] {
    const auto pushed = user("ann").push(2);
    EXPECT_THAT(pushed, test::fails_with(Code::unavailable)) << pushed;
    EXPECT_TRUE(user("ann").push_for_good(3));
    EXPECT_EQ(user("ann").look()->unreachable_count(), 1u);
    const auto kicked = user("ann").kick();
    EXPECT_THAT(kicked, test::fails_with(Code::unavailable)) << kicked;
  });
  cluster_->run_for(30s);
  run([&] {
    EXPECT_TRUE(user("ann").push(4));
    settle();
    EXPECT_TRUE(user("ann").kick());
    settle();
    client.reset();
  });
  EXPECT_EQ(device_.begun_count, 1);
  EXPECT_THAT(device_.lines, ElementsAre("1", "3", "4", StartsWith("ended permission_denied")));
}

TEST_F(UsersTest, ADeviceThatCannotBeReachedHoldsUpNoOtherAndIsToldAGap) {
  start({.seed = 13, .nodes = 4, .edges = 2}, {.devices_max = 2});
  std::unique_ptr<rpc::Client> first;
  std::unique_ptr<rpc::Client> second;
  run([&] {
    first = connect(device_, "ann", only(0));
    second = connect(other_, "ann", only(1));
    EXPECT_TRUE(user("ann").push(1));
    settle();
  });
  cluster_->pause(0, 12s);
  cluster_->run_for(1s);
  run([&] {
    EXPECT_TRUE(user("ann").push(2));
    EXPECT_TRUE(user("ann").push_for_good(3));
  });
  cluster_->run_for(40s);
  run([&] {
    EXPECT_TRUE(user("ann").push(4));
    settle();
    first.reset();
    second.reset();
  });
  EXPECT_THAT(other_.lines, ElementsAre("1", "2", "3", "4"));
  EXPECT_THAT(device_.lines, ElementsAre("1", "lost 1", "3", "4"));
}

// The user "ann" is kept a push for her client on an edge that her owner does not reach.
class UndeliveredPushTest : public UsersTest {
 protected:
  void push_into_a_partition() {
    run([this] {
      client_ = connect(device_, "ann", only(0));
      settle();
      cluster_->partition({0}, {1, 2, 3});
      EXPECT_TRUE(user("ann").push_for_good(1));
    });
  }
  std::size_t owner() const { return *cluster_->owner_of("corolane.framework.User", "ann"); }
  void TearDown() override {
    run([this] { client_.reset(); });
    UsersTest::TearDown();
  }

  std::unique_ptr<rpc::Client> client_;
};

TEST_F(UndeliveredPushTest, IsDeliveredByTheNextOwnerAfterACrash) {
  start({.seed = 15, .nodes = 4, .edges = 1});
  push_into_a_partition();
  cluster_->crash(owner());
  cluster_->heal();
  EXPECT_TRUE(cluster_->run_until([this] { return !device_.values.empty(); }, 30s));
  cluster_->run_for(10s);
  EXPECT_THAT(device_.values, ElementsAre(1));
}

TEST_F(UndeliveredPushTest, IsDeliveredByTheNodeToWhichTheUserIsHandedOver) {
  start({.seed = 16, .nodes = 4, .edges = 1});
  push_into_a_partition();
  cluster_->stop(owner());
  cluster_->run_for(10s);
  cluster_->heal();
  cluster_->run_for(3s);
  EXPECT_THAT(device_.values, ElementsAre(1));
}

// The user forgets its session and is evicted as idle, before the session announces itself again.
TEST_F(UndeliveredPushTest, IsDeliveredAfterItsNodesWereCutOffFromEachOtherForLong) {
  start({.seed = 17, .nodes = 4, .edges = 1});
  push_into_a_partition();
  const std::size_t owner = this->owner();
  cluster_->heal();
  cluster_->partition({0}, {owner});
  cluster_->run_for(10min);
  EXPECT_THAT(device_.values, IsEmpty());
  EXPECT_EQ(this->owner(), owner);
  cluster_->heal();
  cluster_->run_for(10s);
  EXPECT_THAT(device_.values, ElementsAre(1));
}

TEST_F(UsersTest, WhatIsPushedForGoodSurvivesTheCrashOfTheNodeOfTheClient) {
  start({.seed = 9, .nodes = 3});
  std::unique_ptr<rpc::Client> client;
  run([&] {
    client = connect(device_, "ann");
    EXPECT_TRUE(user("ann").push_for_good(1));
    settle();
  });
  for (std::size_t node = 0; node < 3; ++node) {
    cluster_->crash(node);
    cluster_->run_for(1ms);
    run([&] {
      while (!user("ann").push_for_good(static_cast<std::int64_t>(node) + 2)) {
        EXPECT_TRUE(coroutine::sleep_for(100ms));
      }
    });
    cluster_->restart(node);
    cluster_->run_for(30s);
  }
  run([&] {
    EXPECT_TRUE(coroutine::sleep_for(5s));
    client.reset();
  });
  EXPECT_THAT(device_.values, ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(cluster_->violations(), IsEmpty());
}

}  // namespace
}  // namespace corolane::sim
