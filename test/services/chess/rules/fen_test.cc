// SPDX-License-Identifier: MIT
// Claims about services/chess/rules/fen.h and about the conditions for a Position::Setup.
#include "services/chess/rules/fen.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "test/services/chess/rules/support.h"

namespace corolane::services::chess::rules {
namespace {

constexpr std::string_view start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

std::string failure_of(std::string_view fen) {
  const auto position = parse_fen(fen);
  return position ? "parsed as " + to_fen(*position) : position.error();
}

TEST(FenTest, TheDefaultPositionIsTheStartingPosition) {
  EXPECT_EQ(to_fen(Position()), start);
  EXPECT_EQ(position_of(start), Position());
}

TEST(FenTest, ReadsEveryField) {
  const Position position = position_of("4k2r/8/8/3pP3/8/8/8/4K3 w k d6 0 31");
  EXPECT_EQ(position.piece_at(Square::d5), (Piece{Color::black, PieceKind::pawn}));
  EXPECT_EQ(position.piece_at(Square::e5), (Piece{Color::white, PieceKind::pawn}));
  EXPECT_EQ(position.piece_at(Square::a1), std::nullopt);
  EXPECT_EQ(position.side_to_move(), Color::white);
  EXPECT_TRUE(position.castling_rights().has(Color::black, Wing::king_side));
  EXPECT_FALSE(position.castling_rights().has(Color::black, Wing::queen_side));
  EXPECT_EQ(position.en_passant_square(), Square::d6);
  EXPECT_EQ(position.halfmove_clock(), 0);
  EXPECT_EQ(position.fullmove_number(), 31);
}

TEST(FenTest, TheClocksMayBeMissing) {
  EXPECT_EQ(to_fen(position_of("8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - -")),
            "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1");
}

TEST(FenTest, WritesTheEnPassantSquareOnlyWhenACaptureThereIsLegal) {
  for (const auto& [given, written] : {
           std::pair{"4k3/8/8/8/4P3/8/8/4K3 b - e3 0 1", "4k3/8/8/8/4P3/8/8/4K3 b - - 0 1"},
           std::pair{"4k3/8/8/8/3pP3/8/8/4K3 b - e3 0 1", "4k3/8/8/8/3pP3/8/8/4K3 b - e3 0 1"},
           // The capture would open rank 4 before the black king.
           std::pair{"8/8/8/8/k2pP2R/8/8/4K3 b - e3 0 1", "8/8/8/8/k2pP2R/8/8/4K3 b - - 0 1"},
       }) {
    EXPECT_EQ(to_fen(position_of(given)), written);
  }
}

TEST(FenTest, AcceptsCastlingLettersInAnyOrder) {
  EXPECT_EQ(position_of("r3k2r/8/8/8/8/8/8/R3K2R w qkQK - 0 1").castling_rights(),
            CastlingRights::all());
}

TEST(FenTest, CountsTheFields) {
  EXPECT_EQ(failure_of(""), "fields: expected 6, or 4 without the clocks, got 1");
  EXPECT_EQ(failure_of("4k3/8/8/8/8/8/8/4K3 w - - 0"),
            "fields: expected 6, or 4 without the clocks, got 5");
}

TEST(FenTest, NamesTheFaultInThePlacement) {
  EXPECT_EQ(failure_of("4k3/8/8/8/8/8/4K3 w - -"), "placement: expected 8 ranks, got 7");
  EXPECT_EQ(failure_of("4k3/8/8/8/8/ppppppppp/8/4K3 w - -"), "placement: rank 3 has 9 squares");
  EXPECT_EQ(failure_of("4k3/8/8/8/8/8/8/4K2 w - -"), "placement: rank 1 has 7 squares");
  EXPECT_EQ(failure_of("4k3/8/8/8/8/8/8/4X3 w - -"), "placement: rank 1 has \"X\"");
  EXPECT_EQ(failure_of("4k3/9/8/8/8/8/8/4K3 w - -"), "placement: rank 7 has \"9\"");
  EXPECT_EQ(failure_of("4k3/44/8/8/8/8/8/4K3 w - -"), "placement: rank 7 has two digits in a row");
}

TEST(FenTest, NamesTheFaultInTheOtherFields) {
  EXPECT_EQ(failure_of("4k3/8/8/8/8/8/8/4K3 W - -"), "side to move: expected w or b, got \"W\"");
  for (const std::string_view castling : {"", "KK", "X", "Pq", "K-"}) {
    EXPECT_EQ(
        failure_of("r3k2r/8/8/8/8/8/8/R3K2R w " + std::string(castling) + " -"),
        "castling: expected - or letters of KQkq, each once, got \"" + std::string(castling) + '"');
  }
  EXPECT_EQ(failure_of("4k3/8/8/8/8/8/8/4K3 w - e9"),
            "en passant: expected - or a square, got \"e9\"");
  EXPECT_EQ(failure_of("4k3/8/8/8/8/8/8/4K3 w - - -1 1"),
            "half-move clock: expected a number from 0 to 9999, got \"-1\"");
  EXPECT_EQ(failure_of("4k3/8/8/8/8/8/8/4K3 w - - 1x 1"),
            "half-move clock: expected a number from 0 to 9999, got \"1x\"");
  EXPECT_EQ(failure_of("4k3/8/8/8/8/8/8/4K3 w - - 0 0"),
            "full-move number: expected a number from 1 to 9999, got \"0\"");
  EXPECT_EQ(failure_of("4k3/8/8/8/8/8/8/4K3 w - - 0 99999999999"),
            "full-move number: expected a number from 1 to 9999, got \"99999999999\"");
}

TEST(FenTest, RefusesPositionsThatNoGameCanReach) {
  EXPECT_EQ(failure_of("8/8/8/8/8/8/8/4K3 w - -"), "placement: black has 0 kings, not one");
  EXPECT_EQ(failure_of("4k3/8/8/8/8/8/8/3KK3 w - -"), "placement: white has 2 kings, not one");
  EXPECT_EQ(failure_of("P3k3/8/8/8/8/8/8/4K3 w - -"), "placement: a pawn stands on a8");
  EXPECT_EQ(failure_of("4k3/8/8/8/8/8/8/3pK3 w - -"), "placement: a pawn stands on d1");
  EXPECT_EQ(failure_of("4k3/8/8/8/8/P7/PPPPPPPP/4K3 w - -"),
            "placement: white has 9 pawns, more than 8");
  EXPECT_EQ(failure_of("4k3/8/8/8/8/NNNNNNNN/NNNNNNNN/4K3 w - -"),
            "placement: white has 17 men, more than 16");
  EXPECT_EQ(failure_of("4k3/8/8/8/8/8/8/4R1K1 w - -"),
            "side to move: white is to move and could take the king of black");
}

TEST(FenTest, RefusesCastlingRightsWithoutKingAndRook) {
  EXPECT_EQ(failure_of("4k3/8/8/8/8/8/8/R3K3 w K -"),
            "castling: white has no king on e1 with a rook on h1");
  EXPECT_EQ(failure_of("r2k4/8/8/8/8/8/8/4K3 w q -"),
            "castling: black has no king on e8 with a rook on a8");
  EXPECT_EQ(failure_of("4k3/8/8/8/8/8/8/4K2r w K -"),
            "castling: white has no king on e1 with a rook on h1");
}

TEST(FenTest, RefusesAnEnPassantSquareThatNoPawnJumpedOver) {
  EXPECT_EQ(failure_of("4k3/8/8/8/4P3/8/8/4K3 w - e3"), "en passant: e3 is not on rank 6");
  EXPECT_EQ(failure_of("4k3/8/8/8/4P3/8/8/4K3 b - d3"),
            "en passant: no pawn of white stands on d4");
  EXPECT_EQ(failure_of("4k3/8/8/8/4P3/4N3/8/4K3 b - e3"),
            "en passant: the pawn on e4 cannot have come from e2");
  EXPECT_EQ(failure_of("4k3/8/8/8/4P3/8/4N3/4K3 b - e3"),
            "en passant: the pawn on e4 cannot have come from e2");
}

}  // namespace
}  // namespace corolane::services::chess::rules
