// SPDX-License-Identifier: MIT
// Moves in the notation of chess engines: the two squares, and the letter of a promotion.
//
//   e2e4   e1g1 (castling)   e7e8q
#pragma once

#include <expected>
#include <string>
#include <string_view>

#include "services/chess/rules/move.h"
#include "services/chess/rules/position.h"

namespace corolane::services::chess::rules {

// Returns a move that is legal in `position`. Fails with `malformed move "...": ...` or
// `illegal move "...": ...` and the reason.
std::expected<Move, std::string> parse_uci(const Position& position, std::string_view text);

std::string to_uci(Move move);

}  // namespace corolane::services::chess::rules
