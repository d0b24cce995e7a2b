// SPDX-License-Identifier: MIT
// What clients that follow a room are promised, while nodes crash, drain, stand still and lose one
// another, and sockets break: the news come once and in order, or a gap says that some are missing;
// and when all is calm again each client knows the latest.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "coroutine/task.h"
#include "framework/node/node.h"
#include "framework/testing/cluster.h"
#include "rpc/client/client.h"
#include "test/framework/room.h"
#include "test/framework/testing/fan.h"
#include "test/framework/testing/weather.h"

namespace corolane::sim {
namespace {

using namespace std::chrono_literals;
using testing::IsEmpty;

constexpr int fan_count = 4;

// Returns what was violated.
std::vector<std::string> follow_through(std::uint64_t seed) {
  std::vector<std::unique_ptr<Fan>> fans;
  std::vector<std::unique_ptr<rpc::Client>> clients;
  bool is_over = false;
  std::uint64_t said_count = 0;
  SimulatedCluster cluster(
      {.seed = seed, .nodes = Weather::node_count, .edges = Weather::edge_count, .shards = {}},
      [](framework::Node& node) {
        node.set_login([](std::string_view token, const rpc::LoginPeer&) {
          return Result<rpc::Principal>({.id = std::string(token)});
        });
        node.serve([](framework::Shard& shard) {
          return std::make_unique<test::WatchService>(shard.router());
        });
        node.host<test::Room>();
      });
  cluster.run_for(10s);
  EXPECT_TRUE(cluster.run("connect", [&] {
    for (int i = 0; i < fan_count; ++i) {
      fans.push_back(std::make_unique<Fan>());
      clients.push_back(std::make_unique<rpc::Client>(
          cluster.network(), cluster.servers(),
          rpc::Client::Options{.token = [] { return Result<std::string>("ann"); },
                               .pushes = fans.back().get(),
                               .random_seed = seed}));
      EXPECT_TRUE(clients.back()->wait_until_connected(Deadline::after(5s)));
    }
  }));
  for (int i = 0; i < fan_count; ++i) {
    cluster.spawn("fan " + std::to_string(i), [&, fan = fans[i].get(), client = clients[i].get()] {
      while (!is_over || !fan->knows_all()) {
        static_cast<void>(fan->follow(*client, "lobby", {.deadline = Deadline::after(3s)}));
        if (!coroutine::sleep_for(100ms)) return;
      }
    });
  }
  cluster.spawn("speaker", [&] {
    test::RoomClient room(cluster.router("speaker"), "lobby");
    while (!is_over) {
      const auto said =
          room.say_for_good(test::say_request("hello"), {.deadline = Deadline::after(2s)});
      if (!coroutine::sleep_for(20ms)) return;
    }
    for (;;) {
      const auto picture = room.look({}, {.deadline = Deadline::after(2s)});
      if (picture) {
        said_count = picture->said_count();
        return;
      }
      if (!coroutine::sleep_for(100ms)) return;
    }
  });
  Weather weather(cluster, seed);
  for (int i = 0; i < 12; ++i) weather.strike();
  cluster.run_for(20s);
  is_over = true;
  EXPECT_TRUE(cluster.run_until([&] { return cluster.are_clients_done(); }, 60s));
  cluster.run_for(10s);
  std::vector<std::string> violations = cluster.violations();
  for (const auto& fan : fans) {
    for (const std::string& complaint : fan->complaints) violations.push_back(complaint);
    // A gap may still have come behind the last thing said.
    if (!fan->knows_all() || fan->seen() == said_count) continue;
    violations.push_back("a client knows " + std::to_string(fan->seen()) + " of " +
                         std::to_string(said_count));
  }
  EXPECT_TRUE(cluster.run("leave", [&] { clients.clear(); }));
  return violations;
}

TEST(FollowFaultsTest, NewsComeOnceAndInOrderOrAGapIsTold) {
  const auto [first, last] = seeds_to_play("FOLLOW_SEEDS");
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    EXPECT_THAT(follow_through(seed), IsEmpty()) << "seed " << seed;
  }
}

}  // namespace
}  // namespace corolane::sim
