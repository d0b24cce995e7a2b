// SPDX-License-Identifier: MIT
// The bots against a chess service, over a simulated network.
#include "tools/bots/bot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "coroutine/testing/matchers.h"
#include "test/services/chess/chess_nodes.h"

namespace corolane::tools::bots {
namespace {

using namespace std::chrono_literals;
using services::chess::ChessNode;
using services::chess::ChessNodes;
using test::fails_with;
using testing::HasSubstr;

// A game whose moves are on lines 10, 11, 12 and so on.
PlannedGame game_of(const std::vector<std::string>& moves) {
  PlannedGame game;
  game.moves.name = "mine";
  for (const std::string& san : moves) {
    game.moves.moves.push_back({san, 10 + static_cast<int>(game.moves.moves.size())});
  }
  return game;
}

// A network in which one connection is slower than the others. In the order of a game's bots, 0 is
// white, 1 is black and 2 is the spectator.
class UnevenNetwork final : public net::Network {
 public:
  UnevenNetwork(sim::SimulatedNetwork& network, int slow) : network_(network), slow_(slow) {}

  Result<std::unique_ptr<net::Listener>> listen(const net::Endpoint& endpoint,
                                                net::ListenOptions options) override {
    return network_.listen(endpoint, options);
  }
  Result<std::unique_ptr<net::Stream>> connect(const net::Endpoint& endpoint, Deadline deadline,
                                               net::StreamOptions options) override {
    network_.set_latency(static_cast<int>(called_.size()) == slow_ ? 10ms : 1ms);
    called_.push_back(endpoint);
    return network_.connect(endpoint, deadline, options);
  }
  Result<std::vector<net::Endpoint>> resolve(const net::HostPort& host,
                                             Deadline deadline) override {
    return network_.resolve(host, deadline);
  }

  // The endpoints that were connected to, in order.
  const std::vector<net::Endpoint>& called() const { return called_; }

