// SPDX-License-Identifier: MIT
#include "services/chess/room.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <map>
#include <string>

#include "coroutine/task.h"
#include "coroutine/testing/matchers.h"

namespace corolane::services::chess {
namespace {

using namespace std::chrono_literals;
using rules::Color;
using test::fails_with;
using testing::HasSubstr;

constexpr Token white_token = 11;
constexpr Token black_token = 22;

// A room with both players.
class RoomTest : public testing::Test {
 protected:
  RoomTest() {
    EXPECT_TRUE(room_.take_seat(Color::white, white_token));
    EXPECT_TRUE(room_.take_seat(Color::black, black_token));
  }

  void play(std::initializer_list<const char*> moves) {
    for (const char* san : moves) {
      const bool white = room_.state().turn() == WHITE;
      const auto moved = room_.move(white ? white_token : black_token, san);
      ASSERT_TRUE(moved) << san << ": " << moved;
    }
  }

  ChessConfig config_{.clock = 1min, .seat_time_max = 30s, .finished_kept = 5s};
  // The room as a node that loads it gets it.
  Result<Room> restored() const {
    GameRecord record;
    room_.store(record);
    return Room::restore("test", config_, record);
  }

  Room room_{"test", config_};
};

TEST_F(RoomTest, SeatIsTakenOnce) {
  const auto again = room_.take_seat(Color::white, 33);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code(), Code::already_exists);
}

TEST_F(RoomTest, OnlyTheSeatsTokenMoves) {
  for (const Token token : {Token{0}, Token{99}}) {
    const auto moved = room_.move(token, "e4");
    ASSERT_FALSE(moved);
    EXPECT_EQ(moved.error().code(), Code::permission_denied);
  }
}

TEST_F(RoomTest, PlayersMoveInTurn) {
  const auto early = room_.move(black_token, "e5");
  ASSERT_FALSE(early);
  EXPECT_EQ(early.error().code(), Code::failed_precondition);
  EXPECT_EQ(early.error().message(), "it is the turn of white");
  play({"e4", "e5"});
  EXPECT_EQ(room_.state().plies(), 2u);
  EXPECT_EQ(room_.state().last_san(), "e5");
}

TEST_F(RoomTest, IllegalMoveChangesNothing) {
  const std::string before = room_.state().fen();
  const auto moved = room_.move(white_token, "e5");
  ASSERT_FALSE(moved);
  EXPECT_EQ(moved.error().code(), Code::invalid_argument);
  EXPECT_NE(moved.error().message().find("illegal move \"e5\""), std::string::npos);
  EXPECT_EQ(room_.state().fen(), before);
  EXPECT_EQ(room_.state().turn(), WHITE);
}

TEST_F(RoomTest, MateEndsTheGame) {
  play({"f3", "e5", "g4", "Qh4#"});
  const GameState state = room_.state();
  EXPECT_EQ(state.outcome(), "checkmate");
  EXPECT_EQ(state.winner(), BLACK);
  EXPECT_EQ(state.turn(), SEAT_UNSPECIFIED);
  const auto late = room_.move(white_token, "a3");
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().message(), "the game is over: checkmate");
}

TEST_F(RoomTest, MoveOfAPlyIsNullUntilItIsPlayed) {
  play({"Nf3"});
  EXPECT_EQ(*room_.move_of(2), nullptr);
  play({"d5"});
  const auto move = room_.move_of(2);
  ASSERT_TRUE(move) << move;
  EXPECT_EQ((*move)->san, "d5");
  EXPECT_EQ((*move)->uci, "d7d5");
  EXPECT_EQ((*room_.move_of(1))->san, "Nf3");
}

TEST_F(RoomTest, MoveOfAPlyAfterTheEndIsAnError) {
  EXPECT_THAT(room_.move_of(0), fails_with(Code::invalid_argument));
  play({"e4"});
  ASSERT_TRUE(room_.resign(white_token));
  EXPECT_EQ((*room_.move_of(1))->san, "e4");
  const auto move = room_.move_of(2);
  ASSERT_THAT(move, fails_with(Code::failed_precondition));
  EXPECT_EQ(move.error().message(), "the game ended by resignation after 1 plies");
}

TEST_F(RoomTest, ResigningGivesTheGameToTheOpponent) {
  ASSERT_TRUE(room_.resign(white_token));
  EXPECT_EQ(room_.state().outcome(), "resignation");
  EXPECT_EQ(room_.state().winner(), BLACK);
}

TEST_F(RoomTest, DrawNeedsBoth) {
  ASSERT_TRUE(room_.offer_draw(white_token));
  EXPECT_EQ(room_.state().draw_offered_by(), WHITE);
  ASSERT_TRUE(room_.offer_draw(white_token));
  EXPECT_EQ(room_.state().outcome(), "unfinished");
  ASSERT_TRUE(room_.offer_draw(black_token));
  EXPECT_EQ(room_.state().outcome(), "agreement");
  EXPECT_EQ(room_.state().winner(), SEAT_UNSPECIFIED);
}

