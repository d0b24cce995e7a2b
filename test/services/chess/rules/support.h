// SPDX-License-Identifier: MIT
// Helpers for the tests of the rules: positions from FEN, sets of squares, test data.
#pragma once

#include <fstream>
#include <initializer_list>
#include <ostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>

#include "services/chess/rules/fen.h"
#include "services/chess/rules/position.h"
#include "services/chess/rules/square_set.h"

namespace corolane::services::chess::rules {

// Throws, and so fails the test, when `fen` is not a position.
inline Position position_of(std::string_view fen) {
  auto position = parse_fen(fen);
  if (!position) throw std::invalid_argument(position.error());
  return *position;
}

inline SquareSet squares(std::initializer_list<Square> members) {
  SquareSet set;
  for (const Square square : members) set |= square;
  return set;
}

// The text of a file in test/data/chess; tests run in the root of the repository.
inline std::string read_chess_data(std::string_view name) {
  const std::string path = "test/data/chess/" + std::string(name);
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// For messages of failing tests.
inline std::ostream& operator<<(std::ostream& out, Square square) {
  return out << to_string(square);
}
inline std::ostream& operator<<(std::ostream& out, const Position& position) {
  return out << to_fen(position);
}

}  // namespace corolane::services::chess::rules
