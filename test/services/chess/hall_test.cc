// SPDX-License-Identifier: MIT
#include "services/chess/hall.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "coroutine/base/clock.h"
#include "coroutine/task.h"
#include "rpc/client/client.h"
#include "services/chess/token.h"
#include "test/services/chess/chess_nodes.h"

namespace corolane::services::chess {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

class HallTest : public testing::Test {
 protected:
  HallClient hall() const { return {node_.node->router(), Hall::name}; }

  // A report of a game, as the game itself makes it.
  void tell(const std::string& game, std::uint32_t plies,
            const std::string& outcome = "unfinished") {
    ListedGame report;
    report.set_game(game);
    report.set_plies(plies);
    report.set_outcome(outcome);
    EXPECT_TRUE(hall().tell(report));
    EXPECT_TRUE(coroutine::sleep_for(1ms));
  }
  // "game 2 unfinished", the latest first.
  std::vector<std::string> listed() const {
    std::vector<std::string> all;
    const auto seen = hall().look({});
    EXPECT_TRUE(seen) << seen;
    for (const ListedGame& each : seen->games()) {
      all.push_back(each.game() + " " + std::to_string(each.plies()) + " " + each.outcome());
    }
    return all;
  }

  Token join(const std::string& game, Seat seat, const std::string& player) {
    JoinRequest request;
    request.set_seat(seat);
    request.set_player(player);
    return node_.game(game).join(request).value().token();
  }
  Result<MoveReply> move(const std::string& game, Token token, const std::string& san) {
    MoveRequest request;
    request.set_token(token);
    request.set_san(san);
    auto moved = node_.game(game).move(request);
    EXPECT_TRUE(coroutine::sleep_for(1ms));
    return moved;
  }

  ChessNodes nodes_;
  ChessNode node_ = [this] {
    nodes_.hall->idle_time_max = 2h;
    return nodes_.start();
  }();
};

TEST_F(HallTest, AGameIsListedOnceBothPlayersHaveCome) {
  join("g", WHITE, "anna");
  EXPECT_TRUE(coroutine::sleep_for(1ms));
  EXPECT_THAT(listed(), IsEmpty());
  join("g", BLACK, "ben");
  EXPECT_TRUE(coroutine::sleep_for(1ms));
  const auto seen = hall().look({});
  ASSERT_TRUE(seen) << seen;
  ASSERT_EQ(seen->games_size(), 1);
  EXPECT_EQ(seen->games(0).white(), "anna");
  EXPECT_EQ(seen->games(0).black(), "ben");
  EXPECT_THAT(seen->games(0).fen(), testing::StartsWith("rnbqkbnr/pppppppp/"));
}

TEST_F(HallTest, AGameTellsOfItsMovesEveryTwoSecondsAndOfItsEndAtOnce) {
  const Token white = join("g", WHITE, "anna");
  const Token black = join("g", BLACK, "ben");
  ASSERT_TRUE(move("g", white, "f3"));
  EXPECT_THAT(listed(), ElementsAre("g 0 unfinished"));
  ASSERT_TRUE(coroutine::sleep_for(2s));
  ASSERT_TRUE(move("g", black, "e5"));
  EXPECT_THAT(listed(), ElementsAre("g 2 unfinished"));
  ASSERT_TRUE(move("g", white, "g4"));
  ASSERT_TRUE(move("g", black, "Qh4#"));
  EXPECT_THAT(listed(), ElementsAre("g 4 checkmate"));
}

TEST_F(HallTest, AGameThatIsOverLeavesAfterAMoment) {
  tell("g", 4, "checkmate");
  ASSERT_TRUE(coroutine::sleep_for(9s));
  EXPECT_THAT(listed(), ElementsAre("g 4 checkmate"));
  ASSERT_TRUE(coroutine::sleep_for(2s));
  EXPECT_THAT(listed(), IsEmpty());
}

TEST_F(HallTest, AReportThatWasOvertakenIsIgnored) {
  tell("g", 4);
  tell("g", 2);
  EXPECT_THAT(listed(), ElementsAre("g 4 unfinished"));
  tell("g", 6, "resignation");
  tell("g", 6);
  EXPECT_THAT(listed(), ElementsAre("g 6 resignation"));
}

TEST_F(HallTest, TheLatestGamesAreListed) {
  for (std::size_t i = 0; i < Hall::games_max + 10; ++i) tell(std::to_string(i), 0);
  tell("20", 1);
  const auto all = listed();
  ASSERT_EQ(all.size(), Hall::games_max);
  EXPECT_EQ(all.front(), "20 1 unfinished");
  EXPECT_EQ(all.back(), "10 0 unfinished");
}

TEST_F(HallTest, ASilentGameIsForgottenAfterAnHour) {
  tell("silent", 0);
  ASSERT_TRUE(coroutine::sleep_for(50min));
  tell("g", 0);
  EXPECT_THAT(listed(), ElementsAre("g 0 unfinished", "silent 0 unfinished"));
  ASSERT_TRUE(coroutine::sleep_for(11min));
  EXPECT_THAT(listed(), ElementsAre("g 0 unfinished"));
}

TEST_F(HallTest, NewsComeTwiceASecondAtMostAndEndWithTheLatest) {
  auto news = hall().subscribe();
  const auto first = news.next(Deadline::after(1s));
  ASSERT_TRUE(first) << first;
  EXPECT_TRUE(first->is_gap());
  for (std::uint32_t ply = 0; ply < 100; ++ply) {
    tell("g", ply);
    ASSERT_TRUE(coroutine::sleep_for(9ms));
  }
  std::vector<std::uint32_t> plies;
  while (const auto next = news.next(Deadline::after(1s))) {
    plies.push_back((*next)->games(0).plies());
  }
  EXPECT_LE(plies.size(), 3U);
  ASSERT_FALSE(plies.empty());
  EXPECT_EQ(plies.back(), 99U);
}

TEST_F(HallTest, ThePageOfTheLobbyReadsTheListAndWhoSitsWhere) {
  join("g", WHITE, "anna");
  const auto connection = test::connect(nodes_.network(), *node_.node);
  LookRequest request;
  request.set_game("g");
  const auto alone = ChessClient(*connection).look(request);
  ASSERT_TRUE(alone) << alone;
  EXPECT_EQ(alone->white().name(), "anna");
  EXPECT_FALSE(alone->has_black());
  join("g", BLACK, "");
  EXPECT_TRUE(ChessClient(*connection).look(request)->has_black());
  const auto games = ChessClient(*connection).list_games({});
  ASSERT_TRUE(games) << games;
  EXPECT_EQ(games->games_size(), 1);
}

TEST(NoHallTest, AGameIsPlayedWithoutAHall) {
  ChessNodes nodes;
  nodes.hall.reset();
  const ChessNode node = nodes.start();
  JoinRequest joining;
  joining.set_seat(WHITE);
  const auto white = node.game("g").join(joining);
  joining.set_seat(BLACK);
  ASSERT_TRUE(white && node.game("g").join(joining));
  MoveRequest moving;
  moving.set_token(white->token());
  moving.set_san("e4");
  const TimePoint start = now();
  EXPECT_TRUE(node.game("g").move(moving));
  EXPECT_LT(now() - start, 100ms);
}

}  // namespace
}  // namespace corolane::services::chess
