// SPDX-License-Identifier: MIT
// Moves in standard algebraic notation, as people write them: the piece, the part of its origin
// that distinguishes it, "x" for a capture, the target, "=Q" for a promotion, "+" or "#".
//
//   e4   exd5   Nbd2   R1xa3   e8=Q+   O-O   Qxf7#
#pragma once

#include <expected>
#include <string>
#include <string_view>

#include "services/chess/rules/move.h"
#include "services/chess/rules/position.h"

namespace corolane::services::chess::rules {

// Returns a move that is legal in `position`. Marks at the end ("+", "#", "!", "?") may be missing,
// superfluous or wrong; more of the origin than needed is fine; everything else must be right,
// including the "x". Fails with the text and the reason:
//
//   malformed move "Nf9": expected algebraic notation, such as Nf3, exd5, e8=Q or O-O
//   illegal move "Nf6": no knight of white can reach f6
//   ambiguous move "Nd2": knights on b1 and f3 both reach d2
std::expected<Move, std::string> parse_san(const Position& position, std::string_view text);

// The shortest form, with its check or mate mark. `move` must be legal in `position`.
std::string to_san(const Position& position, Move move);

}  // namespace corolane::services::chess::rules
