// The guarantees of a guild, on a cluster of three nodes in one thread and virtual time: a virtual
// minute takes no time, and a seed always gives the same run.
#include "guild.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>

#include "coroutine/task.h"
#include "coroutine/testing/matchers.h"
#include "framework/testing/cluster.h"
#include "framework/testing/simulated_test.h"

namespace my_game {
namespace {

using namespace std::chrono_literals;
using corolane::sim::SimulatedCluster;
using corolane::sim::SimulatedRun;
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

// Players donate while nodes crash, are cut off, and lose their store, at times that follow from
// the seed. `corolane simulate` runs it for many seeds: see README.md.
SIMULATED_TEST(GuildTest, EachDonationCountsOnceUnderFaults, .length = 20s)(SimulatedRun& run) {
  std::uint64_t told = 0;   // Gold whose donation was acknowledged.
  std::uint64_t asked = 0;  // The same, and donations in flight.
  SimulatedCluster cluster(run.options(), host_guilds);
  const auto stored = [&] { return cluster.stored<GuildRecord>(guild_type, "lions").gold(); };
  cluster.invariant("each donation counts once", [&] {
    const bool holds = told <= stored() && stored() <= asked;
    return holds ? "" : std::to_string(stored()) + " gold for " + std::to_string(told) + " told";
  });
  for (std::size_t i = 0; i < run.plan().client_count; ++i) {
    const std::string player = "player " + std::to_string(i);
    cluster.spawn(player, [&, player] {
      GuildClient guild(cluster.router(player), "lions");
      while (!run.is_ending()) {
        ++asked;
        const auto donated = guild.donate(donation(1));
        ASSERT_TRUE(donated) << donated;
        ++told;
        if (!corolane::coroutine::sleep_for(100ms)) return;
      }
    });
  }
  run.play(cluster);
  EXPECT_EQ(stored(), told);
}

TEST(GuildTest, TheLatestTenDonationsAreKept) {
  SimulatedCluster cluster({.nodes = 1}, host_guilds);
  EXPECT_TRUE(cluster.run("anna", [&] {
    GuildClient guild(cluster.router("anna"), "lions");
    for (int i = 0; i < 12; ++i) ASSERT_TRUE(guild.donate(donation(1)));
    const auto seen = guild.look({});
    ASSERT_TRUE(seen);
    EXPECT_EQ(seen->latest_size(), 10);
    EXPECT_EQ(seen->latest(0).number(), 3U);
    EXPECT_EQ(seen->latest(9).number(), 12U);
  }));
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
