// SPDX-License-Identifier: MIT
#include "services/chess/elo.h"

#include <gtest/gtest.h>

#include <limits>

namespace corolane::services::chess {
namespace {

using rules::Color;

TEST(EloTest, EqualPlayersShareThePointsOfTheGame) {
  EXPECT_EQ(rating_change(1'500, 1'500, Color::white), 10);
  EXPECT_EQ(rating_change(1'500, 1'500, std::nullopt), 0);
  EXPECT_EQ(rating_change(1'500, 1'500, Color::black), -10);
}

// The five games of the example in Wikipedia, "Elo rating system", with a factor of 20.
TEST(EloTest, AWellKnownExampleIsReproduced) {
  EXPECT_EQ(rating_change(1'613, 1'609, Color::black), -10);  // Expected score 0.51.
  EXPECT_EQ(rating_change(1'613, 1'477, std::nullopt), -4);   // 0.69
  EXPECT_EQ(rating_change(1'613, 1'388, Color::white), 4);    // 0.79
  EXPECT_EQ(rating_change(1'613, 1'586, Color::white), 9);    // 0.54
  EXPECT_EQ(rating_change(1'613, 1'720, Color::black), -7);   // 0.35
}

// FIDE Rating Regulations, 8.1.2: a lead of 400 points is an expected score of 0.92.
TEST(EloTest, AFavouriteHasLittleToWin) {
  EXPECT_EQ(rating_change(2'000, 1'600, Color::white), 2);
  EXPECT_EQ(rating_change(2'000, 1'600, std::nullopt), -8);
  EXPECT_EQ(rating_change(2'000, 1'600, Color::black), -18);
  EXPECT_EQ(rating_change(3'000, 100, Color::white), 0);
  EXPECT_EQ(rating_change(3'000, 100, Color::black), -20);
}

TEST(EloTest, RatingsAsFarApartAsTheyCanBeDoNotOverflow) {
  constexpr std::int32_t most = std::numeric_limits<std::int32_t>::max();
  constexpr std::int32_t least = std::numeric_limits<std::int32_t>::min();
  EXPECT_EQ(rating_change(least, most, Color::white), rating_change_max);
  EXPECT_EQ(rating_change(most, least, Color::black), -rating_change_max);
  EXPECT_EQ(rating_change(most, least, Color::white), 0);
}

TEST(EloTest, ColoursDoNotMatter) {
  for (std::int32_t other = 500; other < 3'000; other += 7) {
    EXPECT_EQ(rating_change(1'500, other, Color::white), -rating_change(other, 1'500, Color::black))
        << other;
    EXPECT_EQ(rating_change(1'500, other, std::nullopt), -rating_change(other, 1'500, std::nullopt))
        << other;
  }
}

}  // namespace
}  // namespace corolane::services::chess
