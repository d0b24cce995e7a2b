#include "services/chess/room.h"

#include <gtest/gtest.h>

#include <chrono>

#include "coroutine/task.h"

namespace corolane::services::chess {
namespace {

using namespace std::chrono_literals;
using rules::Color;

constexpr Token white_token = 11;
constexpr Token black_token = 22;

// A room with both players, whose life runs in a task.
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
  Room room_{"test", config_};
  coroutine::Task<void> life_ = coroutine::spawn("room", [this] { room_.run(); });
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

TEST_F(RoomTest, WaitMoveReturnsWhenThePlyIsPlayed) {
  const TimePoint start = now();
  auto waits = coroutine::spawn("spectator", [&] { return room_.wait_move(2, Deadline::never()); });
  ASSERT_TRUE(coroutine::sleep_for(1s));
  play({"Nf3"});
  ASSERT_TRUE(coroutine::sleep_for(1s));
  EXPECT_FALSE(waits.is_done());
  play({"d5"});
  const auto seen = waits.join();
  ASSERT_TRUE(seen) << seen;
  EXPECT_EQ(seen->san, "d5");
  EXPECT_EQ(seen->uci, "d7d5");
  EXPECT_EQ(now() - start, 2s);
}

TEST_F(RoomTest, WaitMoveOfAPlayedPlyReturnsAtOnce) {
  play({"e4"});
  const TimePoint start = now();
  EXPECT_EQ(room_.wait_move(1, Deadline::never())->uci, "e2e4");
  EXPECT_EQ(now(), start);
}

TEST_F(RoomTest, WaitMoveFailsWhenTheGameEndsFirst) {
  auto waits = coroutine::spawn("spectator", [&] { return room_.wait_move(1, Deadline::never()); });
  ASSERT_TRUE(coroutine::yield());
  ASSERT_TRUE(room_.resign(white_token));
  const auto seen = waits.join();
  ASSERT_FALSE(seen);
  EXPECT_EQ(seen.error().code(), Code::failed_precondition);
  EXPECT_EQ(seen.error().message(), "the game ended by resignation after 0 plies");
}

TEST_F(RoomTest, WaitMoveGivesUpAtItsDeadline) {
  const auto seen = room_.wait_move(1, Deadline::after(2s));
  ASSERT_FALSE(seen);
  EXPECT_EQ(seen.error().code(), Code::deadline_exceeded);
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
  const auto waited = room_.wait_move(3, Deadline::never());
  ASSERT_FALSE(waited);
  EXPECT_EQ(waited.error().message(), "the game ended by time after 2 plies");
  EXPECT_EQ(now() - start, 20s + 10s + 40s);
  const GameState state = room_.state();
  EXPECT_EQ(state.outcome(), "time");
  EXPECT_EQ(state.winner(), BLACK);
  EXPECT_EQ(state.white_clock_ms(), 0u);
  EXPECT_EQ(state.black_clock_ms(), 50'000u);
}

// A player who acts in the very instant in which the flag falls is too late, even if the room
// itself has not noticed yet.
TEST_F(RoomTest, WhateverHappensInTheInstantOfTheFlagIsTooLate) {
  Result<void> moved;
  Result<void> resigned;
  auto late = coroutine::spawn("late", [&] {
    EXPECT_TRUE(coroutine::sleep_for(70s));
    moved = room_.move(black_token, "e5");
    resigned = room_.resign(white_token);
  });
  ASSERT_TRUE(coroutine::sleep_for(10s));
  play({"e4"});  // 60 s are left to black.
  ASSERT_TRUE(late.join());
  ASSERT_FALSE(moved);
  EXPECT_EQ(moved.error().message(), "the game is over: time");
  ASSERT_FALSE(resigned);
  EXPECT_EQ(room_.state().outcome(), "time");
  EXPECT_EQ(room_.state().winner(), WHITE);
  EXPECT_EQ(room_.state().black_clock_ms(), 0u);
}

// FIDE Laws of Chess, 6.9.
TEST_F(RoomTest, NobodyWinsOnTimeWithABareKing) {
  // Game 163 of the real ones, and one move more: white has but the king, black is to move.
  play({"e4",   "e5",    "Nc3",   "Nc6",  "Bc4",  "Nf6",   "Nf3",  "h6",   "d3",   "Nd4",  "Nxd4",
        "exd4", "Nd5",   "Nxd5",  "Bxd5", "c6",   "Bc4",   "d5",   "exd5", "cxd5", "Bb5+", "Bd7",
        "a4",   "Bxb5",  "axb5",  "Bc5",  "Qe2+", "Be7",   "c3",   "dxc3", "bxc3", "O-O",  "Qg4",
        "Bf6",  "Bxh6",  "Bxc3+", "Ke2",  "Bxa1", "d4",    "Bxd4", "Qxd4", "f6",   "Qg4",  "Rf7",
        "Ra1",  "Qe7+",  "Kf3",   "Qe4+", "Qxe4", "dxe4+", "Kxe4", "Re8+", "Kf5",  "gxh6", "Rxa7",
        "Re5+", "Kg6",   "Rg7+",  "Kxf6", "Rxb5", "Ra8+",  "Kh7",  "g4",   "Rb2",  "f4",   "Rxg4",
        "Re8",  "Rxf4+", "Ke6",   "Re4+", "Kf7",  "Rxe8",  "Kxe8", "Rxh2", "Ke7"});
  ASSERT_TRUE(coroutine::sleep_for(61s));
  EXPECT_EQ(room_.state().outcome(), "time");
  EXPECT_EQ(room_.state().winner(), SEAT_UNSPECIFIED);
}

TEST_F(RoomTest, LifeEndsAWhileAfterTheGame) {
  ASSERT_TRUE(room_.resign(black_token));
  const TimePoint start = now();
  EXPECT_TRUE(life_.join());
  EXPECT_EQ(now() - start, 5s);
}

TEST(EmptySeatTest, APlayerWhoComesInTheLastInstantPlays) {
  const ChessConfig config{.clock = 1min, .seat_time_max = 30s, .finished_kept = 0s};
  Room room("late", config);
  ASSERT_TRUE(room.take_seat(Color::white, white_token));
  auto late = coroutine::spawn("late", [&] {
    EXPECT_TRUE(coroutine::sleep_for(30s));
    EXPECT_TRUE(room.take_seat(Color::black, black_token));
  });
  ASSERT_TRUE(coroutine::yield());
  auto life = coroutine::spawn("room", [&] { room.run(); });
  ASSERT_TRUE(late.join());
  ASSERT_TRUE(coroutine::yield());
  EXPECT_EQ(room.state().outcome(), "unfinished");
  EXPECT_TRUE(room.move(white_token, "e4"));
}

TEST(EmptySeatTest, ClocksShowWhatPlayersWillHave) {
  const ChessConfig config{.clock = 1min};
  const Room room("empty", config);
  EXPECT_EQ(room.state().white_clock_ms(), 60'000u);
  EXPECT_EQ(room.state().black_clock_ms(), 60'000u);
}

TEST(EmptySeatTest, RoomClosesWhenNobodyComes) {
  const ChessConfig config{.seat_time_max = 30s, .finished_kept = 0s};
  Room room("lonely", config);
  ASSERT_TRUE(room.take_seat(Color::white, white_token));
  const TimePoint start = now();
  const auto early = room.move(white_token, "e4");
  ASSERT_FALSE(early);
  EXPECT_EQ(early.error().message(), "the opponent has not come yet");
  room.run();
  EXPECT_EQ(now() - start, 30s);
  EXPECT_EQ(room.state().outcome(), "absence");
}

}  // namespace
}  // namespace corolane::services::chess
