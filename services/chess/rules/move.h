// One move of one side, as the squares it is made on.
#pragma once

#include <optional>

#include "services/chess/rules/piece.h"
#include "services/chess/rules/square.h"

namespace corolane::services::chess::rules {

// Castling is the king's move of two files: e1 to g1. Whether a move is legal, and what it does,
// depends on the position: legal_moves.h and Position::after().
struct Move {
  Square from = Square::a1;
  Square to = Square::a1;
  std::optional<PieceKind> promotion = std::nullopt;

  friend constexpr bool operator==(const Move&, const Move&) = default;
};

}  // namespace corolane::services::chess::rules
