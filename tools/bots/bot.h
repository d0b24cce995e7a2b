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

namespace corolane::tools::bots {

// What all bots have done together.
struct Tally {
  std::size_t bot_count = 0;
  std::size_t call_count = 0;
  std::size_t move_count = 0;
  std::size_t connection_count = 0;
  std::size_t playing_count = 0;  // Games that are being played now.
  std::size_t playing_count_peak = 0;
  // Of the calls that the server answers at once; a wait_move lasts as long as the opponent
  // thinks.
  Histogram call_us;
};

// Holds the first `bot_count` bots until all of them have taken their places, so that their games
// are played at the same time. Later ones pass at once.
class StartLine {
 public:
  explicit StartLine(std::size_t bot_count) : everybody_(bot_count, "start of the games") {}

  // A bot that cannot play arrives too, or the others would wait for it.
  void arrive() {
    if (!everybody_.try_wait()) everybody_.count_down();
  }
  // Suspends until everybody has arrived.
  Result<void> wait(Deadline deadline) { return everybody_.wait(deadline); }

 private:
  coroutine::Latch everybody_;
};

struct Hall {
  net::Network& network;
  std::vector<net::HostPort> servers;  // Each bot takes the next one.
  std::string file;                    // The games come from here: for messages.
  std::string run;                     // Before the name of each game: those of earlier runs stay.
  std::vector<std::string> players;    // Who play them, in turn; at least two.
  StartLine start_line;
  Tally tally;
};

// Who sits there: two who are not the same; everybody meets everybody.
const std::string& player_of(const Hall& hall, const PlannedGame& game, services::chess::Seat seat);

// How the end of a game differs from what was expected, for people; empty when it does not.
std::string compare(const services::chess::GameState& state, const Expected& expected);

// Plays one game to its end with three bots: two players and a spectator. Suspends. Returns why
// the game did not end as expected, as a line for people; nothing when it did.
std::string play_game(Hall& hall, const PlannedGame& game);

struct Ratings {
  std::int32_t lowest = 0;
  std::int32_t highest = 0;
};

// The ratings of all players after so many games. Suspends until they have the results of all of
// them, at most half a minute. Fails with data_loss when they do not, or when some have won what
// nobody has lost.
Result<Ratings> look_at_ratings(const Hall& hall, std::size_t game_count);

}  // namespace corolane::tools::bots
