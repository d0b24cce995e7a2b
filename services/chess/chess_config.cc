// SPDX-License-Identifier: MIT
#include "services/chess/chess_config.h"

#include "config/section.h"

namespace corolane::services::chess {

using namespace std::chrono_literals;

void describe(config::Section& section, ChessConfig& value) {
  section.field("clock", value.clock, "Thinking time of each side for the whole game.",
                config::between(1s, 24h));
  section.field("seat_time_max", value.seat_time_max,
                "How long a room waits for its second player before it closes.",
                config::between(1s, 24h));
  section.field("finished_kept", value.finished_kept,
                "How long a finished game keeps its name, to be looked at.",
                config::between(0s, 24h));
}

}  // namespace corolane::services::chess
