// SPDX-License-Identifier: MIT
// How each kind of piece moves.
#include "services/chess/rules/detail/targets.h"

#include <utility>

#include "services/chess/rules/detail/attacks.h"

namespace corolane::services::chess::rules::detail {
namespace {

SquareSet pawn_pushes(const Position& position, Color color, Square from) {
  const int forward = color == Color::white ? 1 : -1;
  const int home_rank = color == Color::white ? 1 : 6;

  const Square one = square_at(file_of(from), rank_of(from) + forward);
  if (position.occupied().contains(one)) return {};
  if (rank_of(from) != home_rank) return one;

  const Square two = square_at(file_of(from), rank_of(from) + 2 * forward);
  return position.occupied().contains(two) ? SquareSet(one) : SquareSet(one) | two;
}

SquareSet pawn_captures(const Position& position, Color color, Square from) {
  SquareSet prey = position.pieces(opponent_of(color));
  if (const auto square = position.en_passant_square();
      square && color == position.side_to_move()) {
    prey |= *square;
  }
  return pawn_attacks(color, from) & prey;
}

}  // namespace

SquareSet targets_of(const Position& position, Square from) {
  const auto piece = position.piece_at(from);
  if (!piece) return {};

  const SquareSet occupied = position.occupied();
  const SquareSet free = SquareSet::all() - position.pieces(piece->color);
  switch (piece->kind) {
    case PieceKind::pawn:
      return pawn_pushes(position, piece->color, from) |
             pawn_captures(position, piece->color, from);
    case PieceKind::knight:
      return knight_attacks(from) & free;
    case PieceKind::bishop:
      return bishop_attacks(from, occupied) & free;
    case PieceKind::rook:
      return rook_attacks(from, occupied) & free;
    case PieceKind::queen:
      return (bishop_attacks(from, occupied) | rook_attacks(from, occupied)) & free;
    case PieceKind::king:
      return king_attacks(from) & free;
  }
  std::unreachable();
}

}  // namespace corolane::services::chess::rules::detail
