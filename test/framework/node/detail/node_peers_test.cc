// SPDX-License-Identifier: MIT
// Questions of a control thread to all other nodes of a large cluster.
#include "framework/node/detail/node_peers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "coroutine/scheduler.h"
#include "coroutine/task.h"
#include "coroutine/task_group.h"
#include "coroutine/testing/matchers.h"
#include "coroutine/virtual_time.h"
#include "net/testing/network.h"
#include "rpc/server/server.h"

namespace corolane::framework::detail {
namespace {

using namespace std::chrono_literals;
using test::fails_with;

constexpr std::size_t member_count = 70;
constexpr std::size_t shard_count = 16;
constexpr std::uint64_t own_epoch = 1;
constexpr std::size_t other_shard_count = (member_count - 1) * shard_count;
constexpr NodePeers::AskTimes patient = {.each = 1s, .all = 1h};

constexpr std::uint16_t server_port = 1;
constexpr std::uint16_t deaf_port = 2;

// All shards of all nodes are at one port.
ClusterView view_of(std::uint16_t port) {
  std::vector<Member> members;
  for (std::uint64_t epoch = own_epoch; members.size() < member_count; ++epoch) {
    Member member{
        .name = "node-" + std::to_string(epoch), .incarnation = "", .epoch = epoch, .shards = {}};
    member.shards.assign(shard_count, {.host = "server", .port = port});
    members.push_back(std::move(member));
  }
  return {std::move(members), {}, own_epoch};
}

// Runs `body` with as many stacks as a control thread has.
void run_with_control_stacks(const std::function<void()>& body) {
  coroutine::VirtualTime time;
  coroutine::Scheduler scheduler(time, {.stacks = {.stack_count_max = 1'024}});
  const auto ran = scheduler.run("control thread", [&body] { body(); });
  EXPECT_TRUE(ran) << ran;
}

class World {
 public:
  World() {
    EXPECT_TRUE(peers.open(config_, ""));
    EXPECT_TRUE(server.listen(
        {"server", 1},
        {.security = {.cluster = config_.name, .shared_key = ""}, .door = rpc::Door::nodes}));
  }

  sim::SimulatedNetwork network;
  rpc::Server server{network};
  NodePeers peers{network};

 private:
  ClusterConfig config_;
};

TEST(NodePeersTest, MoreShardsThanStacksAreAskedAFewAtATime) {
  run_with_control_stacks([] {
    World world;
    const ClusterView view = view_of(server_port);
    std::set<std::pair<std::string, std::size_t>> asked;
    std::size_t running_count = 0;
    std::size_t running_count_peak = 0;
    world.peers.ask_others(
        view, own_epoch, patient,
        [&](const Member& member, std::size_t shard, const auto& client, Deadline) {
          EXPECT_TRUE(client) << client.error();
          running_count_peak = std::max(running_count_peak, ++running_count);
          EXPECT_TRUE(coroutine::sleep_for(10ms));
          --running_count;
          EXPECT_TRUE(asked.emplace(member.name, shard).second);
        });
    EXPECT_EQ(asked.size(), other_shard_count);
    EXPECT_FALSE(asked.contains({"node-1", 0})) << "it does not ask itself";
    EXPECT_EQ(running_count_peak, 64U);
    EXPECT_EQ(coroutine::Scheduler::current().stacks().statistics().refused_count, 0U);
  });
}

TEST(NodePeersTest, ShardsThatAreNotAskedInTimeAreToldWithTheError) {
  run_with_control_stacks([] {
    World world;
    const auto deaf = world.network.listen({"server", deaf_port});  // It accepts nobody.
    ASSERT_TRUE(deaf) << deaf;
    const ClusterView view = view_of(deaf_port);
    const TimePoint start = now();
    std::size_t told_count = 0;
    world.peers.ask_others(view, own_epoch, {.each = 2s, .all = 5s},
                           [&](const Member&, std::size_t, const auto& client, Deadline) {
                             EXPECT_FALSE(client);
                             ++told_count;
                           });
    EXPECT_EQ(told_count, other_shard_count);
    EXPECT_EQ(now() - start, 5s);
  });
}

TEST(NodePeersTest, WithoutAStackEveryShardIsToldSo) {
  run_with_control_stacks([] {
    World world;
    const ClusterView view = view_of(server_port);
    coroutine::TaskGroup load;
    const auto wait = [] { static_cast<void>(coroutine::sleep_for(1h)); };
    while (load.spawn("load", wait, {.purpose = coroutine::StackPool::Purpose::control})) continue;
    std::size_t told_count = 0;
    world.peers.ask_others(view, own_epoch, patient,
                           [&](const Member&, std::size_t, const auto& client, Deadline) {
                             EXPECT_THAT(client, fails_with(Code::resource_exhausted));
                             ++told_count;
                           });
    EXPECT_EQ(told_count, other_shard_count);
    load.cancel_and_join();
  });
}

}  // namespace
}  // namespace corolane::framework::detail
