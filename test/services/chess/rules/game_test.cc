// SPDX-License-Identifier: MIT
// Claims about services/chess/rules/game.h.
#include "services/chess/rules/game.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <string_view>

#include "services/chess/rules/san.h"
#include "test/services/chess/rules/support.h"

namespace corolane::services::chess::rules {
namespace {

// Plays moves given in SAN, separated by blanks.
void play(Game& game, std::string_view moves) {
  std::istringstream words{std::string(moves)};
  for (std::string word; words >> word;) {
    const auto move = parse_san(game.position(), word);
    ASSERT_TRUE(move) << move.error();
    const auto played = game.play(*move);
    ASSERT_TRUE(played) << played.error();
  }
}

Game game_at(std::string_view fen) { return Game(position_of(fen)); }

constexpr std::string_view there_and_back = "Nf3 Nf6 Ng1 Ng8 ";

TEST(GameTest, BeginsUnfinishedWithWhiteToMove) {
  const Game game;
  EXPECT_EQ(game.position(), Position());
  EXPECT_EQ(game.side_to_move(), Color::white);
  EXPECT_EQ(game.ply(), 0);
  EXPECT_FALSE(game.is_over());
  EXPECT_EQ(game.winner(), std::nullopt);
}

TEST(GameTest, CountsThePlies) {
  Game game;
  play(game, "e4 e5 Nf3");
  EXPECT_EQ(game.ply(), 3);
  EXPECT_EQ(game.side_to_move(), Color::black);
}

TEST(GameTest, RefusesAnIllegalMoveAndStaysAsItWas) {
  Game game;
  const auto played = game.play({Square::e2, Square::e5});
  ASSERT_FALSE(played);
  EXPECT_EQ(played.error(), "illegal move \"e2e5\": the pawn on e2 cannot go to e5");
  EXPECT_EQ(game.position(), Position());
  EXPECT_EQ(game.ply(), 0);
}

TEST(GameTest, CheckmateEndsTheGameForTheSideThatGaveIt) {
  Game game;
  play(game, "f3 e5 g4 Qh4");
  EXPECT_EQ(game.outcome(), Outcome::checkmate);
  EXPECT_EQ(game.winner(), Color::black);
}

TEST(GameTest, NoMoveIsPlayedAfterTheEnd) {
  Game game;
  play(game, "f3 e5 g4 Qh4");
  const auto played = game.play({Square::a2, Square::a3});
  ASSERT_FALSE(played);
  EXPECT_EQ(played.error(), "the game is over: checkmate");
  EXPECT_EQ(game.ply(), 4);
}

TEST(GameTest, StalemateHasNoWinner) {
  Game game = game_at("k7/8/1K6/8/8/8/8/2Q5 w - -");
  play(game, "Qc7");
  EXPECT_EQ(game.outcome(), Outcome::stalemate);
  EXPECT_TRUE(game.is_over());
  EXPECT_EQ(game.winner(), std::nullopt);
}

TEST(GameTest, AStartWithoutMovesIsOver) {
  EXPECT_EQ(game_at("R5k1/5ppp/8/8/8/8/8/4K3 b - -").outcome(), Outcome::checkmate);
  EXPECT_EQ(game_at("k7/2Q5/8/8/8/8/8/4K3 b - -").outcome(), Outcome::stalemate);
}

TEST(GameTest, InsufficientMaterialEndsTheGame) {
  for (const std::string_view fen : {
           "4k3/8/8/8/8/8/8/4K3 w - -",     // King against king.
           "4k3/8/8/8/8/8/8/4KB2 w - -",    // With a bishop,
           "4k1n1/8/8/8/8/8/8/4K3 w - -",   // or a knight.
           "4k3/8/8/8/8/b7/8/2B1K3 w - -",  // Bishops all on dark squares,
           "4k3/8/8/8/8/8/b1B5/4K3 w - -",  // or all on light ones.
       }) {
    EXPECT_EQ(game_at(fen).outcome(), Outcome::insufficient_material) << fen;
  }
}

TEST(GameTest, ACaptureDownToInsufficientMaterialEndsTheGame) {
  Game game = game_at("4k3/8/8/8/8/8/4r3/4K3 w - -");
  play(game, "Kxe2");
  EXPECT_EQ(game.outcome(), Outcome::insufficient_material);
}

TEST(GameTest, AHelpmateCountsAsSufficientMaterial) {
  for (const std::string_view fen :
       {"4k3/8/8/8/8/8/P7/4K3 w - -", "4k3/8/8/8/8/8/8/R3K3 w - -", "4k3/8/8/8/8/8/8/Q3K3 w - -",
        "4k3/8/8/8/8/8/8/NN2K3 w - -", "4k1n1/8/8/8/8/8/8/1N2K3 w - -",
        "4k1b1/8/8/8/8/8/8/1N2K3 w - -", "4k3/8/8/8/8/8/8/BN2K3 w - -",
        "4k3/8/8/8/8/8/8/BB2K3 w - -"}) {
    EXPECT_EQ(game_at(fen).outcome(), Outcome::unfinished) << fen;
  }
}

TEST(GameTest, MateCountsBeforeTheSeventyfiveMoveRule) {
  Game game = game_at("6k1/5ppp/8/8/8/8/8/R3K3 w - - 149 200");
  play(game, "Ra8");
  EXPECT_EQ(game.outcome(), Outcome::checkmate);
}

TEST(GameTest, FiftyMovesCanBeClaimedAndSeventyfiveEndTheGame) {
  Game game = game_at("4k3/8/8/8/8/8/8/R3K3 w - - 99 100");
  EXPECT_FALSE(game.can_claim_fifty_moves());
  play(game, "Ra2");
  EXPECT_TRUE(game.can_claim_fifty_moves());
  EXPECT_FALSE(game.is_over());

  Game late = game_at("4k3/8/8/8/8/8/8/R3K3 w - - 149 125");
  EXPECT_FALSE(late.is_over());
  play(late, "Ra2");
  EXPECT_EQ(late.outcome(), Outcome::seventyfive_moves);
  EXPECT_FALSE(late.can_claim_fifty_moves());
}

TEST(GameTest, APawnMoveRestartsTheCount) {
  Game game = game_at("4k3/8/8/8/8/8/P7/R3K3 w - - 149 125");
  play(game, "a3");
  EXPECT_FALSE(game.is_over());
  EXPECT_FALSE(game.can_claim_fifty_moves());
}

TEST(GameTest, TheThirdOccurrenceCanBeClaimedAndTheFifthEndsTheGame) {
  Game game;
  play(game, there_and_back);
  EXPECT_FALSE(game.can_claim_threefold());
  play(game, there_and_back);
  EXPECT_TRUE(game.can_claim_threefold());
  EXPECT_FALSE(game.is_over());

  play(game, there_and_back);
  play(game, "Nf3 Nf6 Ng1");
  EXPECT_FALSE(game.is_over());
  play(game, "Ng8");
  EXPECT_EQ(game.outcome(), Outcome::fivefold_repetition);
  EXPECT_FALSE(game.can_claim_threefold());
}

TEST(GameTest, OccurrencesNeedNotFollowEachOther) {
  Game game;
  play(game, "Nf3 Nf6 Ng1 Ng8 Nc3 Nc6 Nb1 Nb8");
  EXPECT_TRUE(game.can_claim_threefold());
}

TEST(GameTest, LostCastlingRightsMakeAnotherPosition) {
  Game game = game_at("4k3/7p/8/8/8/8/8/R3K3 w Q -");
  play(game, "Ra2 Ke7 Ra1 Ke8");
  play(game, "Ra2 Ke7 Ra1 Ke8");
  EXPECT_FALSE(game.can_claim_threefold());
  play(game, "Ra2 Ke7 Ra1 Ke8");
  EXPECT_TRUE(game.can_claim_threefold());
}

TEST(GameTest, ALegalEnPassantCaptureMakesAnotherPosition) {
  Game game = game_at("4k3/8/8/8/3p4/8/4P3/4K2N w - -");
  play(game, "e4 Kd8 Kd1 Ke8 Ke1 Kd8 Kd1 Ke8 Ke1");
  EXPECT_FALSE(game.can_claim_threefold());  // Black could take en passant the first time.
  play(game, "Kd8 Kd1 Ke8 Ke1");
  EXPECT_TRUE(game.can_claim_threefold());
}

TEST(GameTest, AnImpossibleEnPassantCaptureMakesTheSamePosition) {
  Game game = game_at("4k3/8/8/8/8/8/4P3/4K2N w - -");
  play(game, "e4 Kd8 Kd1 Ke8 Ke1 Kd8 Kd1 Ke8 Ke1");
  EXPECT_TRUE(game.can_claim_threefold());
}

TEST(GameTest, OutcomesHaveTheNamesOfTheirRules) {
  EXPECT_EQ(to_string(Outcome::unfinished), "unfinished");
  EXPECT_EQ(to_string(Outcome::checkmate), "checkmate");
  EXPECT_EQ(to_string(Outcome::insufficient_material), "insufficient_material");
  EXPECT_EQ(to_string(Outcome::stalemate), "stalemate");
  EXPECT_EQ(to_string(Outcome::seventyfive_moves), "seventyfive_moves");
  EXPECT_EQ(to_string(Outcome::fivefold_repetition), "fivefold_repetition");
}

}  // namespace
}  // namespace corolane::services::chess::rules
