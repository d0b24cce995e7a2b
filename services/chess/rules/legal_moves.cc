// SPDX-License-Identifier: MIT
// Legal moves without trial and error: first the constraints of the king's safety on all other
// pieces (answer the check, stay on the line of a pin), then the targets that comply.
#include "services/chess/rules/legal_moves.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "services/chess/rules/detail/attacks.h"
#include "services/chess/rules/detail/targets.h"

namespace corolane::services::chess::rules {
namespace {

// The constraints that the safety of the king puts on the other pieces of its side.
class KingSafety {
 public:
  explicit KingSafety(const Position& position) {
    const Color us = position.side_to_move();
    const Square king = position.king_square(us);
    find_answers(king, position.attackers_of(king, opponent_of(us)));
    find_pins(position, king);
  }

  // The squares to which the piece on `from` may go without exposing the king or leaving it in
  // check.
  SquareSet allowed(Square from) const {
    if (!pinned_.contains(from)) return answers_;
    for (const SquareSet line : pin_lines_) {
      if (line.contains(from)) return answers_ & line;
    }
    std::unreachable();
  }

 private:
  void find_answers(Square king, SquareSet checkers) {
    if (checkers.size() == 1) {
      answers_ = checkers | detail::between(king, checkers.first());
    } else if (checkers.size() > 1) {
      answers_ = {};  // Only the king itself can leave a double check.
    }
  }

  void find_pins(const Position& position, Square king) {
    const Color us = position.side_to_move();
    const SquareSet queens = position.pieces(PieceKind::queen);
    const SquareSet snipers =
        position.pieces(opponent_of(us)) &
        ((detail::bishop_attacks(king, {}) & (position.pieces(PieceKind::bishop) | queens)) |
         (detail::rook_attacks(king, {}) & (position.pieces(PieceKind::rook) | queens)));

    std::size_t pin_count = 0;
    for (const Square sniper : snipers) {
      const SquareSet gap = detail::between(king, sniper);
      const SquareSet shield = gap & position.occupied();
      if (shield.size() != 1 || !shield.intersects(position.pieces(us))) continue;
      pinned_ |= shield;
      pin_lines_[pin_count++] = gap | sniper;
    }
  }

  SquareSet answers_ = SquareSet::all();
  SquareSet pinned_;
  std::array<SquareSet, 8> pin_lines_;  // From the king, not included, to the pinning piece.
};

int last_rank(Color color) { return color == Color::white ? 7 : 0; }

void add_moves(Square from, SquareSet targets, std::vector<Move>& moves) {
  for (const Square to : targets) moves.push_back({from, to});
}

void add_pawn_moves(Color us, Square from, SquareSet targets, std::vector<Move>& moves) {
  const SquareSet promotions = targets & SquareSet::rank(last_rank(us));
  for (const Square to : promotions) {
    for (const PieceKind kind : promotion_kinds) moves.push_back({from, to, kind});
  }
  add_moves(from, targets - promotions, moves);
}

void add_king_moves(const Position& position, std::vector<Move>& moves) {
  const Color us = position.side_to_move();
  const Square king = position.king_square(us);
  // The king itself does not shield the squares behind it from a piece that attacks it.
  const SquareSet others = position.occupied() - king;
  SquareSet safe;
  for (const Square to : detail::targets_of(position, king)) {
    if (position.attackers_of(to, opponent_of(us), others).empty()) safe |= to;
  }
  add_moves(king, safe, moves);
  for (const Wing wing : wings) {
    if (castling_obstacle(position, wing)) continue;
    moves.push_back({king, castling_squares(us, wing).king_to});
  }
}

// Why the promotion of a move is wrong, for a piece that can reach the square.
std::optional<std::string> why_no_promotion(Color us, PieceKind kind, Move move) {
  const bool must_promote = kind == PieceKind::pawn && rank_of(move.to) == last_rank(us);
  if (must_promote && !move.is_promotion()) {
    return "the pawn that reaches " + to_string(move.to) + " must promote";
  }
  if (!must_promote && move.is_promotion()) {
    return "only a pawn that reaches the last rank promotes";
  }
  if (move.promotion == PieceKind::king) return "a pawn cannot become a king";
  return std::nullopt;
}

}  // namespace

std::vector<Move> legal_moves(const Position& position) {
  const Color us = position.side_to_move();
  const KingSafety safety(position);
  const SquareSet pawns = position.pieces(us, PieceKind::pawn);
  const SquareSet captors = position.en_passant_captors();

  std::vector<Move> moves;
  moves.reserve(48);
  add_king_moves(position, moves);
  for (const Square from : pawns) {
    SquareSet targets = detail::targets_of(position, from);
    // En passant has its own legality check, which the position has already made.
    const auto jumped = position.en_passant_square();
    if (jumped) targets -= *jumped;
    targets &= safety.allowed(from);
    if (captors.contains(from)) targets |= *jumped;
    add_pawn_moves(us, from, targets, moves);
  }
  for (const Square from : position.pieces(us) - pawns - position.pieces(PieceKind::king)) {
    add_moves(from, detail::targets_of(position, from) & safety.allowed(from), moves);
  }
  return moves;
}

std::optional<std::string> why_illegal(const Position& position, Move move) {
  const auto moves = legal_moves(position);
  if (std::ranges::find(moves, move) != moves.end()) return std::nullopt;

  const Color us = position.side_to_move();
  const auto piece = position.piece_at(move.from);
  if (!piece) return "there is no piece on " + to_string(move.from);
  if (piece->color != us) {
    return "the " + std::string(to_string(piece->kind)) + " on " + to_string(move.from) +
           " is not " + std::string(to_string(us)) + "'s";
  }
  if (piece->kind == PieceKind::king) {
    const auto wing = castling_wing(us, move);
    const auto obstacle = wing ? castling_obstacle(position, *wing) : std::nullopt;
    if (obstacle) return std::string(*obstacle);
  }
  if (!detail::targets_of(position, move.from).contains(move.to)) {
    return "the " + std::string(to_string(piece->kind)) + " on " + to_string(move.from) +
           " cannot go to " + to_string(move.to);
  }
  if (auto reason = why_no_promotion(us, piece->kind, move)) return reason;
  return "it would leave " + std::string(to_string(us)) + "'s king in check";
}

std::optional<std::string_view> castling_obstacle(const Position& position, Wing wing) {
  const Color us = position.side_to_move();
  const CastlingSquares squares = castling_squares(us, wing);
  if (!position.castling_rights().has(us, wing)) return "the right to castle there is lost";
  if (detail::between(squares.king_from, squares.rook_from).intersects(position.occupied())) {
    return "a piece stands between king and rook";
  }
  if (position.in_check()) return "the king is in check";
  for (const Square square :
       detail::between(squares.king_from, squares.king_to) | squares.king_to) {
    if (!position.attackers_of(square, opponent_of(us)).empty()) {
      return "the king would cross or reach an attacked square";
    }
  }
  return std::nullopt;
}

}  // namespace corolane::services::chess::rules
