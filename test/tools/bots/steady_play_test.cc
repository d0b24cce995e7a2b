// SPDX-License-Identifier: MIT
// Bots that keep playing whatever happens to the nodes, over a simulated network.
#include "tools/bots/steady_play.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "coroutine/task.h"
#include "coroutine/testing/matchers.h"
#include "coroutine/testing/temporary_folder.h"
#include "framework/client/cluster_client.h"
#include "test/services/chess/chess_nodes.h"

namespace corolane::tools::bots {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using services::chess::ChessNode;
using services::chess::ChessNodes;
using test::fails_with;
using testing::IsEmpty;

net::HostPort listener(const ChessNode& node) {
  const net::Endpoint& endpoint = node.node->endpoints().clients;
  return {endpoint.address, endpoint.port};
}

class SteadyPlayTest : public testing::Test {
 protected:
  // The bots call objects directly.
  SteadyPlayTest() { nodes_.public_methods_only = false; }

  History make_history() {
    auto history = History::create(path_);
    EXPECT_TRUE(history) << history;
    return *std::move(history);
  }
  std::vector<json> calls() const {
    std::vector<json> calls;
    std::ifstream file(path_);
    for (std::string line; std::getline(file, line);) calls.push_back(json::parse(line));
    return calls;
  }

  const test::TemporaryFolder folder_;
  const std::string path_ = folder_.path() / "history.jsonl";
  ChessNodes nodes_;
};

TEST_F(SteadyPlayTest, ACallReachesTheNodeThatAnswersAndIsRecorded) {
  const ChessNode node = nodes_.start();
  const std::vector<net::HostPort> servers{{.host = "127.0.0.1", .port = 1}, listener(node)};
  History history = make_history();
  framework::ClusterClient client(nodes_.network(), servers,
                                  {.caller = "anna", .observer = &history});
  services::chess::JoinRequest request;
  request.set_seat(services::chess::WHITE);
  ASSERT_TRUE(services::chess::GameClient(client, "g").join(request));
  ASSERT_TRUE(history.flush());

  ASSERT_EQ(calls().size(), 1U);
  const json call = calls()[0];
  EXPECT_EQ(call["method"], "corolane.services.chess.Game/Join");
  EXPECT_EQ(call["object"], "g");
  EXPECT_EQ(call["caller"], "anna");
  EXPECT_EQ(call["sequence"], 1);
  EXPECT_EQ(call["errors"], json::array());
  EXPECT_EQ(call["code"], "ok");
  EXPECT_EQ(call["request"]["seat"], "WHITE");
  EXPECT_TRUE(call["reply"].contains("token"));
  EXPECT_LE(call["begin"], call["end"]);
}

TEST_F(SteadyPlayTest, ARefusalByAnObjectIsFinal) {
  const ChessNode node = nodes_.start();
  const std::vector<net::HostPort> servers{listener(node)};
  History history = make_history();
  framework::ClusterClient client(nodes_.network(), servers,
                                  {.caller = "anna", .observer = &history});
  EXPECT_THAT(services::chess::GameClient(client, "g").look({}), fails_with(Code::not_found));
  ASSERT_TRUE(history.flush());
  EXPECT_EQ(calls()[0]["code"], "not_found");
  EXPECT_EQ(calls()[0]["errors"], json::array());
  EXPECT_FALSE(calls()[0].contains("reply"));
}

TEST_F(SteadyPlayTest, ACallThatReachesNoNodeFailsInTheEnd) {
  const std::vector<net::HostPort> servers{{.host = "127.0.0.1", .port = 1}};
  History history = make_history();
  framework::ClusterClient client(nodes_.network(), servers,
                                  {.patience = 10s, .caller = "anna", .observer = &history});
  const TimePoint start = now();
  EXPECT_FALSE(services::chess::GameClient(client, "g").look({}));
  // It is not repeated when its deadline comes before the next connection, two seconds at most.
  EXPECT_GE(now() - start, 7s);
  EXPECT_LE(now() - start, 11s);
}

TEST_F(SteadyPlayTest, GamesEndAsExpectedThoughANodeCrashes) {
  nodes_.config.finished_kept = 1h;  // The roll call finds all of them.
  ChessNode a = nodes_.join("a");
  ChessNode b = nodes_.join("b");
  ASSERT_TRUE(coroutine::sleep_for(5s));
  Plan plan;
  PlannedGame& game = plan.games.emplace_back();
  game.moves.name = "mate";
  for (const char* san : {"f3", "e5", "g4", "Qh4#"}) game.moves.moves.push_back({san, 1});
  game.expected = {.plies = 4,
                   .outcome = "checkmate",
                   .final_fen = "rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3"};
  Hall hall{.network = nodes_.network(),
            .servers = {listener(a), listener(b)},
            .file = "games.pgn",
            .run = "run",
            .players = {"anna", "ben", "carl"},
            .start_line = StartLine(0),
            .tally = {}};
  History history = make_history();
  auto storm = coroutine::spawn("storm", [&] {
    static_cast<void>(coroutine::sleep_for(3s));
    a.crash();
  });
  const SteadyResult result = play_steadily(
      hall, plan, {.table_count = 5, .last_begin = Deadline::after(15s), .think_time = 100ms},
      history);
  EXPECT_TRUE(storm.join(Deadline::never()));

  EXPECT_THAT(result.failures, IsEmpty());
  EXPECT_GT(result.game_count, 50U);
  hall.servers = {listener(b)};
  const auto ratings = look_at_ratings(hall, result.game_count);
  EXPECT_TRUE(ratings) << ratings;
  ASSERT_TRUE(history.flush());
  std::size_t rolled = 0;
  std::size_t tried_again = 0;
  for (const json& call : calls()) {
    if (call["caller"].get<std::string>().starts_with("run roll call") && call["code"] == "ok") {
      ++rolled;
    }
    if (!call["errors"].empty()) ++tried_again;
  }
  EXPECT_EQ(rolled, result.game_count + 3);
  EXPECT_GT(tried_again, 0U);
}

}  // namespace
}  // namespace corolane::tools::bots
