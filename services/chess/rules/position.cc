// SPDX-License-Identifier: MIT
// Positions: the conditions for a Setup, and the effect of a move.
#include "services/chess/rules/position.h"

#include "services/chess/rules/detail/attacks.h"

namespace corolane::services::chess::rules {
namespace {

using Checked = std::expected<void, std::string>;

Checked check_men(const Position& position, Color color) {
  const std::string owner = "placement: " + std::string(to_string(color)) + " has ";
  if (const int kings = position.pieces(color, PieceKind::king).size(); kings != 1) {
    return std::unexpected(owner + std::to_string(kings) + " kings, not one");
  }
  if (const int men = position.pieces(color).size(); men > 16) {
    return std::unexpected(owner + std::to_string(men) + " men, more than 16");
  }
  if (const int pawns = position.pieces(color, PieceKind::pawn).size(); pawns > 8) {
    return std::unexpected(owner + std::to_string(pawns) + " pawns, more than 8");
  }
  return {};
}

Checked check_placement(const Position& position) {
  for (const Color color : colors) {
    if (auto men = check_men(position, color); !men) return men;
  }
  const SquareSet stray =
      position.pieces(PieceKind::pawn) & (SquareSet::rank(0) | SquareSet::rank(7));
  if (!stray.empty()) {
    return std::unexpected("placement: a pawn stands on " + to_string(stray.first()));
  }
  return {};
}

Checked check_castling(const Position& position, Color color) {
  for (const Wing wing : wings) {
    if (!position.castling_rights().has(color, wing)) continue;
    const CastlingSquares squares = castling_squares(color, wing);
    if (position.piece_at(squares.king_from) == Piece{color, PieceKind::king} &&
        position.piece_at(squares.rook_from) == Piece{color, PieceKind::rook}) {
      continue;
    }
    return std::unexpected("castling: " + std::string(to_string(color)) + " has no king on " +
                           to_string(squares.king_from) + " with a rook on " +
                           to_string(squares.rook_from));
  }
  return {};
}

// `square` is the one that a pawn of the side that has just moved jumped over.
Checked check_en_passant(const Position& position, Square square) {
  const Color them = opponent_of(position.side_to_move());
  const int forward = them == Color::white ? 1 : -1;
  const int passed_rank = them == Color::white ? 2 : 5;
  if (rank_of(square) != passed_rank) {
    return std::unexpected("en passant: " + to_string(square) + " is not on rank " +
                           rank_digit(passed_rank));
  }
  const Square from = square_at(file_of(square), passed_rank - forward);
  const Square to = square_at(file_of(square), passed_rank + forward);
  if (position.piece_at(to) != Piece{them, PieceKind::pawn}) {
    return std::unexpected("en passant: no pawn of " + std::string(to_string(them)) +
                           " stands on " + to_string(to));
  }
  if (position.occupied().intersects(SquareSet(from) | square)) {
    return std::unexpected("en passant: the pawn on " + to_string(to) + " cannot have come from " +
                           to_string(from));
  }
  return {};
}

}  // namespace

std::expected<Position, std::string> Position::from(const Setup& setup) {
  Position position;
  position.remove(SquareSet::all());
  for (const Square square : SquareSet::all()) {
    if (const auto piece = setup.board[std::to_underlying(square)]) position.put(*piece, square);
  }
  position.castling_rights_ = setup.castling_rights;
  position.side_to_move_ = setup.side_to_move;
  position.halfmove_clock_ = setup.halfmove_clock;
  position.fullmove_number_ = setup.fullmove_number;

  if (auto placed = check_placement(position); !placed) {
    return std::unexpected(placed.error());
  }
  for (const Color color : colors) {
    if (auto rights = check_castling(position, color); !rights) {
      return std::unexpected(rights.error());
    }
  }
  const Color us = setup.side_to_move;
  const Color them = opponent_of(us);
  if (!position.attackers_of(position.king_square(them), us).empty()) {
    return std::unexpected("side to move: " + std::string(to_string(us)) +
                           " is to move and could take the king of " +
                           std::string(to_string(them)));
  }
  if (const auto square = setup.en_passant_square) {
    if (auto jumped = check_en_passant(position, *square); !jumped) {
      return std::unexpected(jumped.error());
    }
    if (!position.captors_on(*square).empty()) position.en_passant_square_ = square;
  }
  return position;
}

Position Position::after(Move move) const {
  const Color us = side_to_move_;
  const PieceKind kind = piece_at(move.from)->kind;
  const bool is_pawn = kind == PieceKind::pawn;
  const int rank_step = rank_of(move.to) - rank_of(move.from);

  Position next = *this;
  next.remove(SquareSet(move.from) | move.to);
  next.put({us, move.is_promotion() ? move.promotion : kind}, move.to);
  if (is_pawn && move.to == en_passant_square_) {
    next.remove(square_at(file_of(move.to), rank_of(move.from)));
  }
  if (kind == PieceKind::king) {
    if (const auto wing = castling_wing(us, move)) {
      const CastlingSquares squares = castling_squares(us, *wing);
      next.remove(squares.rook_from);
      next.put({us, PieceKind::rook}, squares.rook_to);
    }
  }

  next.castling_rights_.revoke(SquareSet(move.from) | move.to);
  next.halfmove_clock_ = is_pawn || is_capture(move) ? 0 : halfmove_clock_ + 1;
  next.fullmove_number_ = fullmove_number_ + (us == Color::black ? 1 : 0);
  next.side_to_move_ = opponent_of(us);
  next.en_passant_square_.reset();
  if (is_pawn && (rank_step == 2 || rank_step == -2)) {
    const Square jumped = square_at(file_of(move.to), rank_of(move.from) + rank_step / 2);
    if (!next.captors_on(jumped).empty()) next.en_passant_square_ = jumped;
  }
  return next;
}

std::optional<Piece> Position::piece_at(Square square) const {
  if (!occupied().contains(square)) return std::nullopt;
  const Color color = pieces(Color::white).contains(square) ? Color::white : Color::black;
  for (const PieceKind kind : piece_kinds) {
    if (pieces(kind).contains(square)) return Piece{color, kind};
  }
  std::unreachable();
}

SquareSet Position::en_passant_captors() const {
  return en_passant_square_ ? captors_on(*en_passant_square_) : SquareSet();
}

SquareSet Position::attackers_of(Square square, Color by) const {
  return attackers_of(square, by, occupied());
}

SquareSet Position::attackers_of(Square square, Color by, SquareSet occupied) const {
  // Attacks are mutual: a piece of some kind on `square` would attack exactly the pieces of that
  // kind that attack it.
  const SquareSet queens = pieces(PieceKind::queen);
  const SquareSet attackers =
      (detail::pawn_attacks(opponent_of(by), square) & pieces(PieceKind::pawn)) |
      (detail::knight_attacks(square) & pieces(PieceKind::knight)) |
      (detail::king_attacks(square) & pieces(PieceKind::king)) |
      (detail::bishop_attacks(square, occupied) & (pieces(PieceKind::bishop) | queens)) |
      (detail::rook_attacks(square, occupied) & (pieces(PieceKind::rook) | queens));
  return attackers & pieces(by);
}

bool Position::in_check() const {
  return !attackers_of(king_square(side_to_move_), opponent_of(side_to_move_)).empty();
}

bool Position::is_capture(Move move) const {
  if (occupied().contains(move.to)) return true;
  return move.to == en_passant_square_ && pieces(PieceKind::pawn).contains(move.from);
}

bool Position::repeats(const Position& other) const {
  return kinds_ == other.kinds_ && colors_ == other.colors_ &&
         side_to_move_ == other.side_to_move_ && castling_rights_ == other.castling_rights_ &&
         en_passant_square_ == other.en_passant_square_;
}

void Position::put(Piece piece, Square square) {
  kinds_[std::to_underlying(piece.kind)] |= square;
  colors_[std::to_underlying(piece.color)] |= square;
}

void Position::remove(SquareSet squares) {
  for (SquareSet& kind : kinds_) kind -= squares;
  for (SquareSet& color : colors_) color -= squares;
}

SquareSet Position::captors_on(Square square) const {
  const Color us = side_to_move_;
  const Color them = opponent_of(us);
  const SquareSet candidates = detail::pawn_attacks(them, square) & pieces(us, PieceKind::pawn);

  // Two pawns leave one rank at once, which pin detection does not foresee: try each on the board.
  SquareSet captors;
  for (const Square from : candidates) {
    const Square victim = square_at(file_of(square), rank_of(from));
    const SquareSet occupied_after = (occupied() - from - victim) | square;
    const SquareSet checkers = attackers_of(king_square(us), them, occupied_after) - victim;
    if (checkers.empty()) captors |= from;
  }
  return captors;
}

}  // namespace corolane::services::chess::rules
