// SPDX-License-Identifier: MIT
// The chess service through its generated client, over the simulated network.
#include "services/chess/chess_service.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "coroutine/task.h"
#include "coroutine/testing/matchers.h"
#include "rpc/client/client.h"
#include "test/services/chess/chess_nodes.h"

namespace corolane::services::chess {
namespace {

using namespace std::chrono_literals;
using test::fails_with;
using testing::HasSubstr;

class ChessServiceTest : public testing::Test {
 protected:
  Result<JoinReply> join(const std::string& game, Seat seat, const std::string& player = "") {
    JoinRequest request;
    request.set_game(game);
    request.set_seat(seat);
    request.set_player(player);
    return client().join(request);
  }
  Result<MoveReply> move(const std::string& game, Token token, const std::string& san) {
    MoveRequest request;
    request.set_game(game);
    request.set_token(token);
    request.set_san(san);
    return client().move(request);
  }
  Result<ResignReply> resign(const std::string& game, Token token) {
    ResignRequest request;
    request.set_game(game);
    request.set_token(token);
    return client().resign(request);
  }
  Result<LookReply> look(const std::string& game) {
    LookRequest request;
    request.set_game(game);
    return client().look(request);
  }
  Result<SeekReply> seek(const std::string& player, const std::string& kind = "10+0") {
    SeekRequest request;
    request.set_player(player);
    request.set_kind(kind);
    return client().seek(request, {.deadline = Deadline::after(1min)});
  }
  ChessClient client() { return ChessClient(*connection_); }

