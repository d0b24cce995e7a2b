// SPDX-License-Identifier: MIT
#include "services/chess/game.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <string>
#include <vector>

#include "coroutine/task.h"
#include "coroutine/testing/matchers.h"
#include "coroutine/testing/random.h"
#include "framework/wire/objects.pb.h"
#include "test/services/chess/chess_nodes.h"

namespace corolane::services::chess {
namespace {

using namespace std::chrono_literals;
using test::fails_with;
using testing::HasSubstr;
using testing::IsEmpty;

// Morphy against the Duke of Brunswick and Count Isouard, Paris 1858.
constexpr std::array opera = {
    "e4",    "e5",  "Nf3",  "d6",   "d4",  "Bg4", "dxe5",  "Bxf3", "Qxf3", "dxe5",  "Bc4",
    "Nf6",   "Qb3", "Qe7",  "Nc3",  "c6",  "Bg5", "b5",    "Nxb5", "cxb5", "Bxb5+", "Nbd7",
    "O-O-O", "Rd8", "Rxd7", "Rxd7", "Rd1", "Qe6", "Bxd7+", "Nxd7", "Qb8+", "Nxb8",  "Rd8#"};

class GameTest : public testing::Test {
 protected:
  struct Tokens {
    Token white = 0;
    Token black = 0;
  };

  Result<JoinReply> join(const std::string& game, Seat seat, const std::string& player = "") {
    JoinRequest request;
    request.set_game(game);
    request.set_seat(seat);
    request.set_player(player);
    return node_.game(game).join(request);
  }
  Tokens join_both(const std::string& game, const std::string& white = "",
                   const std::string& black = "") {
    const auto first = join(game, WHITE, white);
    const auto second = join(game, BLACK, black);
    EXPECT_TRUE(first && second) << first << second;
    return first && second ? Tokens{first->token(), second->token()} : Tokens{};
  }
  Result<MoveReply> move(const std::string& game, Token token, const std::string& san) {
    MoveRequest request;
    request.set_token(token);
    request.set_san(san);
    return node_.game(game).move(request);
  }
  Result<ResignReply> resign(const std::string& game, Token token) {
    ResignRequest request;
    request.set_token(token);
    return node_.game(game).resign(request);
  }
  Result<WaitMoveReply> wait_move(const std::string& game, std::uint32_t ply) {
    WaitMoveRequest request;
    request.set_ply(ply);
    return node_.game(game).wait_move(request, {.deadline = Deadline::after(1h)});
  }
  GameState look(const std::string& game) {
    const auto reply = node_.game(game).look({});
    EXPECT_TRUE(reply) << reply;
    return reply ? reply->state() : GameState();
  }
  std::int32_t rating(const std::string& player) {
    const auto reply = node_.player(player).look({});
    EXPECT_TRUE(reply) << reply;
    return reply ? reply->rating() : 0;
  }
  void restart() {
    node_.crash();
    node_ = nodes_.start();
  }
  framework::MemoryStore::Row stored(const std::string& game) {
    return nodes_.store().look({.type = Game::object_type().name, .id = game});
  }
  // Ratings change a moment after the end.
  void settle() { EXPECT_TRUE(coroutine::sleep_for(100ms)); }

