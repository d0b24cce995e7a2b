// SPDX-License-Identifier: MIT
// Invariants of every reachable position, checked on games of random moves.
//
// Each test prints its seed; COROTEST_SEED=N repeats the run with seed N.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "coroutine/testing/random.h"
#include "services/chess/rules/game.h"
#include "services/chess/rules/legal_moves.h"
#include "services/chess/rules/san.h"
#include "services/chess/rules/uci.h"
#include "test/services/chess/rules/support.h"

namespace corolane::services::chess::rules {
namespace {

void expect_notations_round_trip(const Position& position, Move move) {
  const std::string san = to_san(position, move);
  EXPECT_EQ(parse_san(position, san), move) << san;
  EXPECT_EQ(parse_uci(position, to_uci(move)), move);
  EXPECT_EQ(why_illegal(position, move), std::nullopt);
}

// Every other move from square to square must have a reason against it.
void expect_all_else_illegal(const Position& position, const std::vector<Move>& moves) {
  for (const Square from : SquareSet::all()) {
    for (const Square to : SquareSet::all()) {
      const bool is_legal = std::ranges::any_of(
          moves, [&](const Move& move) { return move.from == from && move.to == to; });
      if (is_legal) continue;
      EXPECT_NE(why_illegal(position, {from, to}), std::nullopt);
    }
  }
}

void expect_sound(const Position& position) {
  const std::string fen = to_fen(position);
  SCOPED_TRACE(fen);
  // parse_fen() refuses a position in which the side that has moved is in check.
  EXPECT_EQ(parse_fen(fen), position);

  const auto moves = legal_moves(position);
  std::set<std::string> sans;
  for (const Move move : moves) {
    expect_notations_round_trip(position, move);
    EXPECT_TRUE(parse_fen(to_fen(position.after(move))));
    sans.insert(to_san(position, move));
  }
  EXPECT_EQ(sans.size(), moves.size()) << "two moves have the same notation";
}

TEST(RandomGamesTest, NotationsRoundTripAndMovesLeaveLegalPositions) {
  test::Random random;

  constexpr int game_count = 8;
  constexpr int ply_count_max = 150;
  for (int index = 0; index < game_count; ++index) {
    Game game;
    while (!game.is_over() && game.ply() < ply_count_max) {
      expect_sound(game.position());
      const auto moves = legal_moves(game.position());
      ASSERT_TRUE(game.play(moves[random.below(moves.size())]));
      ASSERT_FALSE(HasFailure());
    }
    if (!game.is_over()) expect_all_else_illegal(game.position(), legal_moves(game.position()));
  }
}

TEST(RandomGamesTest, EveryGameEndsByTheRules) {
  test::Random random;

  Game game;
  while (!game.is_over()) {
    const auto moves = legal_moves(game.position());
    ASSERT_FALSE(moves.empty());
    ASSERT_TRUE(game.play(moves[random.below(moves.size())]));
  }
  EXPECT_EQ(game.winner().has_value(), game.outcome() == Outcome::checkmate);
}

}  // namespace
}  // namespace corolane::services::chess::rules