  ChessNodes nodes_;
  ChessNode node_ = nodes_.start();
  std::unique_ptr<rpc::Client> connection_ = test::connect(nodes_.network(), *node_.node);
};

TEST_F(ChessServiceTest, TwoPlayersAndASpectatorShareAGame) {
  const auto white = join("table", WHITE);
  ASSERT_TRUE(white) << white;
  const auto black = join("table", BLACK);
  ASSERT_TRUE(black) << black;
  EXPECT_NE(white->token(), black->token());

  auto spectator = coroutine::spawn("spectator", [&] {
    WaitMoveRequest request;
    request.set_game("table");
    request.set_ply(2);
    return client().wait_move(request);
  });
  ASSERT_TRUE(move("table", white->token(), "e4"));
  const auto reply = move("table", black->token(), "c5");
  ASSERT_TRUE(reply) << reply;
  EXPECT_EQ(reply->ply(), 2u);

  const auto seen = spectator.join(Deadline::never());
  ASSERT_TRUE(seen) << seen;
  EXPECT_EQ(seen->san(), "c5");
  EXPECT_EQ(look("table")->state().fen(),
            "rnbqkbnr/pp1ppppp/8/2p5/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2");
}

TEST_F(ChessServiceTest, AWatcherSeesEveryMoveAndTheEnd) {
  WatchRequest request;
  request.set_game("table");
  GameState seen;
  auto too_early = client().watch(request);
  EXPECT_FALSE(too_early.read(seen));
  EXPECT_THAT(too_early.finish(), fails_with(Code::not_found));

  const auto white = join("table", WHITE);
  const auto black = join("table", BLACK);
  ASSERT_TRUE(white && black);
  auto game = client().watch(request);
  ASSERT_TRUE(game.read(seen));
  EXPECT_EQ(seen.plies(), 0u);
  for (const auto& [token, san] :
       {std::pair(white->token(), "f3"), {black->token(), "e5"}, {white->token(), "g4"}}) {
    ASSERT_TRUE(move("table", token, san));
    ASSERT_TRUE(game.read(seen));
    EXPECT_EQ(seen.last_san(), san);
  }
  ASSERT_TRUE(move("table", black->token(), "Qh4#"));
  ASSERT_TRUE(game.read(seen));
  EXPECT_EQ(seen.outcome(), "checkmate");
  EXPECT_FALSE(game.read(seen));
  EXPECT_TRUE(game.finish());
}

TEST_F(ChessServiceTest, AFollowerMissesNoMove) {
  FollowMovesRequest request;
  request.set_game("table");
  GameMove seen;
  auto too_early = client().follow_moves(request);
  EXPECT_FALSE(too_early.read(seen));
  EXPECT_THAT(too_early.finish(), fails_with(Code::not_found));

  const auto white = join("table", WHITE);
  const auto black = join("table", BLACK);
  ASSERT_TRUE(white && black);
  auto slow = client().follow_moves(request);
  for (const auto& [token, san] :
       {std::pair(white->token(), "f3"), {black->token(), "e5"}, {white->token(), "g4"}}) {
    ASSERT_TRUE(move("table", token, san));
  }
  request.set_from_ply(3);
  auto late = client().follow_moves(request);
  ASSERT_TRUE(move("table", black->token(), "Qh4#"));

  std::string moves;
  while (slow.read(seen)) moves += std::to_string(seen.ply()) + " " + seen.san() + ", ";
  EXPECT_EQ(moves, "1 f3, 2 e5, 3 g4, 4 Qh4#, ");
  EXPECT_TRUE(slow.finish());
  ASSERT_TRUE(late.read(seen));
  EXPECT_EQ(seen.uci(), "g2g4");
  ASSERT_TRUE(late.read(seen));
  EXPECT_FALSE(late.read(seen));
  EXPECT_TRUE(late.finish());
}

TEST_F(ChessServiceTest, AWatcherSeesTheFlagFallWithoutAnyCall) {
  ASSERT_TRUE(join("table", WHITE));
  ASSERT_TRUE(join("table", BLACK));
  WatchRequest request;
  request.set_game("table");
  auto game = client().watch(request);
  GameState seen;
  ASSERT_TRUE(game.read(seen));
  const TimePoint start = now();
  ASSERT_TRUE(game.read(seen));
  // Minus the latency of the first state.
  EXPECT_THAT(now() - start, testing::AllOf(testing::Gt(59s), testing::Le(1min)));
  EXPECT_EQ(seen.outcome(), "time");
  EXPECT_EQ(seen.winner(), BLACK);
  EXPECT_FALSE(game.read(seen));
}

TEST_F(ChessServiceTest, UnknownGameIsNotFound) {
  const auto seen = look("nowhere");
  ASSERT_THAT(seen, fails_with(Code::not_found));
  EXPECT_EQ(seen.error().message(), "no game \"nowhere\" is open");
}

TEST_F(ChessServiceTest, NamesAndSeatsAreChecked) {
  const std::string long_name(101, 'x');
  for (const auto& reply : {join("", WHITE), join(long_name, WHITE),
                            join("table", WHITE, long_name), join("table", SEAT_UNSPECIFIED)}) {
    EXPECT_THAT(reply, fails_with(Code::invalid_argument));
  }
  EXPECT_THAT(look(long_name), fails_with(Code::invalid_argument));
  EXPECT_THAT(move(long_name, 1, "e4"), fails_with(Code::invalid_argument));
  EXPECT_THAT(resign(long_name, 1), fails_with(Code::invalid_argument));
}

TEST_F(ChessServiceTest, WaitMoveEndsWithItsCallersDeadline) {
  ASSERT_TRUE(join("table", WHITE));
  WaitMoveRequest request;
  request.set_game("table");
  request.set_ply(1);
  const TimePoint start = now();
  const auto seen = client().wait_move(request, {.deadline = Deadline::after(2s)});
  ASSERT_THAT(seen, fails_with(Code::deadline_exceeded));
  // A little earlier, so that the reply can still arrive.
  EXPECT_NEAR(std::chrono::duration<double>(now() - start).count(), 2, 0.02);
}

TEST_F(ChessServiceTest, TwoSeekersPlayEachOther) {
  auto anna = coroutine::spawn("anna", [&] { return seek("anna"); });
  ASSERT_TRUE(coroutine::sleep_for(10ms));
  const auto black = seek("ben");
  const auto white = anna.join(Deadline::never());
  ASSERT_TRUE(white && black) << white << black;
  EXPECT_EQ(white->seat(), WHITE);
  EXPECT_EQ(white->opponent(), "ben");
  EXPECT_EQ(black->seat(), BLACK);
  EXPECT_EQ(black->opponent(), "anna");
  ASSERT_TRUE(move(white->game(), white->token(), "e4")) << "both are there";
  ASSERT_TRUE(resign(black->game(), black->token()));
  ASSERT_TRUE(coroutine::sleep_for(100ms));
  LookAtPlayerRequest request;
  request.set_player("anna");
  const auto seen = client().look_at_player(request);
  ASSERT_TRUE(seen) << seen;
  EXPECT_EQ(seen->rating(), 1'510);
  EXPECT_EQ(seen->wins(), 1U);
}

TEST_F(ChessServiceTest, PlayersWithTheLongestNamesPlayEachOther) {
  const std::string first(100, 'a');
  auto anna = coroutine::spawn("anna", [&] { return seek(first); });
  const auto ben = seek(std::string(100, 'b'));
  ASSERT_TRUE(ben) << ben;
  EXPECT_EQ(ben->opponent(), first);
  EXPECT_TRUE(anna.join(Deadline::never()));
}

TEST_F(ChessServiceTest, TheGameOfTwoSeekersHasAValidName) {
  const std::string kind(32, 'k');
  auto anna = coroutine::spawn("anna", [&] { return seek("anna", kind); });
  const auto ben = seek("ben", kind);
  ASSERT_TRUE(ben) << ben;
  EXPECT_TRUE(look(ben->game()));
  EXPECT_TRUE(anna.join(Deadline::never()));
  EXPECT_THAT(seek("ben", kind + "k"), fails_with(Code::invalid_argument));
  EXPECT_THAT(seek(""), fails_with(Code::invalid_argument));
}

TEST_F(ChessServiceTest, ASeekerWhoseOpponentHasLeftIsToldToSeekAgain) {
  auto gone = coroutine::spawn("gone", [&] {
    MeetRequest request;
    request.set_player("gone");
    request.set_rating(1'500);
    return node_.lobby("10+0").meet(request);
  });
  ASSERT_TRUE(coroutine::sleep_for(10ms));
  const TimePoint start = now();
  const auto anna = seek("anna");
  ASSERT_THAT(anna, fails_with(Code::aborted));
  EXPECT_THAT(anna.error().message(), HasSubstr("seek again"));
  EXPECT_LT(now() - start, 11s);
  const auto met = gone.join(Deadline::never());
  ASSERT_TRUE(met) << met;
  ASSERT_TRUE(coroutine::sleep_for(22s));
  EXPECT_EQ(look(met->game())->state().outcome(), "absence");
}

}  // namespace
}  // namespace corolane::services::chess
