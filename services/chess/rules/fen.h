// SPDX-License-Identifier: MIT
// Positions as text in Forsyth-Edwards notation:
//
//   rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1
//
// that is placement from rank 8 to rank 1, side to move, castling, en passant, half-move clock
// and full-move number.
#pragma once

#include <expected>
#include <string>
#include <string_view>

#include "services/chess/rules/position.h"

namespace corolane::services::chess::rules {

// The two clocks may be omitted together and are then 0 and 1. Fails with "<field>: <reason>", for
// example "placement: rank 3 has 9 squares"; a position that no game can reach (two white kings, a
// pawn on a8) fails too.
std::expected<Position, std::string> parse_fen(std::string_view text);

// All six fields; the en passant square only when a capture there is legal.
std::string to_fen(const Position& position);

}  // namespace corolane::services::chess::rules
