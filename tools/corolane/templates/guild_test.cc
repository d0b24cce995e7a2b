// The guarantees of a guild, on a cluster of three nodes in one thread and virtual time: a virtual
// minute takes no time, and a seed always gives the same run.
#include "guild.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>

#include "coroutine/task.h"
#include "coroutine/testing/matchers.h"
#include "framework/testing/cluster.h"

namespace my_game {
namespace {

using namespace std::chrono_literals;
using corolane::sim::SimulatedCluster;
using corolane::test::fails_with;

constexpr const char* guild_type = "my_game.Guild";

void host_guilds(corolane::framework::Node& node) {
  static const GuildConfig config;
  node.host<Guild>([](corolane::framework::Shard&) { return std::make_unique<Guild>(config); });
}

DonateRequest donation(std::uint64_t gold) {
  DonateRequest request;
  request.set_gold(gold);
  return request;
}

TEST(GuildTest, NoDonationIsLostOrMadeTwiceByACrash) {
  std::uint64_t told = 0;  // Gold whose donation was acknowledged.
  SimulatedCluster cluster({.seed = 7, .nodes = 3}, host_guilds);
  cluster.spawn("anna", [&] {
    GuildClient guild(cluster.router("anna"), "lions");
    while (told < 100) {
      ASSERT_TRUE(guild.donate(donation(1)));
      ++told;
      ASSERT_TRUE(corolane::coroutine::sleep_for(10ms));
    }
  });
  EXPECT_TRUE(cluster.run_until([&] { return told == 50; }, 20s));
  const std::size_t node = cluster.owner_of(guild_type, "lions").value();
  cluster.crash(node);
  cluster.run_for(1s);
  cluster.restart(node);

  EXPECT_TRUE(cluster.run_until([&] { return cluster.are_clients_done(); }, 60s));
  EXPECT_EQ(cluster.stored<GuildRecord>(guild_type, "lions").gold(), 100U);
  EXPECT_THAT(cluster.violations(), testing::IsEmpty());
}

TEST(GuildTest, ADonationIsNeitherEmptyNorTooLarge) {
  SimulatedCluster cluster({.nodes = 1}, host_guilds);
  EXPECT_TRUE(cluster.run("anna", [&] {
    GuildClient guild(cluster.router("anna"), "lions");
    EXPECT_THAT(guild.donate(donation(0)), fails_with(Code::invalid_argument));
    EXPECT_THAT(guild.donate(donation(1'001)), fails_with(Code::invalid_argument));
    EXPECT_EQ(guild.look({})->gold(), 0U);
  }));
}

}  // namespace
}  // namespace my_game
