// SPDX-License-Identifier: MIT
// Reads and writes Forsyth-Edwards notation, one field per function.
#include "services/chess/rules/fen.h"

#include <charconv>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "services/chess/rules/detail/quote.h"

namespace corolane::services::chess::rules {
namespace {

using detail::quote;
using Board = decltype(Position::Setup::board);
using Unexpected = std::unexpected<std::string>;

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::optional<Piece> parse_piece(char letter) {
  const bool is_upper = letter >= 'A' && letter <= 'Z';
  const bool is_lower = letter >= 'a' && letter <= 'z';
  if (!is_upper && !is_lower) return std::nullopt;
  const auto kind = kind_from_letter(is_upper ? letter : static_cast<char>(letter - 'a' + 'A'));
  if (!kind) return std::nullopt;
  return Piece{is_upper ? Color::white : Color::black, *kind};
}

char fen_letter(Piece piece) {
  const char upper = letter_of(piece.kind);
  return piece.color == Color::white ? upper : static_cast<char>(upper - 'A' + 'a');
}

std::expected<void, std::string> read_rank(std::string_view text, int rank, Board& board) {
  const std::string where = std::string("placement: rank ") + rank_digit(rank);
  int file = 0;
  bool after_digit = false;
  for (const char letter : text) {
    const bool is_digit = letter >= '1' && letter <= '8';
    const auto piece = parse_piece(letter);
    if (!is_digit && !piece) return Unexpected(where + " has " + quote({&letter, 1}));
    if (is_digit && after_digit) return Unexpected(where + " has two digits in a row");
    if (piece && file < 8) board[std::to_underlying(square_at(file, rank))] = *piece;
    file += is_digit ? letter - '0' : 1;
    after_digit = is_digit;
  }
  if (file != 8) return Unexpected(where + " has " + std::to_string(file) + " squares");
  return {};
}

std::expected<Board, std::string> parse_placement(std::string_view text) {
  const auto ranks = split(text, '/');
  if (ranks.size() != 8) {
    return Unexpected("placement: expected 8 ranks, got " + std::to_string(ranks.size()));
  }
  Board board;
  for (int index = 0; index < 8; ++index) {
    auto read = read_rank(ranks[static_cast<std::size_t>(index)], 7 - index, board);
    if (!read) return Unexpected(read.error());
  }
  return board;
}

std::expected<Color, std::string> parse_side(std::string_view text) {
  if (text == "w") return Color::white;
  if (text == "b") return Color::black;
  return Unexpected("side to move: expected w or b, got " + quote(text));
}

char castling_letter(Color color, Wing wing) {
  return fen_letter({color, wing == Wing::king_side ? PieceKind::king : PieceKind::queen});
}

std::expected<CastlingRights, std::string> parse_castling(std::string_view text) {
  auto rights = CastlingRights::none();
  if (text == "-") return rights;
  const Unexpected failure("castling: expected - or letters of KQkq, each once, got " +
                           quote(text));
  if (text.empty()) return failure;
  for (const char letter : text) {
    const auto piece = parse_piece(letter);
    if (!piece) return failure;
    const Wing wing = piece->kind == PieceKind::king ? Wing::king_side : Wing::queen_side;
    if (letter != castling_letter(piece->color, wing)) return failure;
    if (rights.has(piece->color, wing)) return failure;
    rights.grant(piece->color, wing);
  }
  return rights;
}

std::expected<std::optional<Square>, std::string> parse_en_passant(std::string_view text) {
  if (text == "-") return std::nullopt;
  const auto square = parse_square(text);
  if (!square) return Unexpected("en passant: expected - or a square, got " + quote(text));
  return square;
}

std::expected<int, std::string> parse_clock(std::string_view field, std::string_view text,
                                            int min) {
  constexpr int max = 9999;  // No game reaches it: seventy-five idle moves end one.
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < min || value > max) {
    return Unexpected(std::string(field) + ": expected a number from " + std::to_string(min) +
                      " to " + std::to_string(max) + ", got " + quote(text));
  }
  return value;
}

std::string placement_of(const Position& position) {
  std::string text;
  for (int rank = 7; rank >= 0; --rank) {
    int gap = 0;
    for (int file = 0; file < 8; ++file) {
      const auto piece = position.piece_at(square_at(file, rank));
      if (!piece) {
        ++gap;
        continue;
      }
      if (gap > 0) text += std::to_string(std::exchange(gap, 0));
      text += fen_letter(*piece);
    }
    if (gap > 0) text += std::to_string(gap);
    if (rank > 0) text += '/';
  }
  return text;
}

std::string castling_of(const Position& position) {
  std::string text;
  for (const Color color : colors) {
    for (const Wing wing : wings) {
      if (position.castling_rights().has(color, wing)) text += castling_letter(color, wing);
    }
  }
  return text.empty() ? "-" : text;
}

}  // namespace

std::expected<Position, std::string> parse_fen(std::string_view text) {
  const auto fields = split(text, ' ');
  if (fields.size() != 6 && fields.size() != 4) {
    return Unexpected("fields: expected 6, or 4 without the clocks, got " +
                      std::to_string(fields.size()));
  }
  Position::Setup setup;

  auto board = parse_placement(fields[0]);
  if (!board) return Unexpected(board.error());
  setup.board = *board;

  auto side = parse_side(fields[1]);
  if (!side) return Unexpected(side.error());
  setup.side_to_move = *side;

  auto rights = parse_castling(fields[2]);
  if (!rights) return Unexpected(rights.error());
  setup.castling_rights = *rights;

  auto square = parse_en_passant(fields[3]);
  if (!square) return Unexpected(square.error());
  setup.en_passant_square = *square;

  if (fields.size() == 6) {
    auto halfmoves = parse_clock("half-move clock", fields[4], 0);
    if (!halfmoves) return Unexpected(halfmoves.error());
    setup.halfmove_clock = *halfmoves;

    auto fullmoves = parse_clock("full-move number", fields[5], 1);
    if (!fullmoves) return Unexpected(fullmoves.error());
    setup.fullmove_number = *fullmoves;
  }
  return Position::from(setup);
}

std::string to_fen(const Position& position) {
  const auto en_passant = position.en_passant_square();
  return placement_of(position) + (position.side_to_move() == Color::white ? " w " : " b ") +
         castling_of(position) + ' ' + (en_passant ? to_string(*en_passant) : "-") + ' ' +
         std::to_string(position.halfmove_clock()) + ' ' +
         std::to_string(position.fullmove_number());
}

}  // namespace corolane::services::chess::rules
