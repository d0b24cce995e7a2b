// SPDX-License-Identifier: MIT
// Reads and writes standard algebraic notation. Reading selects from the legal moves; only a
// failure is examined further, for its reason.
#include "services/chess/rules/san.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "services/chess/rules/detail/quote.h"
#include "services/chess/rules/detail/targets.h"
#include "services/chess/rules/legal_moves.h"

namespace corolane::services::chess::rules {
namespace {

// The contents of the text of a move that is not castling.
struct Description {
  PieceKind kind = PieceKind::pawn;
  std::optional<int> from_file;
  std::optional<int> from_rank;
  bool is_capture = false;
  Square to = Square::a1;
  PieceKind promotion = PieceKind::pawn;  // As in Move: pawn means no promotion.

  bool fits_origin(Square from) const {
    return from_file.value_or(file_of(from)) == file_of(from) &&
           from_rank.value_or(rank_of(from)) == rank_of(from);
  }
};

std::string_view castling_text(Wing wing) { return wing == Wing::king_side ? "O-O" : "O-O-O"; }

std::string_view without_marks(std::string_view text) {
  return text.substr(0, text.find_last_not_of("+#!?") + 1);
}

// Removes the last character of `text` if `parse` accepts it.
template <typename Parse>
auto take_last(std::string_view& text, Parse parse) -> decltype(parse(' ')) {
  if (text.empty()) return {};
  auto value = parse(text.back());
  if (value) text.remove_suffix(1);
  return value;
}

std::optional<PieceKind> parse_promotion(char letter) {
  const auto kind = std::ranges::find(promotion_kinds, letter, letter_of);
  if (kind == promotion_kinds.end()) return std::nullopt;
  return *kind;
}

// Nothing when the text is not algebraic notation at all.
std::optional<Description> describe(std::string_view text) {
  Description move;
  if (text.size() >= 2 && text[text.size() - 2] == '=') {
    const auto promotion = take_last(text, parse_promotion);
    if (!promotion) return std::nullopt;
    move.promotion = *promotion;
    text.remove_suffix(1);
  }
  if (!text.empty() && text.front() != letter_of(PieceKind::pawn)) {
    if (const auto kind = kind_from_letter(text.front())) {
      move.kind = *kind;
      text.remove_prefix(1);
    }
  }
  if (text.size() < 2) return std::nullopt;
  const auto to = parse_square(text.substr(text.size() - 2));
  if (!to) return std::nullopt;
  move.to = *to;
  text.remove_suffix(2);

  if (text.ends_with('x')) {
    move.is_capture = true;
    text.remove_suffix(1);
  }
  move.from_rank = take_last(text, parse_rank);
  move.from_file = take_last(text, parse_file);
  if (!text.empty()) return std::nullopt;

  // A pawn gives its file if and only if it captures, and only a pawn promotes.
  const bool is_pawn = move.kind == PieceKind::pawn;
  if (is_pawn && (move.from_rank || move.from_file.has_value() != move.is_capture)) {
    return std::nullopt;
  }
  if (!is_pawn && move.promotion != PieceKind::pawn) return std::nullopt;
  return move;
}

// Castling is excluded: it has a notation of its own.
std::vector<Move> matching_moves(const Position& position, const Description& wanted) {
  auto moves = legal_moves(position);
  std::erase_if(moves, [&](const Move& move) {
    return move.to != wanted.to || move.promotion != wanted.promotion ||
           !wanted.fits_origin(move.from) || !position.pieces(wanted.kind).contains(move.from) ||
           !detail::targets_of(position, move.from).contains(move.to);
  });
  return moves;
}

std::string name_origin(const Description& move) {
  if (move.from_file && move.from_rank) {
    return " from " + to_string(square_at(*move.from_file, *move.from_rank));
  }
  if (move.from_file) return std::string(" from the ") + file_letter(*move.from_file) + "-file";
  if (move.from_rank) return std::string(" from rank ") + rank_digit(*move.from_rank);
  return {};
}

std::string why_none(const Position& position, const Description& move) {
  const Color us = position.side_to_move();
  for (const Square from : position.pieces(us, move.kind)) {
    if (!move.fits_origin(from)) continue;
    if (!detail::targets_of(position, from).contains(move.to)) continue;
    if (auto reason = why_illegal(position, {from, move.to, move.promotion})) return *reason;
  }
  return "no " + std::string(to_string(move.kind)) + " of " + std::string(to_string(us)) +
         " can reach " + to_string(move.to) + name_origin(move);
}

// "knights on b1 and f3 both reach d2".
std::string why_ambiguous(const std::vector<Move>& moves, const Description& move) {
  std::string text = std::string(to_string(move.kind)) + "s on " + to_string(moves[0].from);
  for (std::size_t index = 1; index < moves.size(); ++index) {
    text += index + 1 < moves.size() ? ", " : " and ";
    text += to_string(moves[index].from);
  }
  return text + (moves.size() == 2 ? " both" : " all") + " reach " + to_string(move.to);
}

std::expected<Move, std::string> parse_castling(const Position& position, Wing wing) {
  if (const auto obstacle = castling_obstacle(position, wing)) {
    return std::unexpected(std::string(*obstacle));
  }
  const CastlingSquares squares = castling_squares(position.side_to_move(), wing);
  return Move{squares.king_from, squares.king_to};
}

// The part of the origin of `move` that distinguishes it from the other legal moves of its kind.
std::string disambiguation(const Position& position, PieceKind kind, Move move) {
  bool is_alone = true;
  bool has_file_alone = true;
  bool has_rank_alone = true;
  for (const Move& rival : legal_moves(position)) {
    if (rival.to != move.to || rival.from == move.from) continue;
    if (!position.pieces(kind).contains(rival.from)) continue;
    is_alone = false;
    if (file_of(rival.from) == file_of(move.from)) has_file_alone = false;
    if (rank_of(rival.from) == rank_of(move.from)) has_rank_alone = false;
  }
  if (is_alone) return {};
  if (has_file_alone) return {file_letter(file_of(move.from))};
  if (has_rank_alone) return {rank_digit(rank_of(move.from))};
  return to_string(move.from);
}

std::string body_of(const Position& position, Move move) {
  const PieceKind kind = position.piece_at(move.from)->kind;
  if (kind == PieceKind::king) {
    if (const auto wing = castling_wing(position.side_to_move(), move)) {
      return std::string(castling_text(*wing));
    }
  }
  const bool is_capture = position.is_capture(move);
  std::string text;
  if (kind != PieceKind::pawn) {
    text = letter_of(kind) + disambiguation(position, kind, move);
  } else if (is_capture) {
    text = file_letter(file_of(move.from));
  }
  if (is_capture) text += 'x';
  text += to_string(move.to);
  if (move.is_promotion()) text += {'=', letter_of(move.promotion)};
  return text;
}

}  // namespace

std::expected<Move, std::string> parse_san(const Position& position, std::string_view text) {
  const auto failure = [&](std::string_view verdict, std::string_view reason) {
    return std::unexpected(std::string(verdict) + " move " + detail::quote(text) + ": " +
                           std::string(reason));
  };
  const std::string_view body = without_marks(text);
  for (const Wing wing : wings) {
    if (body != castling_text(wing)) continue;
    auto move = parse_castling(position, wing);
    if (!move) return failure("illegal", move.error());
    return *move;
  }

  const auto wanted = describe(body);
  if (!wanted) {
    return failure("malformed", "expected algebraic notation, such as Nf3, exd5, e8=Q or O-O");
  }
  const auto moves = matching_moves(position, *wanted);
  if (moves.empty()) return failure("illegal", why_none(position, *wanted));
  if (moves.size() > 1) return failure("ambiguous", why_ambiguous(moves, *wanted));
  if (wanted->is_capture && !position.is_capture(moves[0])) {
    return failure("illegal", "there is nothing to capture on " + to_string(wanted->to));
  }
  if (!wanted->is_capture && position.is_capture(moves[0])) {
    return failure("illegal", "it captures on " + to_string(wanted->to) + " and lacks its x");
  }
  return moves[0];
}

std::string to_san(const Position& position, Move move) {
  std::string text = body_of(position, move);
  const Position next = position.after(move);
  if (next.in_check()) text += legal_moves(next).empty() ? '#' : '+';
  return text;
}

}  // namespace corolane::services::chess::rules
