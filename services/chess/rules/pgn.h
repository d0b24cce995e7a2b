// SPDX-License-Identifier: MIT
// Reads games in Portable Game Notation.
//
//   [Event "Online game"]
//   [Site "game-001"]
//
//   1. e4 e5 {a comment} 2. Nf3 $1 (2. f4 exf4) Nc6! 1-0 ; the rest of this line
//
// A text of many games is worth reading even if some are damaged. So it is first cut into sections,
// each of which begins at a tag on the first line or on one that follows a blank line. Damage
// inside a section, even an unclosed comment, ends with the section. (A line of a comment that
// follows a blank line may begin with "[%", but with no other bracket.)
//
// Moves are not checked: use a Game and parse_san() for that. Comments, annotations ($1) and
// variations must be well formed, and are skipped, as is a byte order mark.
#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <vector>

namespace corolane::services::chess::rules {

struct PgnTag {
  std::string name;
  std::string value;

  friend bool operator==(const PgnTag&, const PgnTag&) = default;
};

struct PgnMove {
  std::string san;  // With its marks, as in the text: "Nf3!".
  int line = 0;

  friend bool operator==(const PgnMove&, const PgnMove&) = default;
};

struct PgnGame {
  std::string name;  // The value of the Site tag; empty without one.
  int ordinal = 0;   // The first game of the text is 1; damaged ones count.
  int line = 0;      // Where the game begins; the first line of the text is 1.
  std::vector<PgnTag> tags;
  std::vector<PgnMove> moves;
  std::string result;  // "1-0", "0-1", "1/2-1/2" or "*".
};

struct PgnFailure {
  std::string name;  // Empty when the damage comes before the Site tag.
  int ordinal = 0;
  int line = 0;  // The line of the damage; for an unterminated part, the line where it begins.
  int ply = 0;   // Moves read before it.
  std::string reason;
};

// The games of `text` in order. Takes time and memory in proportion to the text.
std::vector<std::expected<PgnGame, PgnFailure>> read_pgn(std::string_view text);

}  // namespace corolane::services::chess::rules
