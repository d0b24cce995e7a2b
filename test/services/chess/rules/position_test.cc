// SPDX-License-Identifier: MIT
// Claims about services/chess/rules/position.h.
#include "services/chess/rules/position.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "services/chess/rules/legal_moves.h"
#include "services/chess/rules/uci.h"
#include "test/services/chess/rules/support.h"

namespace corolane::services::chess::rules {
namespace {

// The FEN after `uci`, which must be legal.
std::string fen_after(std::string_view fen, std::string_view uci) {
  const Position position = position_of(fen);
  const auto move = parse_uci(position, uci);
  return move ? to_fen(position.after(*move)) : move.error();
}

TEST(PositionTest, AMoveDoesNotChangeTheOldPosition) {
  const Position start;
  const Position next = start.after({Square::e2, Square::e4});
  EXPECT_EQ(start, Position());
  EXPECT_EQ(next.side_to_move(), Color::black);
}

TEST(PositionTest, CastlingMovesKingAndRook) {
  constexpr std::string_view white = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 4 9";
  EXPECT_EQ(fen_after(white, "e1g1"), "r3k2r/8/8/8/8/8/8/R4RK1 b kq - 5 9");
  EXPECT_EQ(fen_after(white, "e1c1"), "r3k2r/8/8/8/8/8/8/2KR3R b kq - 5 9");
  constexpr std::string_view black = "r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 4 9";
  EXPECT_EQ(fen_after(black, "e8g8"), "r4rk1/8/8/8/8/8/8/R3K2R w KQ - 5 10");
  EXPECT_EQ(fen_after(black, "e8c8"), "2kr3r/8/8/8/8/8/8/R3K2R w KQ - 5 10");
}

TEST(PositionTest, AKingsMoveLosesItsCastlingRights) {
  EXPECT_EQ(fen_after("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "e1e2"),
            "r3k2r/8/8/8/8/8/4K3/R6R b kq - 1 1");
}

TEST(PositionTest, ARooksMoveLosesItsCastlingRight) {
  EXPECT_EQ(fen_after("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "h1g1"),
            "r3k2r/8/8/8/8/8/8/R3K1R1 b Qkq - 1 1");
}

TEST(PositionTest, ACapturedRookLosesItsCastlingRight) {
  EXPECT_EQ(fen_after("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "a1a8"),
            "R3k2r/8/8/8/8/8/8/4K2R b Kk - 0 1");
}

TEST(PositionTest, EnPassantTakesThePawnBeside) {
  EXPECT_EQ(fen_after("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 5", "e5d6"),
            "4k3/8/3P4/8/8/8/8/4K3 b - - 0 5");
  EXPECT_EQ(fen_after("4k3/8/8/8/3pP3/8/8/4K3 b - e3 0 5", "d4e3"),
            "4k3/8/8/8/8/4p3/8/4K3 w - - 0 6");
}

TEST(PositionTest, EnPassantLastsOneMove) {
  const Position position = position_of("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 5");
  EXPECT_EQ(position.after({Square::e1, Square::e2}).en_passant_square(), std::nullopt);
}

TEST(PositionTest, ADoubleStepSetsTheSquareForACapturer) {
  EXPECT_EQ(fen_after("4k3/8/8/8/3p4/8/4P3/4K3 w - - 0 1", "e2e4"),
            "4k3/8/8/8/3pP3/8/8/4K3 b - e3 0 1");
  EXPECT_EQ(fen_after("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1", "e2e4"),
            "4k3/8/8/8/4P3/8/8/4K3 b - - 0 1");
}

TEST(PositionTest, PromotionReplacesThePawn) {
  EXPECT_EQ(fen_after("1n2k3/P7/8/8/8/8/8/4K3 w - - 7 40", "a7b8n"),
            "1N2k3/8/8/8/8/8/8/4K3 b - - 0 40");
  EXPECT_EQ(fen_after("4k3/8/8/8/8/8/p7/4K3 b - - 7 40", "a2a1q"),
            "4k3/8/8/8/8/8/8/q3K3 w - - 0 41");
}

TEST(PositionTest, CapturesAndPawnMovesResetTheHalfmoveClock) {
  EXPECT_EQ(fen_after("4k3/8/8/8/8/8/4r3/4K3 w - - 30 60", "e1e2"),
            "4k3/8/8/8/8/8/4K3/8 b - - 0 60");
  EXPECT_EQ(fen_after("4k3/8/8/8/8/8/3P4/4K3 w - - 30 60", "d2d3"),
            "4k3/8/8/8/8/3P4/8/4K3 b - - 0 60");
  EXPECT_EQ(fen_after("4k3/8/8/8/8/8/3P4/4K3 w - - 30 60", "e1e2"),
            "4k3/8/8/8/8/8/3PK3/8 b - - 31 60");
}

TEST(PositionTest, KnowsAttackersOfBothColors) {
  const Position position = position_of("4k3/8/5n2/8/8/3P4/4R3/4K3 b - - 0 1");
  EXPECT_EQ(position.attackers_of(Square::e4, Color::white), squares({Square::d3, Square::e2}));
  EXPECT_EQ(position.attackers_of(Square::e4, Color::black), SquareSet(Square::f6));
}

TEST(PositionTest, KnowsCheckOfTheSideToMove) {
  EXPECT_TRUE(position_of("4k3/8/8/8/8/8/4R3/4K3 b - - 0 1").in_check());
  EXPECT_FALSE(position_of("4k3/4p3/8/8/8/8/4R3/4K3 b - - 0 1").in_check());
}

TEST(PositionTest, KnowsCaptures) {
  const Position position = position_of("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 5");
  EXPECT_TRUE(position.is_capture({Square::e5, Square::d6}));
  EXPECT_FALSE(position.is_capture({Square::e5, Square::e6}));
}

TEST(PositionTest, RepetitionIgnoresTheClocks) {
  const Position position = position_of("r3k2r/8/8/3pP3/8/8/8/4K3 w kq d6 0 5");
  EXPECT_TRUE(position.repeats(position_of("r3k2r/8/8/3pP3/8/8/8/4K3 w kq d6 12 50")));
  EXPECT_FALSE(position.repeats(position_of("r3k2r/8/8/3pP3/8/8/8/4K3 w k d6 0 5")));
  EXPECT_FALSE(position.repeats(position_of("r3k2r/8/8/3pP3/8/8/8/4K3 w kq - 0 5")));
  EXPECT_FALSE(position.repeats(position_of("r3k2r/8/8/3pP3/8/8/8/4K3 b kq - 0 5")));
  EXPECT_FALSE(position.repeats(position_of("r3k2r/8/8/3pP3/8/8/8/3K4 w kq d6 0 5")));
}

TEST(PositionTest, AnUnusableEnPassantSquareDoesNotDistinguishPositions) {
  EXPECT_TRUE(position_of("4k3/8/8/8/4P3/8/8/4K3 b - e3 0 1")
                  .repeats(position_of("4k3/8/8/8/4P3/8/8/4K3 b - - 2 2")));
}

}  // namespace
}  // namespace corolane::services::chess::rules
