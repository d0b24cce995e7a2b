// SPDX-License-Identifier: MIT
#include "services/chess/player.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <limits>
#include <string>

#include "coroutine/testing/matchers.h"
#include "framework/wire/objects.pb.h"
#include "services/chess/elo.h"
#include "test/services/chess/chess_nodes.h"

namespace corolane::services::chess {
namespace {

using namespace std::chrono_literals;
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

TEST_F(PlayerTest, ANewPlayerHasTheFirstRating) {
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

TEST_F(PlayerTest, AGameReportedTwiceTakesEffectOnce) {
  ASSERT_TRUE(end_game("anna", "1"));
  EXPECT_EQ(end_game("anna", "1")->rating(), 1'500);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(score("anna", "1", ScoreRequest::WIN, 10));
  EXPECT_EQ(look("anna").rating(), 1'510);
  EXPECT_EQ(look("anna").wins(), 1U);
}

TEST_F(PlayerTest, AGameReportedAgainAfterManyOthersTakesEffectOnce) {
  ASSERT_TRUE(end_game("anna", "first"));
  ASSERT_TRUE(score("anna", "first", ScoreRequest::WIN, 10));
  for (int i = 0; i < 200; ++i) {
    ASSERT_TRUE(end_game("anna", std::to_string(i)));
    ASSERT_TRUE(score("anna", std::to_string(i), ScoreRequest::DRAW, 0));
  }
  ASSERT_TRUE(score("anna", "first", ScoreRequest::WIN, 10));
  EXPECT_EQ(look("anna").rating(), 1'510);
}

TEST_F(PlayerTest, AcknowledgedChangesSurviveACrash) {
  ASSERT_TRUE(end_game("anna", "1"));
  node_.crash();
  node_ = nodes_.start();
  ASSERT_TRUE(score("anna", "1", ScoreRequest::LOSS, -10));
  node_.crash();
  node_ = nodes_.start();
  ASSERT_TRUE(score("anna", "1", ScoreRequest::LOSS, -10));
  EXPECT_EQ(look("anna").rating(), 1'490);
}

TEST_F(PlayerTest, AScoreNeedsAResult) {
  ASSERT_TRUE(end_game("anna", "1"));
  EXPECT_THAT(score("anna", "1", ScoreRequest::RESULT_UNSPECIFIED, 10),
              fails_with(Code::invalid_argument));
  EXPECT_EQ(look("anna").rating(), 1'500);
}

TEST_F(PlayerTest, AnExcessiveRatingChangeIsRefused) {
  constexpr std::int32_t most = std::numeric_limits<std::int32_t>::max();
  constexpr std::int32_t least = std::numeric_limits<std::int32_t>::min();
  ASSERT_TRUE(end_game("anna", "1"));
  for (const std::int32_t change : {most, least, least + 1, rating_change_max + 1, 9'999}) {
    EXPECT_THAT(score("anna", "1", ScoreRequest::WIN, change), fails_with(Code::invalid_argument));
  }
  EXPECT_EQ(look("anna").rating(), 1'500);
  EXPECT_EQ(look("anna").wins(), 0U);
  EXPECT_TRUE(score("anna", "1", ScoreRequest::WIN, rating_change_max));
  EXPECT_EQ(look("anna").rating(), 1'520);
}

// A node without these checks may have stored any value.
TEST_F(PlayerTest, ARatingStaysInItsBoundsForAnyStoredValue) {
  for (const std::int32_t stored :
       {std::numeric_limits<std::int32_t>::max(), std::numeric_limits<std::int32_t>::min()}) {
    const int sign = stored > 0 ? 1 : -1;
    const std::string name = std::to_string(stored);
    PlayerRecord player;
    player.set_rating_change(stored);
    framework::ObjectRecord record;
    record.set_state(player.SerializeAsString());
    const framework::ObjectKey key{.type = "corolane.services.chess.Player", .id = name};
    auto& store = nodes_.store();
    ASSERT_TRUE(store.seal(key, 1, Deadline::after(1s)));
    ASSERT_TRUE(store.write(key, 1, 0, {.bytes = record.SerializeAsString()}, Deadline::after(1s)));
    EXPECT_EQ(look(name).rating(), 1'500 + sign * Player::rating_change_sum_max);
    for (const char* game : {"1", "2"}) {
      ASSERT_TRUE(end_game(name, game));
      ASSERT_TRUE(score(name, game, ScoreRequest::WIN, sign * rating_change_max));
    }
    EXPECT_EQ(look(name).rating(), 1'500 + sign * Player::rating_change_sum_max);
  }
}

TEST_F(PlayerTest, UnscoredGamesAreBounded) {
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
