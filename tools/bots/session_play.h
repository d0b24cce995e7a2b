// SPDX-License-Identifier: MIT
// Bots as real players are: each logs in, keeps a session over sockets that break, makes its own
// moves, and learns of the opponent's only by what it is pushed.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "coroutine/base/clock.h"
#include "coroutine/base/histogram.h"
#include "tools/bots/bot.h"
#include "tools/bots/notices.h"
#include "tools/bots/plan.h"

namespace corolane::tools::bots {

struct SessionPlay {
  std::string secret;               // Signs the tokens of the players.
  std::size_t table_count_max = 1;  // Games at the same time.
  Duration length{};                // The time over which the moves of all games are spread.
};

struct SessionResult {
  std::vector<std::string> failures;   // A line for each game that did not end as expected.
  std::vector<std::string> mistakes;   // A line for each mistake in what a player was told.
  std::vector<std::string> late;       // A line for each notice that came seconds late.
  std::size_t game_count = 0;          // Games that ended as expected.
  std::size_t looked_up_count = 0;     // Moves whose reply was lost, so that they were looked up.
  std::size_t seated_again_count = 0;  // Games begun anew, as the reply to a Join was lost.
  NoticeCounts notices;
  Histogram away_ms;    // How long clients were without a connection, each time.
  Histogram notice_ms;  // How long after the reply to a move the opponent was told of it.

  // All but the lines above, as text.
  std::string summary() const;
};

// Plays each game of the plan once. Suspends.
SessionResult play_with_sessions(Hall& hall, const Plan& plan, const SessionPlay& play);

// As look_at_ratings() of bot.h, through a client that has logged in and whose sockets may break.
Result<Ratings> look_at_ratings_with_token(const Hall& hall, const SessionPlay& play,
                                           std::size_t game_count);

}  // namespace corolane::tools::bots
