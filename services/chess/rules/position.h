// SPDX-License-Identifier: MIT
// A position: the pieces, the side to move, and the rights that the past has left.
//
// A plain value of under a hundred bytes that can never hold an impossible position: it begins as
// the starting position or as a checked Setup, and after() leads from one to the next. Every
// position has one king of each colour, and the side that has just moved is not in check.
#pragma once

#include <array>
#include <expected>
#include <optional>
#include <string>
#include <utility>

#include "services/chess/rules/castling.h"
#include "services/chess/rules/move.h"
#include "services/chess/rules/piece.h"
#include "services/chess/rules/square.h"
#include "services/chess/rules/square_set.h"

namespace corolane::services::chess::rules {

class Position {
 public:
  // The parts of a position, not yet checked for consistency.
  struct Setup {
    std::array<std::optional<Piece>, square_count> board;  // In the order of Square.
    Color side_to_move = Color::white;
    CastlingRights castling_rights = CastlingRights::none();
    std::optional<Square> en_passant_square;  // The one that a pawn has just jumped over.
    int halfmove_clock = 0;                   // Half-moves since a pawn moved or a piece was
                                              // captured.
    int fullmove_number = 1;                  // Starts at one, and grows after each move of black.
  };

  // The starting position.
  Position() = default;

  // Fails with "<field of FEN>: <reason>".
  static std::expected<Position, std::string> from(const Setup& setup);

  // The position after `move`, which must be legal here: this does not check it (legal_moves.h
  // does).
  [[nodiscard]] Position after(Move move) const;

  std::optional<Piece> piece_at(Square square) const;
  SquareSet pieces(Color color) const { return colors_[std::to_underlying(color)]; }
  SquareSet pieces(PieceKind kind) const { return kinds_[std::to_underlying(kind)]; }
  SquareSet pieces(Color color, PieceKind kind) const { return pieces(color) & pieces(kind); }
  SquareSet occupied() const { return pieces(Color::white) | pieces(Color::black); }
  Square king_square(Color color) const { return pieces(color, PieceKind::king).first(); }

  Color side_to_move() const { return side_to_move_; }
  CastlingRights castling_rights() const { return castling_rights_; }
  int halfmove_clock() const { return halfmove_clock_; }
  int fullmove_number() const { return fullmove_number_; }

  // Set only when a capture there is legal, so that equal positions compare equal.
  std::optional<Square> en_passant_square() const { return en_passant_square_; }
  // The pawns that may capture there.
  SquareSet en_passant_captors() const;

  // The pieces of `by` that attack `square`. The second form assumes a board on which `occupied`
  // blocks the lines.
  SquareSet attackers_of(Square square, Color by) const;
  SquareSet attackers_of(Square square, Color by, SquareSet occupied) const;

  // Whether the side to move is in check.
  bool in_check() const;
  // Whether `move`, which must be legal here, takes a piece.
  bool is_capture(Move move) const;

  // Equal for the repetition rules: in everything except the two clocks.
  bool repeats(const Position& other) const;

  friend bool operator==(const Position&, const Position&) = default;

 private:
  void put(Piece piece, Square square);
  void remove(SquareSet squares);
  // The pawns of the side to move that may capture en passant on `square`.
  SquareSet captors_on(Square square) const;

  std::array<SquareSet, 6> kinds_{
      SquareSet(0x00FF'0000'0000'FF00), SquareSet(0x4200'0000'0000'0042),
      SquareSet(0x2400'0000'0000'0024), SquareSet(0x8100'0000'0000'0081),
      SquareSet(0x0800'0000'0000'0008), SquareSet(0x1000'0000'0000'0010)};
  std::array<SquareSet, 2> colors_{SquareSet(0x0000'0000'0000'FFFF),
                                   SquareSet(0xFFFF'0000'0000'0000)};
  CastlingRights castling_rights_ = CastlingRights::all();
  std::optional<Square> en_passant_square_;
  Color side_to_move_ = Color::white;
  int halfmove_clock_ = 0;
  int fullmove_number_ = 1;
};

}  // namespace corolane::services::chess::rules
