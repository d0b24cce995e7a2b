// SPDX-License-Identifier: MIT
// Claims about services/chess/rules/square.h and square_set.h.
#include "services/chess/rules/square_set.h"

#include <gtest/gtest.h>

#include <vector>

#include "test/services/chess/rules/support.h"

namespace corolane::services::chess::rules {
namespace {

TEST(SquareTest, HasFileAndRankAndName) {
  EXPECT_EQ(file_of(Square::c7), 2);
  EXPECT_EQ(rank_of(Square::c7), 6);
  EXPECT_EQ(square_at(2, 6), Square::c7);
  EXPECT_EQ(to_string(Square::c7), "c7");
}

TEST(SquareTest, ParsesEveryNameItWrites) {
  for (const Square square : SquareSet::all()) EXPECT_EQ(parse_square(to_string(square)), square);
}

TEST(SquareTest, ParsesNothingElse) {
  for (const auto* text : {"", "e", "e9", "e0", "i1", "E4", "e44", "4e"}) {
    EXPECT_EQ(parse_square(text), std::nullopt) << text;
  }
}

TEST(SquareSetTest, VisitsItsSquaresFromA1ToH8) {
  const SquareSet set = squares({Square::h8, Square::a1, Square::d4, Square::c4});
  std::vector<Square> visited;
  for (const Square square : set) visited.push_back(square);

  EXPECT_EQ(visited, (std::vector{Square::a1, Square::c4, Square::d4, Square::h8}));
  EXPECT_EQ(set.first(), Square::a1);
  EXPECT_EQ(set.last(), Square::h8);
  EXPECT_EQ(set.size(), 4);
}

TEST(SquareSetTest, AnswersLikeASet) {
  const SquareSet a = squares({Square::a1, Square::b2});
  const SquareSet b = squares({Square::b2, Square::c3});

  EXPECT_EQ(a | b, squares({Square::a1, Square::b2, Square::c3}));
  EXPECT_EQ(a & b, SquareSet(Square::b2));
  EXPECT_EQ(a - b, SquareSet(Square::a1));
  EXPECT_TRUE(a.intersects(b));
  EXPECT_FALSE((a - b).intersects(b));
  EXPECT_TRUE(a.contains(Square::a1));
  EXPECT_FALSE(b.contains(Square::a1));
  EXPECT_TRUE(SquareSet().empty());
  EXPECT_EQ(SquareSet::all().size(), 64);
}

TEST(SquareSetTest, KnowsRanks) {
  EXPECT_EQ(SquareSet::rank(7).first(), Square::a8);
  EXPECT_EQ(SquareSet::rank(7).last(), Square::h8);
  EXPECT_EQ(SquareSet::rank(7).size(), 8);
}

}  // namespace
}  // namespace corolane::services::chess::rules
