// The bots: each is a coroutine with a connection of its own that plays or watches one game.
#pragma once

#include <cstddef>
#include <string>

#include "coroutine/base/deadline.h"
#include "coroutine/base/histogram.h"
#include "coroutine/base/result.h"
#include "coroutine/latch.h"
#include "net/network.h"
#include "tools/bots/plan.h"

namespace corolane::tools::bots {

// What all bots have done together.
struct Tally {
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
  net::HostPort server;
  std::string file;  // The games come from here: for messages.
  StartLine start_line;
  Tally tally;
};

// Plays one game to its end with three bots: two players and a spectator. Suspends. Returns why
// the game did not end as expected, as a line for people; nothing when it did.
std::string play_game(Hall& hall, const PlannedGame& game);

}  // namespace corolane::tools::bots
