// The bots against a chess service, over the simulated network.
#include "tools/bots/bot.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "rpc/server.h"
#include "services/chess/chess_service.h"
#include "test/sim/network.h"

namespace corolane::tools::bots {
namespace {

using namespace std::chrono_literals;

// A game whose moves stand on lines 10, 11, 12 and so on.
PlannedGame game_of(const std::vector<std::string>& moves) {
  PlannedGame game;
  game.moves.name = "mine";
  for (const std::string& san : moves) {
    game.moves.moves.push_back({san, 10 + static_cast<int>(game.moves.moves.size())});
  }
  return game;
}

// One connection answers later than the others: in the order of a game's bots, white, black and
// spectator, 0 to 2.
class UnevenNetwork final : public net::Network {
 public:
  explicit UnevenNetwork(int slow) : slow_(slow) {}

  Result<std::unique_ptr<net::Listener>> listen(const net::Endpoint& endpoint,
                                                net::ListenOptions options) override {
    return network_.listen(endpoint, options);
  }
  Result<std::unique_ptr<net::Stream>> connect(const net::Endpoint& endpoint, Deadline deadline,
                                               net::StreamOptions options) override {
    network_.set_latency(connection_count_++ == slow_ ? 10ms : 1ms);
    return network_.connect(endpoint, deadline, options);
  }
  Result<std::vector<net::Endpoint>> resolve(const net::HostPort& host,
                                             Deadline deadline) override {
    return network_.resolve(host, deadline);
  }

 private:
  sim::SimulatedNetwork network_;
  const int slow_;
  int connection_count_ = 0;
};

// Plays one game on a node of its own. Returns why it failed.
std::string play(const PlannedGame& game, int slow_bot, bool begins_later = false) {
  UnevenNetwork network(slow_bot);
  services::chess::ChessService service({});
  rpc::Server server(network);
  EXPECT_TRUE(server.add(service));
  EXPECT_TRUE(server.listen({"server", 1}));
  Hall hall{.network = network,
            .server = {"server", 1},
            .file = "games.pgn",
            .start_line = StartLine(3),
            .tally = {}};
  if (begins_later) {
    for (int bot = 0; bot < 3; ++bot) hall.start_line.arrive();  // Those of the first games.
  }
  return play_game(hall, game);
}

TEST(BotTest, AGameThatEndsAsWrittenIsNoFailure) {
  EXPECT_EQ(play(game_of({"f3", "e5", "g4", "Qh4#"}), 0), "");
}

// The hall holds the first games back; each later one has to wait for its own players.
TEST(BotTest, AGameThatBeginsLaterWaitsForItsOwnPlayers) {
  for (const int slow_bot : {0, 1, 2}) {
    EXPECT_EQ(play(game_of({"f3", "e5", "g4", "Qh4#"}), slow_bot, true), "");
  }
}

// The others hear of the resignation that follows it, perhaps before the player does.
TEST(BotTest, AMoveThatFailsIsTheFailureWhoeverHearsFirst) {
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

}  // namespace
}  // namespace corolane::tools::bots
