// SPDX-License-Identifier: MIT
#include "tools/simulation/losses.h"

#include <chrono>
#include <string>

#include "coroutine/task.h"
#include "framework/routing/router.h"
#include "tools/simulation/trade/guild.h"

namespace corolane::sim {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t concern = 40'000'000;
constexpr const char* guild_type = "corolane.sim.Guild";
constexpr const char* mark_of_notice = "an owner notices that the store has lost writes";

std::string guild_name(std::size_t index) { return "guild-" + std::to_string(index); }

}  // namespace

void Losses::set_up(framework::Node& node) { node.host<Guild>(); }

Losses::Losses(SimulatedCluster& cluster, SimulatedRun& run, const Options& options)
    : cluster_(cluster), run_(run), options_(options) {
  cluster_.sometimes(mark_of_notice, false);
  cluster_.invariant("gold is what donors gave", [this] { return what_gold_is_wrong(); });
  run_.add_fault({.name = "lose_writes",
                  .fault = FaultKind::lose_writes,
                  .every = 8s,
                  .lasts_min = 20ms,
                  .lasts_max = 2s});
}

// Clients that still run refer to this object.
Losses::~Losses() { cluster_.client_host().kill(); }

void Losses::open() {
  for (std::size_t i = 0; i < options_.donor_count; ++i) {
    cluster_.spawn("donor " + std::to_string(i), [this, i] { give(i); });
  }
}

void Losses::give(std::size_t donor) {
  test::Random dice = cluster_.simulation().dice(concern + donor);
  framework::Router& router = cluster_.router("donor " + std::to_string(donor));
  while (!run_.is_ending()) {
    if (!coroutine::sleep_for(10ms + dice.up_to(500ms))) return;
    const std::string name = guild_name(dice.below(options_.guild_count));
    const auto donated = GuildClient(router, name).donate({});
    const bool is_noticed = !donated && donated.error().code() == Code::data_loss;
    cluster_.sometimes(mark_of_notice, is_noticed);
    if (!donated && !is_noticed) {
      return cluster_.violated("I6 " + name + ": " + donated.error().to_string());
    }
  }
}

// An owner that wrote on over a loss would store the gold of donations that the store has lost.
std::string Losses::what_gold_is_wrong() const {
  for (std::size_t i = 0; i < options_.guild_count; ++i) {
    const std::string name = guild_name(i);
    const framework::ObjectKey key{.type = guild_type, .id = name};
    const std::uint64_t gold = cluster_.stored<GuildState>(key.type, key.id).gold();
    const std::size_t given = cluster_.checker().request_count(key);
    if (gold == given) continue;
    return name + " has " + std::to_string(gold) + " of " + std::to_string(given);
  }
  return "";
}

}  // namespace corolane::sim
