// SPDX-License-Identifier: MIT
// Claims about services/chess/rules/uci.h.
#include "services/chess/rules/uci.h"

#include <gtest/gtest.h>

#include <string_view>

#include "test/services/chess/rules/support.h"

namespace corolane::services::chess::rules {
namespace {

TEST(UciTest, WritesBothSquaresAndThePromotion) {
  EXPECT_EQ(to_uci({Square::e2, Square::e4}), "e2e4");
  EXPECT_EQ(to_uci({Square::a7, Square::b8, PieceKind::knight}), "a7b8n");
}

TEST(UciTest, ReadsLegalMoves) {
  EXPECT_EQ(parse_uci(Position(), "g1f3"), (Move{Square::g1, Square::f3}));
  EXPECT_EQ(parse_uci(position_of("4k3/P7/8/8/8/8/8/4K3 w - -"), "a7a8r"),
            (Move{Square::a7, Square::a8, PieceKind::rook}));
  EXPECT_EQ(parse_uci(position_of("4k3/8/8/8/8/8/8/4K2R w K -"), "e1g1"),
            (Move{Square::e1, Square::g1}));
}

TEST(UciTest, RefusesTextThatIsNotAPairOfSquares) {
  for (const std::string_view text :
       {"", "e2", "e2e", "e2e9", "i2e4", "E2E4", "a7a8k", "a7a8Q", "a7a8qq", "e2-e4", " e2e4"}) {
    const auto move = parse_uci(Position(), text);
    ASSERT_FALSE(move) << text;
    EXPECT_EQ(move.error(), "malformed move \"" + std::string(text) +
                                "\": expected two squares, as in e2e4 or e7e8q");
  }
}

TEST(UciTest, RefusesIllegalMovesWithTheReason) {
  const auto move = parse_uci(Position(), "e2e5");
  ASSERT_FALSE(move);
  EXPECT_EQ(move.error(), "illegal move \"e2e5\": the pawn on e2 cannot go to e5");
}

}  // namespace
}  // namespace corolane::services::chess::rules