TEST_F(RoomTest, DrawOfferStandsUntilTheOpponentMoves) {
  ASSERT_TRUE(room_.offer_draw(white_token));
  play({"e4"});
  EXPECT_EQ(room_.state().draw_offered_by(), WHITE);
  play({"e5"});
  EXPECT_EQ(room_.state().draw_offered_by(), SEAT_UNSPECIFIED);
}

TEST_F(RoomTest, DrawOfferEndsWithTheGame) {
  play({"f3", "e5", "g4"});
  ASSERT_TRUE(room_.offer_draw(black_token));
  play({"Qh4#"});
  EXPECT_EQ(room_.state().draw_offered_by(), SEAT_UNSPECIFIED);
}

TEST_F(RoomTest, ThreefoldRepetitionIsClaimed) {
  const auto early = room_.claim_draw(white_token);
  ASSERT_FALSE(early);
  EXPECT_EQ(early.error().code(), Code::failed_precondition);
  play({"Nf3", "Nf6", "Ng1", "Ng8", "Nf3", "Nf6", "Ng1", "Ng8"});
  ASSERT_TRUE(room_.claim_draw(white_token));
  EXPECT_EQ(room_.state().outcome(), "threefold_repetition");
}

TEST_F(RoomTest, ClockEndsTheGameExactlyOnTime) {
  const TimePoint start = now();
  ASSERT_TRUE(coroutine::sleep_for(20s));
  play({"e4"});  // 40 s are left to white.
  ASSERT_TRUE(coroutine::sleep_for(10s));
  play({"e5"});  // 50 s are left to black.
  EXPECT_EQ(room_.next_deadline().time(), start + 20s + 10s + 40s);
  ASSERT_TRUE(coroutine::sleep_for(40s - 1ns));
  room_.on_time();
  EXPECT_EQ(room_.state().outcome(), "unfinished");
  ASSERT_TRUE(coroutine::sleep_for(1ns));
  room_.on_time();
  const GameState state = room_.state();
  EXPECT_EQ(state.outcome(), "time");
  EXPECT_EQ(state.winner(), BLACK);
  EXPECT_EQ(state.white_clock_ms(), 0u);
  EXPECT_EQ(state.black_clock_ms(), 50'000u);
  EXPECT_TRUE(room_.next_deadline().is_never());
}

// A player who acts at the very instant of the flag is too late, even if the clock has not been
// checked yet.
TEST_F(RoomTest, AnActionAtTheInstantOfTheFlagIsTooLate) {
  ASSERT_TRUE(coroutine::sleep_for(10s));
  play({"e4"});
  ASSERT_TRUE(coroutine::sleep_for(60s));
  const auto moved = room_.move(black_token, "e5");
  ASSERT_THAT(moved, fails_with(Code::failed_precondition));
  EXPECT_EQ(moved.error().message(), "the game is over: time");
  EXPECT_FALSE(room_.resign(white_token));
  EXPECT_EQ(room_.state().outcome(), "time");
  EXPECT_EQ(room_.state().winner(), WHITE);
  EXPECT_EQ(room_.state().black_clock_ms(), 0u);
}

// FIDE Laws of Chess, 6.9.
TEST_F(RoomTest, ABareKingDoesNotWinOnTime) {
  // Game 163 of the real games, and one more move: white has only the king, black is to move.
  play({"e4",   "e5",    "Nc3",   "Nc6",  "Bc4",  "Nf6",   "Nf3",  "h6",   "d3",   "Nd4",  "Nxd4",
        "exd4", "Nd5",   "Nxd5",  "Bxd5", "c6",   "Bc4",   "d5",   "exd5", "cxd5", "Bb5+", "Bd7",
        "a4",   "Bxb5",  "axb5",  "Bc5",  "Qe2+", "Be7",   "c3",   "dxc3", "bxc3", "O-O",  "Qg4",
        "Bf6",  "Bxh6",  "Bxc3+", "Ke2",  "Bxa1", "d4",    "Bxd4", "Qxd4", "f6",   "Qg4",  "Rf7",
        "Ra1",  "Qe7+",  "Kf3",   "Qe4+", "Qxe4", "dxe4+", "Kxe4", "Re8+", "Kf5",  "gxh6", "Rxa7",
        "Re5+", "Kg6",   "Rg7+",  "Kxf6", "Rxb5", "Ra8+",  "Kh7",  "g4",   "Rb2",  "f4",   "Rxg4",
        "Re8",  "Rxf4+", "Ke6",   "Re4+", "Kf7",  "Rxe8",  "Kxe8", "Rxh2", "Ke7"});
  ASSERT_TRUE(coroutine::sleep_for(61s));
  room_.on_time();
  EXPECT_EQ(room_.state().outcome(), "time");
  EXPECT_EQ(room_.state().winner(), SEAT_UNSPECIFIED);
}

TEST_F(RoomTest, ARestoredGameIsTheSame) {
  play({"e4", "e5", "Nf3"});
  ASSERT_TRUE(room_.offer_draw(white_token));
  auto again = restored();
  ASSERT_TRUE(again) << again;
  EXPECT_EQ(again->state().SerializeAsString(), room_.state().SerializeAsString());
  EXPECT_EQ((*again->move_of(3))->san, "Nf3");
  EXPECT_TRUE(again->move(black_token, "Nc6")) << "the tokens are the same";
}

TEST_F(RoomTest, AGameRestoredAfterTheEndHasTheSameEnd) {
  play({"e4"});
  ASSERT_TRUE(room_.resign(black_token));
  const auto again = restored();
  ASSERT_TRUE(again) << again;
  EXPECT_TRUE(again->is_over());
  EXPECT_EQ(again->state().SerializeAsString(), room_.state().SerializeAsString());
}

TEST_F(RoomTest, RepetitionsAreCountedAcrossARestart) {
  play({"Nf3", "Nf6", "Ng1", "Ng8"});
  auto again = restored();
  ASSERT_TRUE(again) << again;
  for (const char* san : {"Nf3", "Nf6", "Ng1", "Ng8"}) {
    ASSERT_TRUE(again->move(again->state().turn() == WHITE ? white_token : black_token, san));
  }
  EXPECT_TRUE(again->claim_draw(white_token));
}

TEST_F(RoomTest, TheTimeBeforeStoringIsCharged) {
  play({"e4"});
  ASSERT_TRUE(coroutine::sleep_for(20s));
  GameRecord record;
  room_.store(record);
  ASSERT_TRUE(coroutine::sleep_for(1h));
  const auto again = Room::restore("test", config_, record);
  ASSERT_TRUE(again) << again;
  EXPECT_EQ(again->state().black_clock_ms(), 40'000u);
  EXPECT_EQ(again->next_deadline().remaining(), 40s);
}

TEST_F(RoomTest, AnImpossibleRecordIsDataLoss) {
  play({"e4", "e5"});
  ASSERT_TRUE(room_.resign(white_token));
  GameRecord good;
  room_.store(good);
  ASSERT_TRUE(Room::restore("test", config_, good));
  const std::multimap<std::string, std::function<void(GameRecord&)>> damages{
      {"a game has two seats", [](GameRecord& record) { record.mutable_seats()->RemoveLast(); }},
      {"a clock is below zero", [](auto& record) { record.mutable_seats(0)->set_clock_ns(-1); }},
      {"a seat is empty", [](auto& record) { record.mutable_seats(1)->set_token(0); }},
      {"malformed move \"e2\"", [](auto& record) { record.set_moves(0, "e2"); }},
      {"illegal move \"e2e4\"", [](auto& record) { record.add_moves("e2e4"); }},
      {"its end is invalid", [](auto& record) { record.set_winner(static_cast<Seat>(3)); }},
      {"its end is invalid", [](auto& record) { record.clear_ended_by(); }},
  };
  for (const auto& [reason, damage] : damages) {
    GameRecord record = good;
    damage(record);
    const auto room = Room::restore("test", config_, record);
    ASSERT_THAT(room, fails_with(Code::data_loss)) << reason;
    EXPECT_THAT(room.error().message(), HasSubstr("game \"test\": " + reason));
  }
}

TEST(EmptySeatTest, ClocksShowTheTimeThatPlayersWillHave) {
  const ChessConfig config{.clock = 1min};
  const Room room("empty", config);
  EXPECT_EQ(room.state().white_clock_ms(), 60'000u);
  EXPECT_EQ(room.state().black_clock_ms(), 60'000u);
}

TEST(EmptySeatTest, AGameWhoseSeatStaysEmptyEndsByAbsence) {
  const ChessConfig config{.seat_time_max = 30s, .finished_kept = 0s};
  Room room("lonely", config);
  EXPECT_TRUE(room.next_deadline().is_never());
  ASSERT_TRUE(coroutine::sleep_for(1h)) << "a name without a game yet";
  ASSERT_TRUE(room.take_seat(Color::white, white_token));
  EXPECT_EQ(room.next_deadline().remaining(), 30s);
  const auto early = room.move(white_token, "e4");
  ASSERT_FALSE(early);
  EXPECT_EQ(early.error().message(), "the opponent has not come yet");
  ASSERT_TRUE(coroutine::sleep_for(30s));
  room.on_time();
  EXPECT_EQ(room.state().outcome(), "absence");
}

}  // namespace
}  // namespace corolane::services::chess
