// SPDX-License-Identifier: MIT
// Clients of a simulated cluster that play chess and trade, and check the results. tools/simulate
// runs them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "coroutine/base/result.h"
#include "coroutine/testing/random.h"
#include "framework/node/node.h"
#include "framework/testing/cluster.h"
#include "framework/testing/simulated_run.h"
#include "services/chess/chess_config.h"
#include "services/chess/game.corolane.h"
#include "tools/simulation/trade/trade.corolane.h"

namespace corolane::sim {

class Market {
 public:
  struct Options {
    std::size_t player_count = 22;  // Two at each table.
    std::size_t trader_count = 24;
    std::size_t account_count = 20;
    // Now and then all donors give to one guild at the same time.
    std::size_t donor_count = 200;
    std::size_t porter_count = 4;   // They fill and empty chests.
    std::size_t auditor_count = 6;  // Each has one account look at others, again and again.
    std::size_t chest_count = 3;
  };

  // Registers the objects of a node.
  static void set_up(framework::Node& node);

  // Adds its invariants to the cluster. The clients work until the run is ending. Cluster and run
  // outlive the market.
  Market(SimulatedCluster& cluster, const SimulatedRun& run, const Options& options);
  ~Market();
  Market(const Market&) = delete;
  Market& operator=(const Market&) = delete;

  // Starts all clients.
  void open();
  // Calls every object once more after all clients have ended, and compares the results. I6: all
  // must answer within `answer_time_max`. Reports violations to the cluster.
  void settle(Duration answer_time_max);

  std::uint64_t game_count() const { return games_.size(); }

 private:
  struct Tips {
    std::uint64_t sure = 0;   // Answered.
    std::uint64_t maybe = 0;  // In flight, or answered with maybe_executed.
  };

  void trade(std::size_t index);
  void tip(framework::Router& once, test::Random& dice);
  void note(const std::string& account, const AccountReply& reply);
  void collect();
  void donate(std::size_t donor);
  void carry(std::size_t porter);
  void audit(std::size_t auditor);
  void play(std::size_t table);
  void play_game(std::size_t table, const std::string& name);
  Result<void> sit_and_play(const std::string& name, services::chess::Seat seat,
                            const std::string& player, std::size_t length, test::Random& dice);
  std::string what_gold_is_missing() const;
  std::string what_tips_are_wrong() const;
  std::string what_donations_are_wrong() const;
  std::string what_ratings_are_wrong() const;
  std::string what_items_are_wrong() const;
  std::string any_account(test::Random& dice) const;

  SimulatedCluster& cluster_;
  const SimulatedRun& run_;
  const Options options_;
  bool has_everybody_answered_ = false;
  std::map<std::string, Tips> tips_;
  Tips donations_;
  std::uint64_t put_count_ = 0;
  std::uint64_t taken_count_ = 0;
  // By account and count: clients that see the same count see the same tips.
  std::map<std::pair<std::string, std::uint64_t>, std::uint64_t> tips_seen_;
  // Answered moves, by game and ply.
  std::map<std::string, std::map<std::uint32_t, std::string>> games_;
};

}  // namespace corolane::sim
