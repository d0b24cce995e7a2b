// SPDX-License-Identifier: MIT
// The bots: each is a coroutine with a connection of its own that plays or watches one game.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "coroutine/base/deadline.h"
#include "coroutine/base/histogram.h"
#include "coroutine/base/result.h"
#include "coroutine/sync/latch.h"
#include "net/network.h"
#include "services/chess/chess.pb.h"
#include "tools/bots/plan.h"

namespace corolane::rpc {
class Client;
}

namespace corolane::tools::bots {

// The combined counts of all bots.
struct Tally {
  std::size_t bot_count = 0;
  std::size_t call_count = 0;
  std::size_t move_count = 0;
  std::size_t connection_count = 0;
  std::size_t playing_count = 0;  // Games in progress.
  std::size_t playing_count_peak = 0;
  // Latencies of calls that the server answers at once. wait_move is left out, since it lasts as
  // long as the opponent thinks.
  Histogram call_us;
};

// Holds the first `bot_count` bots until all of them have taken their places, so that their games
// run at the same time. Later bots pass at once.
class StartLine {
 public:
  explicit StartLine(std::size_t bot_count) : everybody_(bot_count, "start of the games") {}

  // A bot that cannot play must arrive too; otherwise the others would wait for it.
  void arrive() {
    if (!everybody_.try_wait()) everybody_.count_down();
  }
  // Suspends until all bots have arrived.
  Result<void> wait(Deadline deadline) { return everybody_.wait(deadline); }

 private:
  coroutine::Latch everybody_;
};

struct Hall {
  net::Network& network;
  std::vector<net::HostPort> servers;  // Bots use them in turn.
  std::string file;                    // The file of the games, for messages.
  std::string run;                     // The prefix of each game's name; it differs in each run.
  std::vector<std::string> players;    // The players, used in turn; at least two.
  StartLine start_line;
  Tally tally;
};

// The name of the player in that seat. The two players of a game differ, and over many games every
// player meets every other.
const std::string& player_of(const Hall& hall, const PlannedGame& game, services::chess::Seat seat);

// Describes how the end of a game differs from what was expected; empty when it does not.
std::string compare(const services::chess::GameState& state, const Expected& expected);

// Plays one game to its end with three bots: two players and a spectator. Suspends. Returns a line
// that says why the game did not end as expected, or "".
std::string play_game(Hall& hall, const PlannedGame& game);

struct Ratings {
  std::int32_t lowest = 0;
  std::int32_t highest = 0;
};

// The range of all ratings after `game_count` games. Suspends for at most half a minute until the
// players have the results of all games. Fails with data_loss when results are missing, or when the
// rating changes do not sum to zero.
Result<Ratings> look_at_ratings(const Hall& hall, std::size_t game_count);
// The same through that client, whose connections may break meanwhile.
Result<Ratings> look_at_ratings(rpc::Client& client, const std::vector<std::string>& players,
                                std::size_t game_count);

}  // namespace corolane::tools::bots
