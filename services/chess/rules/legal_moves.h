// SPDX-License-Identifier: MIT
// The moves that the rules allow, and the reason when they forbid one.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "services/chess/rules/castling.h"
#include "services/chess/rules/move.h"
#include "services/chess/rules/position.h"

namespace corolane::services::chess::rules {

// Every legal move once, in an order that depends only on the position. Empty means mate or,
// without a check, stalemate.
std::vector<Move> legal_moves(const Position& position);

// Nothing when `move` is legal; else the reason, such as "the pawn on e2 cannot go to e5".
std::optional<std::string> why_illegal(const Position& position, Move move);

// Nothing when the side to move may castle on that wing now; else the reason, such as "the king
// is in check".
std::optional<std::string_view> castling_obstacle(const Position& position, Wing wing);

}  // namespace corolane::services::chess::rules
