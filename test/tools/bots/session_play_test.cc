// SPDX-License-Identifier: MIT
// Players who log in and are pushed to, over a simulated network that breaks.
#include "tools/bots/session_play.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "coroutine/base/check.h"
#include "coroutine/task.h"
#include "coroutine/testing/matchers.h"
#include "framework/node/node.h"
#include "framework/node/node_parts.h"
#include "framework/store/memory_store.h"
#include "framework/telemetry/log.h"
#include "net/testing/network.h"
#include "rpc/auth/jwt.h"
#include "services/chess/chess_service.h"
#include "services/chess/game.h"
#include "services/chess/player.h"
#include "test/framework/store/faulty_store.h"
#include "test/framework/test_node.h"

namespace corolane::tools::bots {
namespace {

using namespace std::chrono_literals;
namespace chess = services::chess;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* secret = "the secret of a login service, long enough";

rpc::JwtVerifier make_verifier() {
  auto keys = rpc::JwtKeys::parse(secret);
  check(keys.has_value(), "this is a secret");
  return rpc::JwtVerifier(*std::move(keys));
}

// A chess node that knows its players by their tokens.
class SessionPlayTest : public testing::Test {
 protected:
  SessionPlayTest() {
    framework::NodeConfig config = test::node_config("alone");
    config.clients.login.anonymous = false;
    node_ = std::make_unique<framework::Node>(
        std::move(config), network_,
        framework::Log(framework::LogLevel::error, [](std::string_view) {}),
        framework::Node::Parts{.store = std::make_shared<test::FaultyStore>(store_),
                               .directory = nullptr,
                               .clock = now,
                               .wall_clock = wall_clock_});
    node_->set_login(
        [this](std::string_view token, const rpc::LoginPeer&) { return verifier_.verify(token); });
    node_->serve([](framework::Shard& shard) {
      return std::make_unique<chess::ChessService>(shard.router());
    });
    node_->host<chess::Game>(
        [this](framework::Shard&) { return std::make_unique<chess::Game>(config_); });
    node_->host<chess::Player>();
    node_->host_users({.devices_max = 2});
    const auto started = node_->start();
    EXPECT_TRUE(started) << started;
  }

  Hall make_hall() {
    const net::Endpoint& endpoint = node_->endpoints().clients;
    return {.network = network_,
            .servers = {{endpoint.address, endpoint.port}},
            .file = "games.pgn",
            .run = "run",
            .players = {"anna", "ben", "carl"},
            .start_line = StartLine(0),
            .tally = {}};
  }

  static Plan make_plan(int game_count) {
    Plan plan;
    for (int i = 1; i <= game_count; ++i) {
      PlannedGame& game = plan.games.emplace_back();
      game.moves.name = "mate-" + std::to_string(i);
      game.moves.ordinal = i;
      for (const char* san : {"f3", "e5", "g4", "Qh4#"}) game.moves.moves.push_back({san, 1});
      game.expected = {
          .plies = 4,
          .outcome = "checkmate",
          .final_fen = "rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3"};
    }
    return plan;
  }

  const chess::ChessConfig config_{.clock = 1min, .seat_time_max = 30s, .finished_kept = 1h};
  const rpc::JwtVerifier verifier_ = make_verifier();
  sim::SimulatedNetwork network_;
  framework::MemoryStore store_;
  framework::WallClock wall_clock_{
      framework::WallTime(std::chrono::sys_days(std::chrono::year(2026) / 3 / 29))};
  std::unique_ptr<framework::Node> node_;
};

TEST_F(SessionPlayTest, EachPlayerIsToldOfItsTurnsAndOfTheEnd) {
  Hall hall = make_hall();
  const SessionPlay play{.secret = secret, .table_count_max = 2, .length = 20s};
  const SessionResult result = play_with_sessions(hall, make_plan(4), play);
  EXPECT_THAT(result.failures, IsEmpty());
  EXPECT_THAT(result.mistakes, IsEmpty());
  EXPECT_EQ(result.game_count, 4U);
  // In each game black is told of two turns, white of one, and both of the end.
  EXPECT_EQ(result.notices.push_count - result.notices.news_count, 4 * 5U);
  // Each player hears of each ply, as a spectator does.
  EXPECT_EQ(result.notices.news_count, 4 * 2 * 4U);
  EXPECT_THAT(result.summary(),
              HasSubstr("pushes: 52 received, 0 lost, 0 doubled, 0 out of order"));
  const auto ratings = look_at_ratings_with_token(hall, play, 4);
  EXPECT_TRUE(ratings) << ratings;
}

TEST_F(SessionPlayTest, NoPushIsLostOrDoubledThoughSocketsBreak) {
  Hall hall = make_hall();
  const SessionPlay play{.secret = secret, .table_count_max = 20, .length = 30s};
  auto storm = coroutine::spawn("storm", [&] {
    while (coroutine::sleep_for(97ms)) network_.reset_all();
  });
  const SessionResult result = play_with_sessions(hall, make_plan(40), play);
  storm.cancel();
  EXPECT_TRUE(storm.join(Deadline::never()));
  EXPECT_THAT(result.failures, IsEmpty());
  EXPECT_THAT(result.mistakes, IsEmpty());
  EXPECT_EQ(result.game_count, 40U);
  EXPECT_GT(result.notices.resumed_count, 1'000U);
  EXPECT_EQ(result.notices.new_session_count, 0U);
  EXPECT_GT(result.away_ms.count(), 1'000U);
  EXPECT_LE(result.away_ms.quantile(0.99), 100U);
}

TEST_F(SessionPlayTest, AGameThatEndsOtherwiseIsNamed) {
  Hall hall = make_hall();
  Plan plan = make_plan(1);
  plan.games.front().moves.moves.pop_back();
  const SessionResult result =
      play_with_sessions(hall, plan, {.secret = secret, .table_count_max = 1, .length = 1s});
  EXPECT_EQ(result.game_count, 0U);
  EXPECT_THAT(result.failures,
              ElementsAre(HasSubstr("game \"mate-1\", ply 3: white: data_loss: the number of plies "
                                    "is 3, expected 4")));
}

}  // namespace
}  // namespace corolane::tools::bots