  ChessNodes nodes_;
  ChessNode node_ = nodes_.start();
};

TEST_F(GameTest, SurvivesACrashOfItsNodeAfterEachMove) {
  const Tokens tokens = join_both("opera", "Morphy", "the Duke");
  for (std::size_t i = 0; i < opera.size(); ++i) {
    const auto moved = move("opera", i % 2 == 0 ? tokens.white : tokens.black, opera[i]);
    ASSERT_TRUE(moved) << opera[i] << ": " << moved;
    restart();
    const GameState state = look("opera");
    ASSERT_EQ(state.plies(), i + 1);
    ASSERT_EQ(state.last_san(), opera[i]);
    ASSERT_EQ(state.fen(), moved->state().fen());
  }
  EXPECT_EQ(look("opera").outcome(), "checkmate");
  EXPECT_EQ(wait_move("opera", 33)->san(), "Rd8#");
  settle();
  EXPECT_EQ(rating("Morphy"), 1'510);
  EXPECT_EQ(rating("the Duke"), 1'490);
}

TEST_F(GameTest, ADamagedRecordIsDataLoss) {
  GameRecord record;
  record.add_seats()->set_token(1);
  framework::ObjectRecord object;
  object.set_state(record.SerializeAsString());
  const framework::ObjectKey key{.type = Game::object_type().name, .id = "broken"};
  ASSERT_TRUE(nodes_.store().seal(key, 1, Deadline::never()));
  const std::string bytes = object.SerializeAsString();
  ASSERT_TRUE(nodes_.store().write(key, 1, 0, {.bytes = bytes}, Deadline::never()));
  const auto seen = node_.game("broken").look({});
  ASSERT_THAT(seen, fails_with(Code::data_loss));
  EXPECT_THAT(seen.error().message(), HasSubstr("game \"broken\": a game has two seats"));
  EXPECT_THAT(join("broken", WHITE), fails_with(Code::data_loss)) << "it is not overwritten";
}

TEST_F(GameTest, ACallWaitingForAMoveDelaysNoOther) {
  const Tokens tokens = join_both("g");
  const TimePoint start = now();
  std::vector<coroutine::Task<WaitMoveReply>> spectators;
  for (std::uint32_t i = 0; i < 10; ++i) {
    spectators.push_back(
        coroutine::spawn("spectator", [&, i] { return wait_move("g", i % 2 + 1); }));
  }
  ASSERT_TRUE(coroutine::sleep_for(10s));
  ASSERT_TRUE(move("g", tokens.white, "e4"));
  ASSERT_TRUE(coroutine::sleep_for(10s));
  for (std::size_t i = 0; i < spectators.size(); ++i) {
    EXPECT_EQ(spectators[i].is_done(), i % 2 == 0);
  }
  ASSERT_TRUE(move("g", tokens.black, "c5"));
  for (std::size_t i = 0; i < spectators.size(); ++i) {
    const auto seen = spectators[i].join(Deadline::never());
    ASSERT_TRUE(seen) << seen;
    EXPECT_EQ(seen->san(), i % 2 == 0 ? "e4" : "c5");
  }
  EXPECT_EQ(now() - start, 20s);
}

TEST_F(GameTest, ACallWaitingForAMoveFailsWhenTheGameEnds) {
  const Tokens tokens = join_both("g");
  auto spectator = coroutine::spawn("spectator", [&] { return wait_move("g", 1); });
  ASSERT_TRUE(coroutine::sleep_for(1s));
  ASSERT_TRUE(resign("g", tokens.black));
  const auto seen = spectator.join(Deadline::never());
  ASSERT_THAT(seen, fails_with(Code::failed_precondition));
  EXPECT_EQ(seen.error().message(), "the game ended by resignation after 0 plies");
}

TEST_F(GameTest, ACallWaitingForAMoveSeesTheFlagFall) {
  const Tokens tokens = join_both("g", "white", "black");
  ASSERT_TRUE(move("g", tokens.white, "e4"));
  const TimePoint start = now();
  const auto seen = wait_move("g", 2);
  ASSERT_THAT(seen, fails_with(Code::failed_precondition));
  EXPECT_EQ(seen.error().message(), "the game ended by time after 1 plies");
  EXPECT_EQ(now() - start, 1min);
  settle();
  EXPECT_EQ(rating("white"), 1'510);
}

TEST_F(GameTest, ALookSeesThatTheFlagHasFallen) {
  join_both("g");
  ASSERT_TRUE(coroutine::sleep_for(62s));
  EXPECT_EQ(look("g").outcome(), "time");
  EXPECT_EQ(look("g").winner(), BLACK);
}

TEST_F(GameTest, AMoveThatIsTooLateEndsTheGame) {
  const Tokens tokens = join_both("g", "white", "black");
  ASSERT_TRUE(coroutine::sleep_for(1min));
  const auto moved = move("g", tokens.white, "e4");
  ASSERT_THAT(moved, fails_with(Code::failed_precondition));
  EXPECT_EQ(moved.error().message(), "the game is over: time");
  restart();
  EXPECT_EQ(look("g").outcome(), "time");
  settle();
  EXPECT_EQ(rating("black"), 1'510);
}

TEST_F(GameTest, APlayerWhoComesTooLateFindsTheGameOver) {
  ASSERT_TRUE(join("g", WHITE, "white"));
  ASSERT_TRUE(coroutine::sleep_for(30s));
  const auto late = join("g", BLACK, "black");
  ASSERT_THAT(late, fails_with(Code::failed_precondition));
  EXPECT_EQ(late.error().message(), "the game is over: absence");
  EXPECT_EQ(look("g").outcome(), "absence");
  settle();
  EXPECT_EQ(rating("white"), 1'500);
}

TEST_F(GameTest, TheTimeToComeBeginsWithTheFirstPlayer) {
  EXPECT_THAT(node_.game("g").look({}), fails_with(Code::not_found));
  ASSERT_TRUE(coroutine::sleep_for(25s));
  ASSERT_TRUE(join("g", WHITE));
  ASSERT_TRUE(coroutine::sleep_for(25s));
  EXPECT_TRUE(join("g", BLACK));
}

TEST_F(GameTest, LookingAtAMissingGameStoresNothing) {
  EXPECT_THAT(node_.game("g").look({}), fails_with(Code::not_found));
  EXPECT_THAT(resign("g", 1), fails_with(Code::not_found));
  ASSERT_TRUE(coroutine::sleep_for(10s));
  const framework::ObjectKey key{.type = Game::object_type().name, .id = "g"};
  EXPECT_EQ(nodes_.store().seal(key, ~std::uint64_t{0}, Deadline::never())->version, 0U);
}

TEST_F(GameTest, ThinkingTimeIsChargedWhileTheGameIsEvicted) {
  nodes_.config.clock = 1h;
  restart();
  const Tokens tokens = join_both("g");
  ASSERT_TRUE(move("g", tokens.white, "e4"));
  ASSERT_TRUE(coroutine::sleep_for(20min));  // Idle games are evicted after five minutes.
  EXPECT_EQ(node_.node->shard().active_object_count(), 0U);
  EXPECT_LE(look("g").black_clock_ms(), 55 * 60'000U);
}

TEST_F(GameTest, ANameIsFreeAgainWhenItsGameHasBeenOverForAWhile) {
  const Tokens tokens = join_both("g", "anna", "ben");
  ASSERT_TRUE(resign("g", tokens.black));
  ASSERT_TRUE(coroutine::sleep_for(4s));
  EXPECT_THAT(join("g", WHITE), fails_with(Code::already_exists));
  EXPECT_EQ(look("g").outcome(), "resignation");
  ASSERT_TRUE(coroutine::sleep_for(2s));
  const auto again = join("g", WHITE, "anna");
  ASSERT_TRUE(again) << again;
  EXPECT_EQ(again->state().outcome(), "unfinished");
  const auto black = join("g", BLACK, "ben");
  ASSERT_TRUE(black) << black;
  ASSERT_TRUE(resign("g", black->token()));
  settle();
  EXPECT_EQ(rating("anna"), 1'519) << "both games count";
}

TEST_F(GameTest, ANameIsFreeAgainAfterARestartToo) {
  const Tokens tokens = join_both("g");
  ASSERT_TRUE(resign("g", tokens.black));
  ASSERT_TRUE(coroutine::sleep_for(3s));
  restart();
  EXPECT_THAT(join("g", WHITE), fails_with(Code::already_exists));
  ASSERT_TRUE(coroutine::sleep_for(3s));
  EXPECT_TRUE(join("g", WHITE));
}

TEST_F(GameTest, AFinishedGameLeavesNothingInTheStore) {
  nodes_.config.finished_kept = 1min;
  restart();
  const Tokens tokens = join_both("g", "anna", "ben");
  ASSERT_TRUE(resign("g", tokens.black));
  settle();
  ASSERT_TRUE(coroutine::sleep_for(50s));
  EXPECT_FALSE(stored("g").object.is_tombstone);
  ASSERT_TRUE(coroutine::sleep_for(12s));
  EXPECT_TRUE(stored("g").object.is_tombstone);
  EXPECT_THAT(node_.game("g").look({}), fails_with(Code::not_found));
  ASSERT_TRUE(coroutine::sleep_for(90min));
  EXPECT_EQ(stored("g").epoch, 0U) << "there is no row";
}

TEST_F(GameTest, AGameThatBothPlayersHaveLeftIsDestroyedAfterADay) {
  nodes_.config.clock = 10h;
  restart();
  const Tokens tokens = join_both("g", "anna", "ben");
  ASSERT_TRUE(move("g", tokens.white, "e4"));
  ASSERT_TRUE(coroutine::sleep_for(20h));
  EXPECT_EQ(stored("g").object.version, 4U);
  ASSERT_TRUE(coroutine::sleep_for(10h));
  EXPECT_EQ(stored("g").epoch, 0U) << "there is no row";
}

// The record of a game that replaces another one keeps nothing of the earlier game.
TEST_F(GameTest, AGameThatReplacesALongerOneIsStoredAsItIs) {
  const Tokens first = join_both("g");
  ASSERT_TRUE(move("g", first.white, "e4"));
  ASSERT_TRUE(resign("g", first.black));
  ASSERT_TRUE(coroutine::sleep_for(7s));
  const Tokens second = join_both("g");
  ASSERT_TRUE(move("g", second.white, "d4"));
  restart();
  EXPECT_EQ(look("g").plies(), 1U);
  EXPECT_EQ(look("g").last_san(), "d4");
}

TEST_F(GameTest, ATokenIsValidForOneSeat) {
  const Tokens tokens = join_both("g");
  EXPECT_NE(tokens.white, tokens.black);
  EXPECT_NE(tokens.white, 0U);
  EXPECT_THAT(move("g", tokens.black, "e4"), fails_with(Code::failed_precondition));
  EXPECT_THAT(move("g", 0, "e4"), fails_with(Code::permission_denied));
  EXPECT_THAT(move("g", tokens.white + 2, "e4"), fails_with(Code::permission_denied));
}

TEST_F(GameTest, ADrawBetweenUnequalPlayersMovesRatings) {
  for (const char* game : {"1", "2", "3"}) {
    const Tokens tokens = join_both(game, "strong", "weak");
    ASSERT_TRUE(resign(game, tokens.black));
    settle();
  }
  EXPECT_EQ(rating("strong") + rating("weak"), 3'000);
  const std::int32_t before = rating("strong");
  const Tokens tokens = join_both("draw", "strong", "weak");
  OfferDrawRequest offer;
  offer.set_token(tokens.white);
  ASSERT_TRUE(node_.game("draw").offer_draw(offer));
  offer.set_token(tokens.black);
  ASSERT_TRUE(node_.game("draw").offer_draw(offer));
  settle();
  EXPECT_LT(rating("strong"), before);
  EXPECT_EQ(rating("strong") + rating("weak"), 3'000);
}

TEST_F(GameTest, OnlyGamesOfTwoNamedPlayersAreRated) {
  for (const auto& [game, white, black] : {std::tuple{"1", "anna", ""}, std::tuple{"2", "", "anna"},
                                           std::tuple{"3", "anna", "anna"}}) {
    const Tokens tokens = join_both(game, white, black);
    ASSERT_TRUE(resign(game, tokens.white));
  }
  settle();
  const auto anna = node_.player("anna").look({});
  ASSERT_TRUE(anna) << anna;
  EXPECT_EQ(anna->rating(), 1'500);
  EXPECT_EQ(anna->wins() + anna->losses(), 0U);
}

TEST_F(GameTest, RatingsAreConservedOverManyGames) {
  test::Random random;
  std::vector<std::string> players;
  for (int i = 0; i < 10; ++i) players.push_back("player " + std::to_string(i));
  for (int i = 0; i < 200; ++i) {
    const std::string game = std::to_string(i);
    const std::size_t white = random.below(10);
    const std::size_t black = (white + 1 + random.below(9)) % 10;
    const Tokens tokens = join_both(game, players[white], players[black]);
    ASSERT_TRUE(resign(game, random.one_in(2) ? tokens.white : tokens.black));
  }
  settle();
  std::int32_t sum = 0;
  std::uint32_t results = 0;
  for (const std::string& player : players) {
    const auto seen = node_.player(player).look({});
    ASSERT_TRUE(seen) << seen;
    sum += seen->rating();
    results += seen->wins() + seen->losses();
  }
  EXPECT_EQ(sum, 15'000);
  EXPECT_EQ(results, 400U);
}

// Crashes at each step between the end of a game and the notification of the second player.
TEST_F(GameTest, RatingsAreConservedForACrashAtAnyStep) {
  for (int crash_at = 1; crash_at < 12; ++crash_at) {
    SCOPED_TRACE(crash_at);
    const std::string run = std::to_string(crash_at);
    const Tokens tokens = join_both(run, "white " + run, "black " + run);
    int write_count = 0;
    node_.store->set_before_write([&](const framework::ObjectKey&) -> Result<void> {
      if (++write_count < crash_at) return {};
      return Error(Code::unavailable, "the store is away");
    });
    static_cast<void>(resign(run, tokens.black));
    ASSERT_TRUE(coroutine::sleep_for(2s));
    restart();
    const bool was_stored = look(run).outcome() == "resignation";
    settle();
    EXPECT_EQ(was_stored, crash_at > 1);
    EXPECT_EQ(rating("white " + run), was_stored ? 1'510 : 1'500);
    EXPECT_EQ(rating("black " + run), was_stored ? 1'490 : 1'500);
  }
}

// The end is stored, and the game gets no further call.
TEST_F(GameTest, RatingsChangeAfterACrashWithoutAnyCall) {
  const Tokens tokens = join_both("g", "white", "black");
  node_.store->set_before_write([&](const framework::ObjectKey& key) -> Result<void> {
    if (key.type != Player::object_type().name) return {};
    return Error(Code::unavailable, "the store is away");
  });
  ASSERT_TRUE(resign("g", tokens.black));
  ASSERT_TRUE(coroutine::sleep_for(100ms));
  restart();
  ASSERT_TRUE(coroutine::sleep_for(2min));
  EXPECT_EQ(rating("white"), 1'510);
  EXPECT_EQ(rating("black"), 1'490);
}

TEST_F(GameTest, TheSecondRatingChangesAfterACrashThatCameBeforeIt) {
  const Tokens tokens = join_both("g", "white", "black");
  node_.store->set_before_write([&](const framework::ObjectKey& key) -> Result<void> {
    if (key.id != "black") return {};
    return Error(Code::unavailable, "the store is away");
  });
  ASSERT_TRUE(resign("g", tokens.black));
  ASSERT_TRUE(coroutine::sleep_for(2s));
  restart();
  EXPECT_EQ(rating("white"), 1'510);
  EXPECT_EQ(rating("black"), 1'500) << "not yet";
  ASSERT_TRUE(coroutine::sleep_for(30s));
  EXPECT_EQ(rating("white"), 1'510);
  EXPECT_EQ(rating("black"), 1'490);
}

TEST_F(GameTest, TwoGamesOfOnePlayerAreCompletedAtOnce) {
  node_.store->set_before_write([&](const framework::ObjectKey& key) -> Result<void> {
    if (key.id != "ben") return {};
    return Error(Code::unavailable, "the store is away");
  });
  for (const char* game : {"1", "2", "3"}) {
    const Tokens tokens = join_both(game, "anna", "ben");
    ASSERT_TRUE(resign(game, tokens.black));
  }
  ASSERT_TRUE(coroutine::sleep_for(2s));
  restart();
  node_.store->set_before_write(
      [](const framework::ObjectKey&) -> Result<void> { return coroutine::sleep_for(5ms); });
  ASSERT_TRUE(coroutine::sleep_for(30s));
  EXPECT_EQ(node_.player("ben").look({})->losses(), 3U);
  EXPECT_EQ(node_.player("anna").look({})->wins(), 3U);
}

TEST_F(GameTest, AWriteWhoseReplyIsLostTakesEffectOnce) {
  const Tokens tokens = join_both("g", "white", "black");
  int lost_count = 0;
  node_.store->set_after_write([&](const framework::ObjectKey& key) -> Result<void> {
    if (key.type != Player::object_type().name || ++lost_count > 7) return {};
    return Error(Code::unavailable, "the answer is lost");
  });
  ASSERT_TRUE(resign("g", tokens.white));
  ASSERT_TRUE(coroutine::sleep_for(20s));
  EXPECT_GT(lost_count, 7);
  EXPECT_EQ(rating("white"), 1'490);
  EXPECT_EQ(rating("black"), 1'510);
}

TEST_F(GameTest, AnUnavailablePlayerDelaysNoOtherCall) {
  const Tokens tokens = join_both("g", "white", "black");
  bool is_away = true;
  node_.store->set_before_write([&](const framework::ObjectKey& key) -> Result<void> {
    if (key.id != "black" || !is_away) return {};
    EXPECT_TRUE(coroutine::sleep_for(5s));
    return Error(Code::unavailable, "the store is away");
  });
  ASSERT_TRUE(resign("g", tokens.black));
  ASSERT_TRUE(coroutine::sleep_for(1s));
  const TimePoint start = now();
  EXPECT_EQ(look("g").outcome(), "resignation");
  EXPECT_EQ(now() - start, 0s);
  // The name stays with the game until it is settled.
  ASSERT_TRUE(coroutine::sleep_for(60s));
  EXPECT_THAT(join("g", WHITE), fails_with(Code::already_exists));
  EXPECT_EQ(look("g").outcome(), "resignation");
  is_away = false;
  ASSERT_TRUE(coroutine::sleep_for(70s));
  EXPECT_EQ(rating("black"), 1'490);
  EXPECT_EQ(rating("white"), 1'510);
  EXPECT_TRUE(join("g", WHITE));
}

TEST(GamesOfNodesTest, ACallWaitingForAMoveFollowsItsGameToAnotherNode) {
  ChessNodes nodes;
  ChessNode a = nodes.join("a");
  std::vector<Token> white_tokens;
  std::vector<coroutine::Task<WaitMoveReply>> spectators;
  const auto of_node = [](const ChessNode& node, int game) {
    return node.game("game " + std::to_string(game));
  };
  for (int i = 0; i < 20; ++i) {
    JoinRequest request;
    request.set_seat(WHITE);
    const auto white = of_node(a, i).join(request);
    request.set_seat(BLACK);
    const auto black = of_node(a, i).join(request);
    ASSERT_TRUE(white && black);
    white_tokens.push_back(white->token());
    spectators.push_back(coroutine::spawn("spectator", [&, i] {
      WaitMoveRequest wait;
      wait.set_ply(1);
      return of_node(a, i).wait_move(wait, {.deadline = Deadline::after(1min)});
    }));
  }
  ChessNode b = nodes.join("b");
  ASSERT_TRUE(coroutine::sleep_for(5s));
  EXPECT_GT(b.node->shard().active_object_count(), 3U) << "about half of them";
  for (int i = 0; i < 20; ++i) {
    MoveRequest request;
    request.set_token(white_tokens[static_cast<std::size_t>(i)]);
    request.set_san("e4");
    const auto moved = of_node(i % 2 == 0 ? a : b, i).move(request);
    ASSERT_TRUE(moved) << moved;
    EXPECT_GE(moved->state().white_clock_ms(), 50'000U);
    const auto seen = spectators[static_cast<std::size_t>(i)].join(Deadline::never());
    ASSERT_TRUE(seen) << seen;
    EXPECT_EQ(seen->uci(), "e2e4");
  }
}

}  // namespace
}  // namespace corolane::services::chess
