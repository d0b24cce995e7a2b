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
  Result<google::protobuf::Empty> add_game(const std::string& player, AddGameRequest::Result result,
                                           std::int32_t change, rpc::CallOptions options = {}) {
    AddGameRequest request;
    request.set_result(result);
    request.set_rating_change(change);
    return node_.player(player).add_game(request, options);
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
  for (const auto& [result, change] :
       {std::pair{AddGameRequest::WIN, 10}, std::pair{AddGameRequest::DRAW, -1},
        std::pair{AddGameRequest::LOSS, -12}, std::pair{AddGameRequest::WIN, 9}}) {
    ASSERT_TRUE(add_game("anna", result, change));
  }
  const LookAtPlayerReply anna = look("anna");
  EXPECT_EQ(anna.rating(), 1'506);
  EXPECT_EQ(anna.wins(), 2U);
  EXPECT_EQ(anna.draws(), 1U);
  EXPECT_EQ(anna.losses(), 1U);
}

TEST_F(PlayerTest, AGameReportedTwiceTakesEffectOnce) {
  const rpc::CallOptions once{.request_id = {.caller = "game 1", .sequence = 1}};
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(add_game("anna", AddGameRequest::WIN, 10, once));
  EXPECT_EQ(look("anna").rating(), 1'510);
  EXPECT_EQ(look("anna").wins(), 1U);
}

TEST_F(PlayerTest, AcknowledgedChangesSurviveACrash) {
  const rpc::CallOptions once{.request_id = {.caller = "game 1", .sequence = 1}};
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(add_game("anna", AddGameRequest::LOSS, -10, once));
    node_.crash();
    node_ = nodes_.start();
  }
  EXPECT_EQ(look("anna").rating(), 1'490);
}

TEST_F(PlayerTest, AGameNeedsAResult) {
  EXPECT_THAT(add_game("anna", AddGameRequest::RESULT_UNSPECIFIED, 10),
              fails_with(Code::invalid_argument));
  EXPECT_EQ(look("anna").rating(), 1'500);
}

TEST_F(PlayerTest, AnExcessiveRatingChangeIsRefused) {
  constexpr std::int32_t most = std::numeric_limits<std::int32_t>::max();
  constexpr std::int32_t least = std::numeric_limits<std::int32_t>::min();
  for (const std::int32_t change : {most, least, least + 1, rating_change_max + 1, 9'999}) {
    EXPECT_THAT(add_game("anna", AddGameRequest::WIN, change), fails_with(Code::invalid_argument));
  }
  EXPECT_EQ(look("anna").rating(), 1'500);
  EXPECT_EQ(look("anna").wins(), 0U);
  EXPECT_TRUE(add_game("anna", AddGameRequest::WIN, rating_change_max));
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
    for (int i = 0; i < 2; ++i) {
      ASSERT_TRUE(add_game(name, AddGameRequest::WIN, sign * rating_change_max));
    }
    EXPECT_EQ(look(name).rating(), 1'500 + sign * Player::rating_change_sum_max);
  }
}

}  // namespace
}  // namespace corolane::services::chess
