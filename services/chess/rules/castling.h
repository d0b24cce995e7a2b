// SPDX-License-Identifier: MIT
// Castling: the squares of its pieces, and the rights that are left.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "services/chess/rules/move.h"
#include "services/chess/rules/piece.h"
#include "services/chess/rules/square.h"
#include "services/chess/rules/square_set.h"

namespace corolane::services::chess::rules {

enum class Wing : std::uint8_t { king_side, queen_side };

inline constexpr std::array wings{Wing::king_side, Wing::queen_side};

struct CastlingSquares {
  Square king_from;
  Square king_to;
  Square rook_from;
  Square rook_to;
};

constexpr CastlingSquares castling_squares(Color color, Wing wing) {
  const int rank = color == Color::white ? 0 : 7;
  const bool short_side = wing == Wing::king_side;
  return {.king_from = square_at(4, rank),
          .king_to = square_at(short_side ? 6 : 2, rank),
          .rook_from = square_at(short_side ? 7 : 0, rank),
          .rook_to = square_at(short_side ? 5 : 3, rank)};
}

// The wing on which a king's move castles; nothing for an ordinary move.
constexpr std::optional<Wing> castling_wing(Color color, Move king_move) {
  for (const Wing wing : wings) {
    const CastlingSquares squares = castling_squares(color, wing);
    if (king_move.from == squares.king_from && king_move.to == squares.king_to) return wing;
  }
  return std::nullopt;
}

// The castling rights that the moves made so far have left.
class CastlingRights {
 public:
  static constexpr CastlingRights none() { return {}; }
  static constexpr CastlingRights all() {
    CastlingRights rights;
    for (const Color color : colors) {
      for (const Wing wing : wings) rights.grant(color, wing);
    }
    return rights;
  }

  constexpr bool has(Color color, Wing wing) const {
    return rooks_.contains(castling_squares(color, wing).rook_from);
  }

  constexpr void grant(Color color, Wing wing) {
    rooks_ |= castling_squares(color, wing).rook_from;
  }

  // Called when a piece leaves or reaches these squares: revokes every right whose king or rook
  // starts on one of them.
  constexpr void revoke(SquareSet touched) {
    rooks_ -= touched;
    if (touched.contains(Square::e1)) rooks_ -= SquareSet::rank(0);
    if (touched.contains(Square::e8)) rooks_ -= SquareSet::rank(7);
  }

  friend constexpr bool operator==(CastlingRights, CastlingRights) = default;

 private:
  SquareSet rooks_;  // First squares of the rooks that may still castle.
};

}  // namespace corolane::services::chess::rules
