// SPDX-License-Identifier: MIT
// Claims about services/chess/rules/legal_moves.h, one rule each; perft_test.cc counts all moves.
#include "services/chess/rules/legal_moves.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "services/chess/rules/uci.h"
#include "test/services/chess/rules/support.h"

namespace corolane::services::chess::rules {
namespace {

using enum Square;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::UnorderedElementsAre;

std::vector<std::string> moves_from(std::string_view fen, Square from) {
  std::vector<std::string> moves;
  for (const Move move : legal_moves(position_of(fen))) {
    if (move.from == from) moves.push_back(to_uci(move));
  }
  return moves;
}

std::string reason_against(std::string_view fen, Move move) {
  return why_illegal(position_of(fen), move).value_or("legal");
}

TEST(LegalMovesTest, APawnStepsOnceOrTwiceFromHomeAndOnceLater) {
  EXPECT_THAT(moves_from("4k3/8/8/8/8/8/4P3/K7 w - -", e2), UnorderedElementsAre("e2e3", "e2e4"));
  EXPECT_THAT(moves_from("4k3/8/8/8/8/4P3/8/K7 w - -", e3), UnorderedElementsAre("e3e4"));
  EXPECT_THAT(moves_from("k7/4p3/8/8/8/8/8/4K3 b - -", e7), UnorderedElementsAre("e7e6", "e7e5"));
}

TEST(LegalMovesTest, APawnIsBlockedByAnyPiece) {
  EXPECT_THAT(moves_from("4k3/8/8/8/8/4n3/4P3/K7 w - -", e2), IsEmpty());
  EXPECT_THAT(moves_from("4k3/8/8/8/4N3/8/4P3/K7 w - -", e2), UnorderedElementsAre("e2e3"));
}

TEST(LegalMovesTest, APawnCapturesDiagonallyAndOnlyEnemies) {
  EXPECT_THAT(moves_from("4k3/8/8/8/4p3/3p1N2/4P3/K7 w - -", e2),
              UnorderedElementsAre("e2e3", "e2d3"));
}

TEST(LegalMovesTest, APawnPromotesToFourKindsByStepAndByCapture) {
  EXPECT_THAT(
      moves_from("1n2k3/P7/8/8/8/8/8/4K3 w - -", a7),
      UnorderedElementsAre("a7a8q", "a7a8r", "a7a8b", "a7a8n", "a7b8q", "a7b8r", "a7b8b", "a7b8n"));
}

TEST(LegalMovesTest, APinnedPieceStaysOnTheLineOfThePin) {
  EXPECT_THAT(moves_from("4k3/4r3/8/8/8/8/4R3/4K3 w - -", e2),
              UnorderedElementsAre("e2e3", "e2e4", "e2e5", "e2e6", "e2e7"));
  EXPECT_THAT(moves_from("4k3/4r3/8/8/8/8/4N3/4K3 w - -", e2), IsEmpty());
  EXPECT_THAT(moves_from("4k3/8/8/8/7b/8/5P2/4K3 w - -", f2), IsEmpty());
  EXPECT_THAT(moves_from("4k3/8/8/8/8/6b1/5P2/4K3 w - -", f2), UnorderedElementsAre("f2g3"));
}

TEST(LegalMovesTest, TwoShieldingPiecesAreNotPinned) {
  EXPECT_THAT(moves_from("4k3/4r3/8/8/4P3/8/4N3/4K3 w - -", e2),
              UnorderedElementsAre("e2c1", "e2g1", "e2c3", "e2g3", "e2d4", "e2f4"));
}

TEST(LegalMovesTest, ACheckIsAnsweredByBlockCaptureOrFlight) {
  const Position position = position_of("4k3/8/8/8/4r3/8/3N4/4K1B1 w - -");
  std::vector<std::string> moves;
  for (const Move move : legal_moves(position)) moves.push_back(to_uci(move));
  EXPECT_THAT(moves, UnorderedElementsAre("d2e4", "g1e3", "e1d1", "e1f1", "e1f2"));
}

TEST(LegalMovesTest, OnlyTheKingAnswersADoubleCheck) {
  constexpr std::string_view fen = "4k3/8/8/8/8/5n2/R3r3/4K3 w - -";
  EXPECT_THAT(moves_from(fen, a2), IsEmpty());
  EXPECT_THAT(moves_from(fen, e1), UnorderedElementsAre("e1d1", "e1f1", "e1e2"));
}

TEST(LegalMovesTest, TheKingDoesNotFleeAlongTheLineOfTheCheck) {
  EXPECT_THAT(moves_from("4k3/8/8/8/r3K3/8/8/8 w - -", e4),
              UnorderedElementsAre("e4d3", "e4e3", "e4f3", "e4d5", "e4e5", "e4f5"));
}

TEST(LegalMovesTest, TheKingDoesNotTakeADefendedPiece) {
  EXPECT_THAT(moves_from("4k3/8/8/8/8/2b5/3q4/4K3 w - -", e1), UnorderedElementsAre("e1f1"));
}

TEST(LegalMovesTest, CastlingIsLegalWhenNothingIsInTheWay) {
  EXPECT_THAT(moves_from("r3k2r/8/8/8/8/8/8/R3K2R w KQkq -", e1), IsSupersetOf({"e1g1", "e1c1"}));
  EXPECT_THAT(moves_from("r3k2r/8/8/8/8/8/8/R3K2R b KQkq -", e8), IsSupersetOf({"e8g8", "e8c8"}));
}

TEST(LegalMovesTest, CastlingHasItsObstacles) {
  struct Case {
    std::string_view fen;
    Wing wing;
    std::string_view obstacle;
  };
  for (const auto& [fen, wing, obstacle] : std::vector<Case>{
           {"4k3/8/8/8/8/8/8/R3K2R w Q -", Wing::king_side, "the right to castle there is lost"},
           {"4k3/8/8/8/8/8/8/R3KB1R w KQ -", Wing::king_side,
            "a piece stands between king and rook"},
           {"4k3/8/8/8/8/8/8/RN2K2R w KQ -", Wing::queen_side,
            "a piece stands between king and rook"},
           {"4k3/8/8/8/8/8/4r3/R3K2R w KQ -", Wing::king_side, "the king is in check"},
           {"4k3/8/8/8/8/8/5r2/R3K2R w KQ -", Wing::king_side,
            "the king would cross or reach an attacked square"},
           {"4k3/8/8/8/8/8/6r1/R3K2R w KQ -", Wing::king_side,
            "the king would cross or reach an attacked square"},
       }) {
    const Position position = position_of(fen);
    EXPECT_EQ(castling_obstacle(position, wing), obstacle) << fen;
    const Move move{e1, wing == Wing::king_side ? g1 : c1};
    EXPECT_EQ(why_illegal(position, move), obstacle) << fen;
  }
}

TEST(LegalMovesTest, TheRookMayCrossAnAttackedSquare) {
  EXPECT_EQ(castling_obstacle(position_of("4k3/8/8/8/8/8/1r6/R3K2R w KQ -"), Wing::queen_side),
            std::nullopt);
}

TEST(LegalMovesTest, EnPassantIsLegalForEachPawnThatStandsBeside) {
  const std::string_view fen = "4k3/8/8/2PpP3/8/8/8/4K3 w - d6";
  EXPECT_THAT(moves_from(fen, c5), UnorderedElementsAre("c5c6", "c5d6"));
  EXPECT_THAT(moves_from(fen, e5), UnorderedElementsAre("e5e6", "e5d6"));
}

TEST(LegalMovesTest, EnPassantDoesNotUncoverARankBeforeTheKing) {
  EXPECT_THAT(moves_from("4k3/8/8/K2pP2r/8/8/8/8 w - d6", e5), UnorderedElementsAre("e5e6"));
}

TEST(LegalMovesTest, EnPassantDoesNotUncoverADiagonalBeforeTheKing) {
  EXPECT_THAT(moves_from("4k3/6b1/8/3pP3/3K4/8/8/8 w - d6", e5), IsEmpty());
  EXPECT_THAT(moves_from("b3k3/8/8/3pP3/8/5K2/8/8 w - d6", e5), UnorderedElementsAre("e5e6"));
}

TEST(LegalMovesTest, APinnedPawnMayCaptureEnPassantAlongThePin) {
  EXPECT_THAT(moves_from("4k3/2b5/8/3pP3/5K2/8/8/8 w - d6", e5), UnorderedElementsAre("e5d6"));
}

TEST(LegalMovesTest, EnPassantAnswersTheCheckOfTheTakenPawn) {
  EXPECT_THAT(moves_from("4k3/8/8/3pP3/2K5/8/8/8 w - d6", e5), UnorderedElementsAre("e5d6"));
}

TEST(LegalMovesTest, EnPassantIsIllegalWhenItDoesNotAnswerTheCheck) {
  EXPECT_THAT(moves_from("4k3/8/8/3pP3/8/8/8/r3K3 w - -", e5), IsEmpty());
  EXPECT_EQ(position_of("4k3/8/8/3pP3/8/8/8/r3K3 w - d6").en_passant_square(), std::nullopt);
}

TEST(LegalMovesTest, MateAndStalemateLeaveNoMove) {
  EXPECT_THAT(legal_moves(position_of("R5k1/5ppp/8/8/8/8/8/4K3 b - -")), IsEmpty());
  EXPECT_THAT(legal_moves(position_of("k7/2Q5/8/8/8/8/8/4K3 b - -")), IsEmpty());
}

TEST(LegalMovesTest, AllOf218MovesAreFoundWhereThereAreMost) {
  EXPECT_EQ(legal_moves(position_of("R6R/3Q4/1Q4Q1/4Q3/2Q4Q/Q4Q2/pp1Q4/kBNN1KB1 w - - 0 1")).size(),
            218U);
}

TEST(WhyIllegalTest, IsSilentForLegalMoves) {
  EXPECT_EQ(why_illegal(Position(), {e2, e4}), std::nullopt);
}

TEST(WhyIllegalTest, NamesTheReason) {
  constexpr std::string_view start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -";
  EXPECT_EQ(reason_against(start, {e4, e5}), "there is no piece on e4");
  EXPECT_EQ(reason_against(start, {e7, e5}), "the pawn on e7 is not white's");
  EXPECT_EQ(reason_against(start, {e2, e5}), "the pawn on e2 cannot go to e5");
  EXPECT_EQ(reason_against(start, {e1, e1}), "the king on e1 cannot go to e1");
  EXPECT_EQ(reason_against(start, {e2, e4, PieceKind::queen}),
            "only a pawn that reaches the last rank promotes");
  EXPECT_EQ(reason_against("4k3/8/8/8/8/8/4r3/R3K3 w Q -", {a1, a2}),
            "it would leave white's king in check");
  EXPECT_EQ(reason_against("4k3/8/8/8/8/8/5r2/4K3 w - -", {e1, e2}),
            "it would leave white's king in check");
}

TEST(WhyIllegalTest, NamesAWrongPromotion) {
  constexpr std::string_view fen = "4k3/P7/8/8/8/8/8/4K3 w - -";
  EXPECT_EQ(reason_against(fen, {a7, a8}), "the pawn that reaches a8 must promote");
  EXPECT_EQ(reason_against(fen, {a7, a8, PieceKind::king}), "a pawn cannot become a king");
}

}  // namespace
}  // namespace corolane::services::chess::rules
