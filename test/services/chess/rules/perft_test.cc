// SPDX-License-Identifier: MIT
// Counts the leaves of move trees of known size: any rule that is missing, wrong or applied twice
// changes a number (https://www.chessprogramming.org/Perft_Results).
#include <gtest/gtest.h>

#include <cstdint>
#include <string_view>

#include "services/chess/rules/legal_moves.h"
#include "test/services/chess/rules/support.h"

namespace corolane::services::chess::rules {
namespace {

std::uint64_t perft(const Position& position, int depth) {
  if (depth == 0) return 1;
  const auto moves = legal_moves(position);
  if (depth == 1) return moves.size();
  std::uint64_t leaves = 0;
  for (const Move move : moves) leaves += perft(position.after(move), depth - 1);
  return leaves;
}

TEST(PerftTest, CountsTheStartingPosition) {
  EXPECT_EQ(perft(Position(), 1), 20U);
  EXPECT_EQ(perft(Position(), 2), 400U);
  EXPECT_EQ(perft(Position(), 3), 8'902U);
  EXPECT_EQ(perft(Position(), 4), 197'281U);
  EXPECT_EQ(perft(Position(), 5), 4'865'609U);
}

TEST(PerftTest, CountsAMiddleGameFullOfCastlingAndPins) {
  const Position position =
      position_of("r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq -");
  EXPECT_EQ(perft(position, 1), 48U);
  EXPECT_EQ(perft(position, 2), 2'039U);
  EXPECT_EQ(perft(position, 3), 97'862U);
  EXPECT_EQ(perft(position, 4), 4'085'603U);
}

TEST(PerftTest, CountsAnEndingFullOfEnPassantAndDiscoveredChecks) {
  const Position position = position_of("8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - -");
  EXPECT_EQ(perft(position, 1), 14U);
  EXPECT_EQ(perft(position, 2), 191U);
  EXPECT_EQ(perft(position, 3), 2'812U);
  EXPECT_EQ(perft(position, 4), 43'238U);
  EXPECT_EQ(perft(position, 5), 674'624U);
}

TEST(PerftTest, CountsASymmetricMiddleGame) {
  const Position position =
      position_of("r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10");
  EXPECT_EQ(perft(position, 1), 46U);
  EXPECT_EQ(perft(position, 2), 2'079U);
  EXPECT_EQ(perft(position, 3), 89'890U);
}

TEST(PerftTest, CountsAPositionWithPromotionByCaptureIntoCheck) {
  const Position position =
      position_of("rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8");
  EXPECT_EQ(perft(position, 1), 44U);
  EXPECT_EQ(perft(position, 2), 1'486U);
  EXPECT_EQ(perft(position, 3), 62'379U);
}

}  // namespace
}  // namespace corolane::services::chess::rules
