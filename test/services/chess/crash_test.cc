// SPDX-License-Identifier: MIT
// A crash in the middle of a move loses no move: a model for users' tests of a game service
// (framework/testing/README.md).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "coroutine/task.h"
#include "framework/testing/cluster.h"
#include "services/chess/game.h"
#include "services/chess/player.h"

namespace corolane::services::chess {
namespace {

using namespace std::chrono_literals;
using sim::SimulatedCluster;

constexpr const char* game_type = "corolane.services.chess.Game";

void host_chess(framework::Node& node) {
  static const ChessConfig config;
  node.host<Game>([](framework::Shard&) { return std::make_unique<Game>(config); });
  node.host<Player>();
}

TEST(ChessCrashTest, NoMoveIsLost) {
  int told = 0;  // Moves that were answered.
  SimulatedCluster cluster({.seed = 7, .nodes = 3}, host_chess);
  cluster.invariant("no move is lost", [&] {
    return cluster.stored<GameRecord>(game_type, "g").moves_size() < told ? "one is gone" : "";
  });
  const auto play = [&](Seat seat, const std::vector<std::string>& moves) {
    GameClient game(cluster.router(Seat_Name(seat)), "g");
    JoinRequest join;
    join.set_seat(seat);
    MoveRequest move;
    move.set_token(game.join(join)->token());
    for (const std::string& san : moves) {
      move.set_san(san);
      while (!game.move(move)) ASSERT_TRUE(coroutine::sleep_for(20ms));  // It is not our turn.
      ++told;
    }
  };
  cluster.spawn("white", [play] { play(WHITE, {"e4", "Nf3", "Bb5", "O-O"}); });
  cluster.spawn("black", [play] { play(BLACK, {"e5", "Nc6", "Nf6", "Nxe4"}); });
  EXPECT_TRUE(cluster.run_until([&] { return told == 3; }, 20s));
  const std::size_t node = cluster.owner_of(game_type, "g").value();
  cluster.crash(node);
  cluster.run_for(1s);
  cluster.restart(node);
  EXPECT_TRUE(cluster.run_until([&] { return cluster.are_clients_done(); }, 60s));
  EXPECT_THAT(cluster.violations(), testing::IsEmpty());
}

}  // namespace
}  // namespace corolane::services::chess
