// SPDX-License-Identifier: MIT
// A player who has logged in is told whose turn it is, also one who was away.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "coroutine/task.h"
#include "framework/node/node.h"
#include "framework/testing/cluster.h"
#include "rpc/client/client.h"
#include "services/chess/chess.corolane.h"
#include "services/chess/chess_service.h"
#include "services/chess/game.h"
#include "services/chess/player.h"

namespace corolane::services::chess {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

// "g black 1": the game, whose turn it is, and the number of moves.
class Notices final : public rpc::PushSink {
 public:
  void on_push(const rpc::Push& push) override {
    const auto notice = push.as<TurnNotice>();
    if (!notice) return all.push_back("another push");
    const GameState& state = notice->state();
    const std::string what =
        state.outcome() == "unfinished" ? Seat_Name(state.turn()) : state.outcome();
    all.push_back(notice->game() + " " + what + " " + std::to_string(state.plies()));
  }
  void on_gap(std::uint64_t) override { all.emplace_back("gap"); }
  void on_session(bool) override {}
  void on_end(const Error& reason) override { all.push_back(reason.to_string()); }

  std::vector<std::string> all;
};

class TurnNoticeTest : public testing::Test {
 protected:
  TurnNoticeTest()
      : cluster_({.seed = 3, .nodes = 3, .edges = 1}, [this](framework::Node& node) {
          node.set_login([](std::string_view token, const rpc::LoginPeer&) {
            return Result<rpc::Principal>({.id = std::string(token)});
          });
          node.serve([](framework::Shard& shard) {
            return std::make_unique<ChessService>(shard.router());
          });
          node.host<Game>([this](framework::Shard&) { return std::make_unique<Game>(config_); });
          node.host<Player>();
          node.host_users();
        }) {
    cluster_.run_for(10s);
  }

  std::unique_ptr<rpc::Client> connect(const std::string& player, Notices& notices) {
    return std::make_unique<rpc::Client>(
        cluster_.network(), cluster_.servers(),
        rpc::Client::Options{.token = [player] { return Result<std::string>(player); },
                             .pushes = &notices});
  }
  static std::uint64_t join(rpc::Client& client, Seat seat) {
    JoinRequest request;
    request.set_game("g");
    request.set_seat(seat);
    return ChessClient(client).join(request).value().token();
  }
  static void move(rpc::Client& client, std::uint64_t token, const std::string& san) {
    MoveRequest request;
    request.set_game("g");
    request.set_token(token);
    request.set_san(san);
    EXPECT_TRUE(ChessClient(client).move(request));
    EXPECT_TRUE(coroutine::sleep_for(200ms));
  }

  const ChessConfig config_;
  Notices of_white_;
  Notices of_black_;
  sim::SimulatedCluster cluster_;
};

TEST_F(TurnNoticeTest, APlayerIsToldOfTheTurnAlsoAfterAnAbsence) {
  EXPECT_TRUE(cluster_.run("players", [this] {
    const auto white = connect("ann", of_white_);
    auto black = connect("bob", of_black_);
    const std::uint64_t token_of_white = join(*white, WHITE);
    const std::uint64_t token_of_black = join(*black, BLACK);
    move(*white, token_of_white, "e4");
    move(*black, token_of_black, "e5");
    black.reset();
    EXPECT_TRUE(coroutine::sleep_for(70s));  // The session is gone.
    move(*white, token_of_white, "Nf3");
    EXPECT_THAT(of_black_.all, ElementsAre("g BLACK 1"));
    black = connect("bob", of_black_);
    EXPECT_TRUE(black->wait_until_connected(Deadline::after(5s)));
    EXPECT_TRUE(coroutine::sleep_for(200ms));
    ResignRequest resign;
    resign.set_game("g");
    resign.set_token(token_of_black);
    EXPECT_TRUE(ChessClient(*black).resign(resign));
    EXPECT_TRUE(coroutine::sleep_for(200ms));
  }));
  EXPECT_THAT(of_black_.all, ElementsAre("g BLACK 1", "g BLACK 3", "g resignation 3"));
  EXPECT_THAT(of_white_.all, ElementsAre("g WHITE 2", "g resignation 3"));
  EXPECT_THAT(cluster_.violations(), IsEmpty());
}

}  // namespace
}  // namespace corolane::services::chess
