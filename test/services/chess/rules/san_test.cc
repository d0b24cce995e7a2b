// SPDX-License-Identifier: MIT
// Claims about services/chess/rules/san.h.
#include "services/chess/rules/san.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "services/chess/rules/uci.h"
#include "test/services/chess/rules/support.h"

namespace corolane::services::chess::rules {
namespace {

std::string san_of(std::string_view fen, std::string_view uci) {
  const Position position = position_of(fen);
  const auto move = parse_uci(position, uci);
  return move ? to_san(position, *move) : move.error();
}

// The move as UCI, or the error.
std::string read(std::string_view fen, std::string_view san) {
  const auto move = parse_san(position_of(fen), san);
  return move ? to_uci(*move) : move.error();
}

constexpr std::string_view start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
constexpr std::string_view castles = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq -";
constexpr std::string_view promotes = "1n5k/P7/8/8/8/8/8/4K3 w - -";
constexpr std::string_view two_knights = "4k3/8/8/8/8/5N2/8/1N2K3 w - -";

TEST(SanTest, WritesPiecesPawnsAndCaptures) {
  EXPECT_EQ(san_of(start, "e2e4"), "e4");
  EXPECT_EQ(san_of(start, "g1f3"), "Nf3");
  EXPECT_EQ(san_of("4k3/8/8/3p4/4P3/8/8/4K3 w - -", "e4d5"), "exd5");
  EXPECT_EQ(san_of("4k3/8/8/3p4/8/4N3/8/4K3 w - -", "e3d5"), "Nxd5");
  EXPECT_EQ(san_of("4k3/8/8/3pP3/8/8/8/4K3 w - d6", "e5d6"), "exd6");
}

TEST(SanTest, WritesCastlingAndPromotion) {
  EXPECT_EQ(san_of(castles, "e1g1"), "O-O");
  EXPECT_EQ(san_of(castles, "e1c1"), "O-O-O");
  EXPECT_EQ(san_of(promotes, "a7a8b"), "a8=B");
  EXPECT_EQ(san_of(promotes, "a7b8q"), "axb8=Q+");
}

TEST(SanTest, MarksCheckAndMate) {
  EXPECT_EQ(san_of("6k1/5pp1/8/8/8/8/8/R3K3 w - -", "a1a8"), "Ra8+");
  EXPECT_EQ(san_of("6k1/5ppp/8/8/8/8/8/R3K3 w - -", "a1a8"), "Ra8#");
  EXPECT_EQ(san_of("5k2/8/8/8/8/8/8/4K2R w K -", "e1g1"), "O-O+");
}

TEST(SanTest, AddsNoMoreOfTheOriginThanNeeded) {
  EXPECT_EQ(san_of(two_knights, "b1d2"), "Nbd2");
  EXPECT_EQ(san_of("4k3/8/8/R7/8/8/8/R3K3 w - -", "a1a3"), "R1a3");
  // Three queens on the corners of a square: neither file nor rank alone identifies the middle one.
  EXPECT_EQ(san_of("8/k7/8/8/4Q2Q/8/8/1K5Q w - -", "h4e1"), "Qh4e1");
  EXPECT_EQ(san_of("8/k7/8/8/4Q2Q/8/8/1K5Q w - -", "h1e1"), "Q1e1");
  EXPECT_EQ(san_of("8/k7/8/8/4Q2Q/8/8/1K5Q w - -", "e4e1"), "Qee1");
}

TEST(SanTest, APinnedRivalNeedsNoDisambiguation) {
  constexpr std::string_view fen = "4k3/4r3/8/8/8/1N6/4N3/4K3 w - -";
  EXPECT_EQ(san_of(fen, "b3d4"), "Nd4");
  EXPECT_EQ(read(fen, "Nd4"), "b3d4");
}

TEST(SanTest, ReadsWhatItWrites) {
  EXPECT_EQ(read(start, "e4"), "e2e4");
  EXPECT_EQ(read(two_knights, "Nbd2"), "b1d2");
  EXPECT_EQ(read(castles, "O-O"), "e1g1");
  EXPECT_EQ(read(castles, "O-O-O"), "e1c1");
  EXPECT_EQ(read(promotes, "axb8=Q+"), "a7b8q");
}

TEST(SanTest, MarksMayBeMissingOrWrong) {
  EXPECT_EQ(read(promotes, "axb8=Q"), "a7b8q");
  EXPECT_EQ(read(promotes, "axb8=Q#!?"), "a7b8q");
  EXPECT_EQ(read(start, "Nf3+"), "g1f3");
  EXPECT_EQ(read(start, "Nf3!!"), "g1f3");
  EXPECT_EQ(read(castles, "O-O!"), "e1g1");
}

TEST(SanTest, MoreOfTheOriginThanNeededIsFine) {
  EXPECT_EQ(read(start, "Ngf3"), "g1f3");
  EXPECT_EQ(read(start, "N1f3"), "g1f3");
  EXPECT_EQ(read(start, "Ng1f3"), "g1f3");
}

TEST(SanTest, RefusesTextThatIsNotNotation) {
  for (const std::string_view text :
       {"",        "+",   "e",    "Nf9",   "Zf3",  "nf3",   "Pe4",   "e2e4", "2e4", "ed5",
        "e8Q",     "e8=", "e8=K", "Nf3=Q", "N",    "Nxx5",  "x",     "xd5",  "=Q",  "0-0",
        "O-O-O-O", "O-",  "Nf3 ", "\nNf3", "e4e5", "Nabd2", "N12d2", "1-0"}) {
    EXPECT_EQ(read(start, text).substr(0, 9), "malformed") << text;
  }
  EXPECT_EQ(read(start, "Nf9"),
            "malformed move \"Nf9\": expected algebraic notation, such as Nf3, exd5, e8=Q or O-O");
}

TEST(SanTest, NamesTheReasonAgainstAnIllegalMove) {
  EXPECT_EQ(read(start, "Nf6"), "illegal move \"Nf6\": no knight of white can reach f6");
  EXPECT_EQ(read(start, "e5"), "illegal move \"e5\": no pawn of white can reach e5");
  EXPECT_EQ(read(start, "exd3"),
            "illegal move \"exd3\": no pawn of white can reach d3 from the e-file");
  EXPECT_EQ(read(start, "Nbf3"),
            "illegal move \"Nbf3\": no knight of white can reach f3 from the b-file");
  EXPECT_EQ(read(start, "N8f3"),
            "illegal move \"N8f3\": no knight of white can reach f3 from rank 8");
  EXPECT_EQ(read(start, "Nb1f3"),
            "illegal move \"Nb1f3\": no knight of white can reach f3 from b1");
  EXPECT_EQ(read("4k3/4r3/8/8/8/8/4N3/4K3 w - -", "Nd4"),
            "illegal move \"Nd4\": it would leave white's king in check");
}

TEST(SanTest, NamesTheObstacleToCastling) {
  EXPECT_EQ(read(start, "O-O"), "illegal move \"O-O\": a piece stands between king and rook");
  EXPECT_EQ(read("4k3/8/8/8/8/8/8/R3K3 w Q -", "O-O"),
            "illegal move \"O-O\": the right to castle there is lost");
  EXPECT_EQ(read(castles, "Kg1"), "illegal move \"Kg1\": no king of white can reach g1");
}

TEST(SanTest, RequiresThePromotion) {
  EXPECT_EQ(read(promotes, "a8"), "illegal move \"a8\": the pawn that reaches a8 must promote");
  EXPECT_EQ(read(start, "e4=Q"),
            "illegal move \"e4=Q\": only a pawn that reaches the last rank promotes");
}

TEST(SanTest, TheCaptureMarkMustBeRight) {
  EXPECT_EQ(read(start, "Nxf3"), "illegal move \"Nxf3\": there is nothing to capture on f3");
  EXPECT_EQ(read("4k3/8/8/3p4/8/4N3/8/4K3 w - -", "Nd5"),
            "illegal move \"Nd5\": it captures on d5 and lacks its x");
}

TEST(SanTest, NamesAllPiecesOfAnAmbiguousMove) {
  EXPECT_EQ(read(two_knights, "Nd2"), "ambiguous move \"Nd2\": knights on b1 and f3 both reach d2");
  EXPECT_EQ(read("8/k7/8/8/4Q2Q/8/8/1K5Q w - -", "Qe1"),
            "ambiguous move \"Qe1\": queens on h1, e4 and h4 all reach e1");
  EXPECT_EQ(read("8/k7/8/8/4Q2Q/8/8/1K5Q w - -", "Qhe1"),
            "ambiguous move \"Qhe1\": queens on h1 and h4 both reach e1");
}

TEST(SanTest, ErrorsDoNotGrowWithTheText) {
  EXPECT_LT(read(start, std::string(100'000, 'N')).size(), 200U);
}

}  // namespace
}  // namespace corolane::services::chess::rules
