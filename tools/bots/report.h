// SPDX-License-Identifier: MIT
// The table printed at the end of a run of the bots.
#pragma once

#include <string>

#include "coroutine/base/clock.h"
#include "tools/bots/bot.h"

namespace corolane::tools::bots {

struct Summary {
  std::size_t game_count = 0;  // Games in the file, including damaged ones.
  Duration elapsed{};
};

// `node_stats` is the JSON of the node's own /stats page; empty when the node has no endpoint.
std::string make_table(const Summary& summary, const Tally& tally, const std::string& node_stats);

}  // namespace corolane::tools::bots
