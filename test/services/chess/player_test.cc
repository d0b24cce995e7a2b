#include "services/chess/player.h"

#include <gtest/gtest.h>

#include <string>

#include "test/services/chess/chess_nodes.h"
#include "test/support/matchers.h"

namespace corolane::services::chess {
namespace {

using test::fails_with;

class PlayerTest : public testing::Test {
 protected:
  Result<LookAtPlayerReply> end_game(const std::string& player, const std::string& game) {
    EndGameRequest request;
    request.mutable_game()->set_name(game);
    return node_.player(player).end_game(request);
  }
  Result<google::protobuf::Empty> score(const std::string& player, const std::string& game,
                                        ScoreRequest::Result result, std::int32_t change) {
    ScoreRequest request;
    request.mutable_game()->set_name(game);
    request.set_result(result);
    request.set_rating_change(change);
    return node_.player(player).score(request);
  }
  LookAtPlayerReply look(const std::string& player) {
    const auto reply = node_.player(player).look({});
    EXPECT_TRUE(reply) << reply;
    return *reply;
  }

  ChessNodes nodes_;
  ChessNode node_ = nodes_.start();
};

TEST_F(PlayerTest, WhoHasNotPlayedHasTheFirstRating) {
  EXPECT_EQ(look("new").rating(), 1'500);
  EXPECT_EQ(look("new").wins() + look("new").draws() + look("new").losses(), 0U);
}

TEST_F(PlayerTest, EachGameCounts) {
  for (const auto& [game, result, change] :
       {std::tuple{"1", ScoreRequest::WIN, 10}, std::tuple{"2", ScoreRequest::DRAW, -1},
        std::tuple{"3", ScoreRequest::LOSS, -12}, std::tuple{"4", ScoreRequest::WIN, 9}}) {
    ASSERT_TRUE(end_game("anna", game));
    ASSERT_TRUE(score("anna", game, result, change));
  }
  const LookAtPlayerReply anna = look("anna");
  EXPECT_EQ(anna.rating(), 1'506);
  EXPECT_EQ(anna.wins(), 2U);
  EXPECT_EQ(anna.draws(), 1U);
  EXPECT_EQ(anna.losses(), 1U);
}

TEST_F(PlayerTest, AGameThatIsToldTwiceTakesEffectOnce) {
  ASSERT_TRUE(end_game("anna", "1"));
  EXPECT_EQ(end_game("anna", "1")->rating(), 1'500);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(score("anna", "1", ScoreRequest::WIN, 10));
  EXPECT_EQ(look("anna").rating(), 1'510);
  EXPECT_EQ(look("anna").wins(), 1U);
}

TEST_F(PlayerTest, HowEverManyGamesLieBetween) {
  ASSERT_TRUE(end_game("anna", "first"));
  ASSERT_TRUE(score("anna", "first", ScoreRequest::WIN, 10));
  for (int i = 0; i < 200; ++i) {
    ASSERT_TRUE(end_game("anna", std::to_string(i)));
    ASSERT_TRUE(score("anna", std::to_string(i), ScoreRequest::DRAW, 0));
  }
  ASSERT_TRUE(score("anna", "first", ScoreRequest::WIN, 10));
  EXPECT_EQ(look("anna").rating(), 1'510);
}

TEST_F(PlayerTest, WhatWasRepliedSurvivesACrash) {
  ASSERT_TRUE(end_game("anna", "1"));
  node_.crash();
  node_ = nodes_.start();
  ASSERT_TRUE(score("anna", "1", ScoreRequest::LOSS, -10));
  node_.crash();
  node_ = nodes_.start();
  ASSERT_TRUE(score("anna", "1", ScoreRequest::LOSS, -10));
  EXPECT_EQ(look("anna").rating(), 1'490);
}

TEST_F(PlayerTest, AScoreHasAResult) {
  ASSERT_TRUE(end_game("anna", "1"));
  EXPECT_THAT(score("anna", "1", ScoreRequest::RESULT_UNSPECIFIED, 10),
              fails_with(Code::invalid_argument));
  EXPECT_EQ(look("anna").rating(), 1'500);
}

TEST_F(PlayerTest, GamesThatDoNotScoreAreBounded) {
  for (int i = 0; i < Player::unscored_count_max; ++i) {
    ASSERT_TRUE(end_game("anna", std::to_string(i)));
  }
  EXPECT_THAT(end_game("anna", "one more"), fails_with(Code::resource_exhausted));
  EXPECT_TRUE(end_game("anna", "7")) << "one of them";
  ASSERT_TRUE(score("anna", "0", ScoreRequest::DRAW, 0));
  EXPECT_TRUE(end_game("anna", "one more"));
}

}  // namespace
}  // namespace corolane::services::chess
