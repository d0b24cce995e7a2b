// SPDX-License-Identifier: MIT
#include "tools/simulation/run.h"

#include <algorithm>
#include <chrono>

#include "framework/testing/cluster.h"
#include "framework/testing/simulated_run.h"
#include "tools/simulation/letters/letters.h"
#include "tools/simulation/losses.h"
#include "tools/simulation/market.h"

namespace corolane::sim {
namespace {

using namespace std::chrono_literals;

// Of the seeds.
constexpr std::uint64_t losses_one_in = 8;
constexpr std::uint64_t letters_one_in = 4;
// One in so many clusters has more partitions than those of former builds.
constexpr std::uint64_t many_partitions_one_in = 5;
// The limit of I6.
constexpr Duration answer_time_max = 10s;

// Splits the clients so that trades are about three times as frequent as chess moves.
Market::Options market_options(std::size_t client_count) {
  const std::size_t player_count = client_count / 4 * 2;
  return {.player_count = player_count,
          .trader_count = client_count - player_count,
          .account_count = std::max<std::size_t>(2, client_count * 2 / 5),
          .donor_count = client_count * 6};
}

void run_market(SimulatedRun& run) {
  const bool has_many = run.plan().seed % many_partitions_one_in == 0;
  SimulatedCluster cluster(
      run.options(
          {.partition_count = framework::partition_count_min * (has_many ? 2 : 1), .shards = {}}),
      Market::set_up);
  Market market(cluster, run, market_options(run.plan().client_count));
  run.open(cluster);
  market.open();
  if (run.close(cluster)) market.settle(answer_time_max);
  if (cluster.violations().empty()) cluster.run_for(run.until_part(cluster, 1));
  run.count("games", market.game_count());
}

// The store loses writes in these runs, so nodes do not rely on it alone.
void run_losses(SimulatedRun& run) {
  SimulatedCluster cluster(
      run.options({.shards = {}, .without_directory = framework::WithoutDirectory::refuse}),
      Losses::set_up);
  Losses losses(cluster, run, {.donor_count = run.plan().client_count});
  run.open(cluster);
  losses.open();
  if (run.close(cluster)) cluster.run_for(run.until_part(cluster, 1));
}

void run_letters(SimulatedRun& run) {
  const std::size_t edge_count = run.plan().node_count < 4 ? 0 : 2;
  SimulatedCluster cluster(run.options({.edges = edge_count, .shards = {}}), Letters::set_up);
  Letters letters(cluster, run, {.user_count = run.plan().client_count / 6});
  run.open(cluster);
  letters.open();
  if (run.close(cluster)) letters.settle();
  if (cluster.violations().empty()) cluster.run_for(run.until_part(cluster, 1));
}

}  // namespace

Scenario market_scenario() {
  return [](SimulatedRun& run) {
    const std::uint64_t seed = run.plan().seed;
    if (seed % losses_one_in == 0) return run_losses(run);
    if (seed % letters_one_in == letters_one_in / 2) return run_letters(run);
    return run_market(run);
  };
}

}  // namespace corolane::sim
