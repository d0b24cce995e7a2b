// Bots that play all the time, whatever happens to the nodes: game after game, by calls of the
// objects themselves, each of which is in the history.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "coroutine/base/clock.h"
#include "coroutine/base/deadline.h"
#include "tools/bots/bot.h"
#include "tools/bots/history.h"
#include "tools/bots/plan.h"

namespace corolane::tools::bots {

struct SteadyPlay {
  std::size_t table_count = 40;  // Games at the same time.
  Deadline last_begin;           // Later no game begins.
  Duration think_time{};         // Before each move; at every other table twenty times as long.
};

struct SteadyResult {
  std::size_t game_count = 0;         // That ended, as expected or not.
  std::vector<std::string> failures;  // A line for each that did not end as expected.
};

// Plays until the last game has ended, then looks at each game and each player once. Suspends.
SteadyResult play_steadily(Hall& hall, const Plan& plan, const SteadyPlay& play, History& history);

}  // namespace corolane::tools::bots
