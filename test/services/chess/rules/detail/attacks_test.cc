// SPDX-License-Identifier: MIT
// Claims about services/chess/rules/detail/attacks.h.
#include "services/chess/rules/detail/attacks.h"

#include <gtest/gtest.h>

#include "test/services/chess/rules/support.h"

namespace corolane::services::chess::rules::detail {
namespace {

using enum Square;

TEST(AttacksTest, LeapersStayOnTheBoard) {
  EXPECT_EQ(knight_attacks(a1), squares({b3, c2}));
  EXPECT_EQ(knight_attacks(h8), squares({g6, f7}));
  EXPECT_EQ(knight_attacks(d4).size(), 8);
  EXPECT_EQ(king_attacks(a8), squares({a7, b7, b8}));
  EXPECT_EQ(king_attacks(e4).size(), 8);
}

TEST(AttacksTest, PawnsAttackForwardAndDoNotWrapRoundTheEdge) {
  EXPECT_EQ(pawn_attacks(Color::white, e4), squares({d5, f5}));
  EXPECT_EQ(pawn_attacks(Color::black, e4), squares({d3, f3}));
  EXPECT_EQ(pawn_attacks(Color::white, a2), SquareSet(b3));
  EXPECT_EQ(pawn_attacks(Color::black, h7), SquareSet(g6));
}

TEST(AttacksTest, SlidersStopAtTheFirstPieceOfEachLine) {
  EXPECT_EQ(rook_attacks(d4, squares({d6, d7, f4, b4, a4})),
            squares({d5, d6, e4, f4, c4, b4, d3, d2, d1}));
  EXPECT_EQ(bishop_attacks(c1, squares({e3, f4, b2})), squares({b2, d2, e3}));
}

TEST(AttacksTest, SlidersOnAnEmptyBoardReachTheEdge) {
  for (const Square square : SquareSet::all()) {
    EXPECT_EQ(rook_attacks(square, {}).size(), 14) << to_string(square);
  }
  EXPECT_EQ(bishop_attacks(d4, {}).size(), 13);
  EXPECT_EQ(bishop_attacks(a1, {}).size(), 7);
}

TEST(AttacksTest, BetweenIsTheOpenPartOfALine) {
  EXPECT_EQ(between(a1, d4), squares({b2, c3}));
  EXPECT_EQ(between(d4, a1), squares({b2, c3}));
  EXPECT_EQ(between(h5, e5), squares({f5, g5}));
  EXPECT_EQ(between(b8, b5), squares({b6, b7}));
  EXPECT_TRUE(between(e4, e5).empty());
  EXPECT_TRUE(between(a1, b3).empty());
}

}  // namespace
}  // namespace corolane::services::chess::rules::detail