 private:
  sim::SimulatedNetwork& network_;
  const int slow_;
  std::vector<net::Endpoint> called_;
};

net::HostPort listener(const ChessNode& node) {
  const net::Endpoint& endpoint = node.node->endpoints().clients;
  return {endpoint.address, endpoint.port};
}

// `first_count` is the number of bots that must arrive before the first game begins.
Hall make_hall(net::Network& network, std::vector<net::HostPort> servers,
               std::size_t first_count = 0) {
  return {.network = network,
          .servers = std::move(servers),
          .file = "games.pgn",
          .run = "run",
          .players = {"anna", "ben", "carl"},
          .start_line = StartLine(first_count),
          .tally = {}};
}

// Plays one game on a node of its own. Returns its failure, or "".
std::string play(const PlannedGame& game, int slow_bot, bool begins_later = false) {
  ChessNodes nodes;
  const ChessNode node = nodes.start();
  UnevenNetwork network(nodes.network(), slow_bot);
  Hall hall = make_hall(network, {listener(node)}, begins_later ? 0 : 3);
  return play_game(hall, game);
}

TEST(BotTest, AGameThatEndsAsWrittenDoesNotFail) {
  EXPECT_EQ(play(game_of({"f3", "e5", "g4", "Qh4#"}), 0), "");
}

// The hall holds back only the first games; each later game has to wait for its own players.
TEST(BotTest, AGameThatBeginsLaterWaitsForItsOwnPlayers) {
  for (const int slow_bot : {0, 1, 2}) {
    EXPECT_EQ(play(game_of({"f3", "e5", "g4", "Qh4#"}), slow_bot, true), "");
  }
}

// The other bots notice the resignation that follows it, perhaps before the player's call returns.
TEST(BotTest, AFailedMoveIsReportedWhicheverBotNoticesFirst) {
  for (const int slow_bot : {0, 1, 2}) {
    EXPECT_EQ(play(game_of({"f3", "e5", "g4", "Qh4#", "e4"}), slow_bot),
              "games.pgn:14: game \"mine\", ply 5: the game is over: checkmate");
    EXPECT_EQ(play(game_of({"e4", "e5", "Ke3"}), slow_bot),
              "games.pgn:12: game \"mine\", ply 3: illegal move \"Ke3\": no king of white can "
              "reach e3");
    EXPECT_EQ(play(game_of({"e4", "Ke6", "e5"}), slow_bot),
              "games.pgn:11: game \"mine\", ply 2: illegal move \"Ke6\": no king of black can "
              "reach e6");
  }
}

TEST(BotTest, BotsAreSpreadOverAllNodes) {
  ChessNodes nodes;
  const ChessNode a = nodes.join("a");
  const ChessNode b = nodes.join("b");
  const ChessNode c = nodes.join("c");
  ASSERT_TRUE(coroutine::sleep_for(5s));
  UnevenNetwork network(nodes.network(), 0);
  Hall hall = make_hall(network, {listener(a), listener(b), listener(c)});
  EXPECT_EQ(play_game(hall, game_of({"f3", "e5", "g4", "Qh4#"})), "");
  EXPECT_THAT(network.called(), testing::UnorderedElementsAre(a.node->endpoints().clients,
                                                              b.node->endpoints().clients,
                                                              c.node->endpoints().clients));
  const auto ratings = look_at_ratings(make_hall(nodes.network(), hall.servers), 1);
  ASSERT_TRUE(ratings) << ratings;
  EXPECT_EQ(ratings->lowest, 1'490);
  EXPECT_EQ(ratings->highest, 1'510);
}

TEST(BotTest, EveryPlayerMeetsEveryOther) {
  ChessNodes nodes;
  const ChessNode node = nodes.start();
  Hall hall = make_hall(nodes.network(), {listener(node)});
  PlannedGame game = game_of({"f3", "e5", "g4", "Qh4#"});
  for (int i = 1; i <= 6; ++i) {
    game.moves.name = std::to_string(i);
    game.moves.ordinal = i;
    ASSERT_EQ(play_game(hall, game), "");
  }
  EXPECT_TRUE(look_at_ratings(hall, 6));
  for (const std::string& player : hall.players) {
    const auto seen = node.player(player).look({});
    ASSERT_TRUE(seen) << seen;
    EXPECT_EQ(seen->wins(), 2U) << player;
    EXPECT_EQ(seen->losses(), 2U) << player;
  }
}

TEST(BotTest, GamesOfAnEarlierRunDoNotInterfere) {
  ChessNodes nodes;
  const ChessNode node = nodes.start();
  for (const char* run : {"first", "second"}) {
    Hall hall = make_hall(nodes.network(), {listener(node)});
    hall.run = run;
    EXPECT_EQ(play_game(hall, game_of({"f3", "e5", "g4", "Qh4#"})), "");
  }
}

TEST(BotTest, MissingResultsAreReported) {
  ChessNodes nodes;
  const ChessNode node = nodes.start();
  Hall hall = make_hall(nodes.network(), {listener(node)});
  EXPECT_EQ(play_game(hall, game_of({"f3", "e5", "g4", "Qh4#"})), "");
  const TimePoint start = now();
  const auto ratings = look_at_ratings(hall, 2);
  ASSERT_THAT(ratings, fails_with(Code::data_loss));
  EXPECT_THAT(ratings.error().message(), HasSubstr("changed by 0 after 2 results of 4"));
  EXPECT_GE(now() - start, 30s);
}

TEST(BotTest, AForgedWinWithoutALoserIsReported) {
  ChessNodes nodes;
  const ChessNode node = nodes.start();
  Hall hall = make_hall(nodes.network(), {listener(node)});
  services::chess::AddGameRequest forged;
  forged.set_rating_change(10);
  forged.set_result(services::chess::AddGameRequest::WIN);
  for (const char* player : {"anna", "ben"}) {
    ASSERT_TRUE(node.player(player).add_game(forged));
  }
  const auto ratings = look_at_ratings(hall, 1);
  ASSERT_THAT(ratings, fails_with(Code::data_loss));
  EXPECT_THAT(ratings.error().message(), HasSubstr("the sum of all ratings changed by 20 after"));
}

}  // namespace
}  // namespace corolane::tools::bots
