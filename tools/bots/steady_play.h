// SPDX-License-Identifier: MIT
// Bots that play continuously, whatever happens to the nodes: game after game, with direct calls of
// the objects, each recorded in the history.
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
  Deadline last_begin;           // No game begins later.
  Duration think_time{};         // Before each move; 20 times as long at every other table.
};

struct SteadyResult {
  std::size_t game_count = 0;         // Games that ended, as expected or not.
  std::vector<std::string> failures;  // A line for each that did not end as expected.
};

// Plays until the last game has ended, then looks at each game and each player once. Suspends.
SteadyResult play_steadily(Hall& hall, const Plan& plan, const SteadyPlay& play, History& history);

}  // namespace corolane::tools::bots
