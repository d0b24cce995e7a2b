// SPDX-License-Identifier: MIT
// A game: a position with the history that the drawing rules need.
//
// Holds no list of moves: repetitions can only lie behind the last capture or pawn move, and the
// seventy-five-move rule bounds that stretch. So a game never keeps more than 151 positions of
// under a hundred bytes, however long it lasts. A value; not thread-safe.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "services/chess/rules/move.h"
#include "services/chess/rules/piece.h"
#include "services/chess/rules/position.h"

namespace corolane::services::chess::rules {

// How the rules alone ended a game. When several apply, the first in this order counts.
enum class Outcome : std::uint8_t {
  unfinished,
  checkmate,
  insufficient_material,  // Kings, with one bishop or knight or with bishops of one square colour.
  stalemate,
  seventyfive_moves,    // By each side, without a capture or a pawn move.
  fivefold_repetition,  // The same position for the fifth time, in a row or not.
};

// "checkmate" and so on, as the enumerators are spelled.
std::string_view to_string(Outcome outcome);

class Game {
 public:
  Game() : Game(Position()) {}
  // A start position that is mate, stalemate or dead makes a game that is over.
  explicit Game(const Position& start);

  // Fails, and changes nothing, with `illegal move "e2e5": <reason>` or "the game is over: ...".
  std::expected<void, std::string> play(Move move);

  // The position on the board; the reference lasts until the next play().
  const Position& position() const { return reversible_.back(); }
  Color side_to_move() const { return position().side_to_move(); }
  // Moves played here, counting both sides.
  int ply() const { return ply_; }

  Outcome outcome() const { return outcome_; }
  bool is_over() const { return outcome_ != Outcome::unfinished; }
  // The side that gave mate; nothing in all other cases.
  std::optional<Color> winner() const;

  // Whether a player may claim a draw for the position on the board: for its third occurrence, or
  // for fifty moves by each side without a capture or a pawn move. Neither ends the game by itself,
  // and neither can be claimed when the game is over.
  bool can_claim_threefold() const;
  bool can_claim_fifty_moves() const;

 private:
  int occurrence_count() const;
  Outcome judge() const;

  // The positions since the last capture or pawn move; the last is the one on the board.
  std::vector<Position> reversible_;
  int ply_ = 0;
  Outcome outcome_;
};

}  // namespace corolane::services::chess::rules
