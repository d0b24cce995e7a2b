// SPDX-License-Identifier: MIT
// What users are promised, while nodes crash, drain, stand still and lose one another, and sockets
// break: a push that succeeded comes once and in order, or its client is told that something is
// lost; what is pushed for good comes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "coroutine/task.h"
#include "framework/edge/user.h"
#include "framework/node/node.h"
#include "framework/testing/cluster.h"
#include "rpc/client/client.h"
#include "test/framework/counter.h"
#include "test/framework/testing/weather.h"
#include "test/framework/user_door.h"

namespace corolane::sim {
namespace {

using namespace std::chrono_literals;
using testing::IsEmpty;

constexpr int user_count = 5;
constexpr int fault_count = 12;

// Even values are pushed, odd ones for good.

// A user who plays by one client, and those who push to the user.
class Player final : public rpc::PushSink {
 public:
  explicit Player(std::string id) : id_(std::move(id)) {}

  const std::string& id() const { return id_; }

  void on_push(const rpc::Push& push) override {
    const auto pushed = push.as<test::CounterReply>();
    if (!pushed) return violated("a push of another type");
    const std::int64_t value = pushed->value();
    if (value % 2 == 0) {
      take(value);
    } else {
      take_kept(value);
    }
  }
  void on_gap(std::uint64_t) override { is_told_ = true; }
  void on_session(bool is_resumed) override {
    if (is_resumed) return;
    is_told_ = true;
    last_kept_ = 0;  // Pushes that were not acknowledged come again.
  }
  void on_end(const Error& reason) override {
    ends.push_back(reason.to_string());
    is_told_ = true;
  }

  void has_pushed(std::int64_t value) { pushed_.insert(value); }
  void has_pushed_for_good(std::int64_t value) { kept_.insert(value); }

  // After all faults.
  void look_at_the_end() {
    for (const std::int64_t value : kept_) {
      if (!received_kept_.contains(value)) violated("kept " + std::to_string(value) + " is lost");
    }
  }

  std::vector<std::string> violations;
  std::vector<std::string> ends;
  std::int64_t last = 0;  // The latest plain value that has come.

 private:
  void violated(const std::string& what) { violations.push_back(id_ + ": " + what); }
  void take(std::int64_t value) {
    if (!received_.insert(value).second) violated(std::to_string(value) + " comes twice");
    // A call that its caller has given up may still be executed, by a node that stood still.
    if (value <= last && !pushed_.contains(value)) return;
    if (value <= last) violated(std::to_string(value) + " comes after " + std::to_string(last));
    for (auto missing = pushed_.upper_bound(last); missing != pushed_.end() && *missing < value;
         ++missing) {
      if (!is_told_) violated(std::to_string(*missing) + " is lost silently");
    }
    last = value;
    is_told_ = false;
  }
  void take_kept(std::int64_t value) {
    if (value <= last_kept_ && kept_.contains(value)) {
      violated("kept " + std::to_string(value) + " comes after " + std::to_string(last_kept_));
    }
    last_kept_ = std::max(last_kept_, value);
    if (!received_kept_.insert(value).second) {
      violated("kept " + std::to_string(value) + " comes twice");
    }
  }

  const std::string id_;
  std::set<std::int64_t> pushed_;  // Those that succeeded.
  std::set<std::int64_t> kept_;
  std::set<std::int64_t> received_;
  std::set<std::int64_t> received_kept_;
  std::int64_t last_kept_ = 0;
  bool is_told_ = true;  // That something may be missing before the next one.
};

// Returns what was violated.
std::vector<std::string> play(std::uint64_t seed) {
  std::vector<std::unique_ptr<Player>> players;
  std::vector<std::unique_ptr<rpc::Client>> clients;
  bool is_over = false;
  SimulatedCluster cluster(
      {.seed = seed, .nodes = Weather::node_count, .edges = Weather::edge_count, .shards = {}},
      [](framework::Node& node) {
        node.set_login([](std::string_view token, const rpc::LoginPeer&) {
          return Result<rpc::Principal>({.id = std::string(token)});
        });
        node.serve([](framework::Shard& shard) {
          return std::make_unique<test::UserDoorService>(shard.router());
        });
        node.host_users();
      });
  cluster.run_for(10s);
  for (int i = 0; i < user_count; ++i) {
    players.push_back(std::make_unique<Player>("user " + std::to_string(i)));
  }
  EXPECT_TRUE(cluster.run("log in", [&] {
    for (const auto& player : players) {
      clients.push_back(std::make_unique<rpc::Client>(
          cluster.network(), cluster.servers(),
          rpc::Client::Options{.token = [id = player->id()] { return Result<std::string>(id); },
                               .pushes = player.get(),
                               .random_seed = seed}));
      const auto connected = clients.back()->wait_until_connected(Deadline::after(5s));
      EXPECT_TRUE(connected) << connected;
    }
  }));
  // All but the last are pushed nothing from some fault on: no later push wakes their users.
  int faults = 0;
  int end_of_pushes = 5;
  for (const auto& player : players) {
    for (const int odd : {0, 1}) {
      const std::string name = player->id() + (odd == 0 ? " plain" : " kept");
      cluster.spawn(name, [&, odd, end_of_pushes, player = player.get()] {
        rpc::Client client(
            cluster.network(), cluster.servers(),
            {.connect_time_max = 1s, .token = [] { return Result<std::string>("pusher"); }});
        test::FarUser user(client, player->id());
        for (std::int64_t value = 2 + odd; !is_over && faults < end_of_pushes; value += 2) {
          const rpc::CallOptions options{.deadline = Deadline::after(2s)};
          const auto pushed =
              odd == 0 ? user.push(value, options) : user.push_for_good(value, options);
          if (pushed) odd == 0 ? player->has_pushed(value) : player->has_pushed_for_good(value);
          if (!coroutine::sleep_for(odd == 0 ? 30ms : 200ms)) return;
        }
      });
    }
    end_of_pushes += 2;
  }
  Weather weather(cluster, seed);
  for (; faults < fault_count; ++faults) weather.strike();
  // Longer than a session is given up for.
  cluster.run_for(20s);
  is_over = true;
  EXPECT_TRUE(cluster.run_until([&] { return cluster.are_clients_done(); }, 60s));
  cluster.run_for(10s);
  std::vector<std::string> violations = cluster.violations();
  for (const auto& player : players) {
    player->look_at_the_end();
    for (const std::string& violation : player->violations) violations.push_back(violation);
    for (const std::string& end : player->ends) violations.push_back(player->id() + " " + end);
  }
  EXPECT_TRUE(cluster.run("leave", [&] { clients.clear(); }));
  return violations;
}

TEST(UsersFaultsTest, WhatWasPromisedComesOrIsToldToBeLost) {
  const auto [first, last] = seeds_to_play("USERS_SEEDS");
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    EXPECT_THAT(play(seed), IsEmpty()) << "seed " << seed;
  }
}

}  // namespace
}  // namespace corolane::sim
