// SPDX-License-Identifier: MIT
// The squares that a piece attacks from its square.
//
// Attacks ignore the piece on the attacked square: a defended piece counts as attacked.
#pragma once

#include "services/chess/rules/piece.h"
#include "services/chess/rules/square.h"
#include "services/chess/rules/square_set.h"

namespace corolane::services::chess::rules::detail {

// The squares on which a pawn of `color` on `square` may capture.
SquareSet pawn_attacks(Color color, Square square);
SquareSet knight_attacks(Square square);
SquareSet king_attacks(Square square);

// Each line ends at its first square of `occupied`, that square included.
SquareSet bishop_attacks(Square square, SquareSet occupied);
SquareSet rook_attacks(Square square, SquareSet occupied);

// The squares strictly between two on one rank, file or diagonal; empty for any other two.
SquareSet between(Square a, Square b);

}  // namespace corolane::services::chess::rules::detail
