// SPDX-License-Identifier: MIT
// An object with more callers than any other, whose owner dies in the middle of their calls.
#include "tools/simulation/trade/guild.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "coroutine/task.h"
#include "coroutine/testing/sanitizers.h"
#include "framework/testing/cluster.h"
#include "tools/simulation/planted_bugs.h"

namespace corolane::sim {
namespace {

using namespace std::chrono_literals;
using testing::IsEmpty;

constexpr const char* guild_type = "corolane.sim.Guild";
constexpr std::size_t donor_count = 200;
constexpr std::uint64_t donations_of_each = 3;
constexpr std::uint64_t seed_count = test::under_sanitizer ? 1 : 4;

struct Collection {
  std::uint64_t told = 0;  // Answered donations.
  std::uint64_t stored = 0;
  std::vector<std::string> violations;
};

Collection collect(std::uint64_t seed) {
  Collection outcome;
  SimulatedCluster cluster({.seed = seed, .nodes = 3},
                           [](framework::Node& node) { node.host<Guild>(); });
  for (std::size_t i = 0; i < donor_count; ++i) {
    const std::string donor = "donor " + std::to_string(i);
    cluster.spawn(donor, [&cluster, &outcome, donor] {
      GuildClient guild(cluster.router(donor), "lions");
      for (std::uint64_t n = 0; n < donations_of_each; ++n) {
        if (guild.donate({})) ++outcome.told;
        if (!coroutine::sleep_for(20ms)) return;
      }
    });
  }
  const auto is_half_done = [&] { return outcome.told >= donor_count * donations_of_each / 2; };
  if (cluster.run_until(is_half_done, 60s)) {
    const std::size_t owner = cluster.owner_of(guild_type, "lions").value();
    cluster.crash(owner);
    cluster.run_for(1s);
    cluster.restart(owner);
    cluster.run_until([&] { return cluster.are_clients_done(); }, 2min);
  }
  outcome.stored = cluster.stored<GuildState>(guild_type, "lions").gold();
  outcome.violations = cluster.violations();
  return outcome;
}

TEST(GuildTest, CountsEachDonationOnceAcrossACrashOfItsOwner) {
  for (std::uint64_t seed = 1; seed <= seed_count; ++seed) {
    const Collection outcome = collect(seed);
    EXPECT_EQ(outcome.told, donor_count * donations_of_each) << seed;
    EXPECT_EQ(outcome.stored, outcome.told) << seed;
    EXPECT_THAT(outcome.violations, IsEmpty()) << seed;
  }
}

#ifdef COROLANE_SEEDED_BUGS
TEST(GuildTest, AnEvictedRequestIdIsCaught) {
  const PlantedBugs planted({.request_ids_evicted = true});
  const Collection outcome = collect(1);
  ASSERT_FALSE(outcome.violations.empty());
  EXPECT_THAT(outcome.violations.front(), testing::StartsWith("I4 "));
}
#endif

}  // namespace
}  // namespace corolane::sim
