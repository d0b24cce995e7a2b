// SPDX-License-Identifier: MIT
// Reads and writes moves as pairs of squares.
#include "services/chess/rules/uci.h"

#include <algorithm>
#include <optional>

#include "services/chess/rules/detail/quote.h"
#include "services/chess/rules/legal_moves.h"

namespace corolane::services::chess::rules {
namespace {

char promotion_letter(PieceKind kind) { return static_cast<char>(letter_of(kind) - 'A' + 'a'); }

std::optional<Move> parse_shape(std::string_view text) {
  if (text.size() != 4 && text.size() != 5) return std::nullopt;
  const auto from = parse_square(text.substr(0, 2));
  const auto to = parse_square(text.substr(2, 2));
  if (!from || !to) return std::nullopt;

  Move move{*from, *to};
  if (text.size() == 5) {
    const auto kind = std::ranges::find(promotion_kinds, text[4], promotion_letter);
    if (kind == promotion_kinds.end()) return std::nullopt;
    move.promotion = *kind;
  }
  return move;
}

}  // namespace

std::expected<Move, std::string> parse_uci(const Position& position, std::string_view text) {
  const auto move = parse_shape(text);
  if (!move) {
    return std::unexpected("malformed move " + detail::quote(text) +
                           ": expected two squares, as in e2e4 or e7e8q");
  }
  if (const auto reason = why_illegal(position, *move)) {
    return std::unexpected("illegal move " + detail::quote(text) + ": " + *reason);
  }
  return *move;
}

std::string to_uci(Move move) {
  std::string text = to_string(move.from) + to_string(move.to);
  if (move.is_promotion()) text += promotion_letter(move.promotion);
  return text;
}

}  // namespace corolane::services::chess::rules
