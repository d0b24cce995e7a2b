// SPDX-License-Identifier: MIT
// One move of one side, by its squares.
#pragma once

#include "services/chess/rules/piece.h"
#include "services/chess/rules/square.h"

namespace corolane::services::chess::rules {

// Castling is the king's move of two files: e1 to g1. Whether a move is legal, and what it does,
// depends on the position: legal_moves.h and Position::after().
struct Move {
  Square from = Square::a1;
  Square to = Square::a1;
  PieceKind promotion = PieceKind::pawn;  // The kind that the pawn becomes; pawn means no
                                          // promotion.

  constexpr bool is_promotion() const { return promotion != PieceKind::pawn; }

  friend constexpr bool operator==(const Move&, const Move&) = default;
};

}  // namespace corolane::services::chess::rules
