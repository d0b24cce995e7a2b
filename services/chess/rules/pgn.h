// Reads games in Portable Game Notation.
//
//   [Event "Online game"]
//   [Site "game-001"]
//
//   1. e4 e5 {a comment} 2. Nf3 $1 (2. f4 exf4) Nc6! 1-0 ; the rest of this line
//
// A text of many games is worth reading even if some are damaged. So the text is first cut into
// sections: one begins at each line that starts with "[" and a letter and is the first of the
// text or follows a blank line. Whatever is wrong inside a section, an unclosed comment even,
// ends with it.
//
// Moves are not checked: that takes a Game and parse_san(). Comments, annotations ($1) and
// variations must be well formed, and are skipped.
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
  std::string san;  // As written, with its marks: "Nf3!".
  int line;

  friend bool operator==(const PgnMove&, const PgnMove&) = default;
};

struct PgnGame {
  std::string name;  // The value of the Site tag; empty without one.
  int ordinal;       // The first game of the text is 1; damaged ones count.
  int line;          // Where the game begins; the first line of the text is 1.
  std::vector<PgnTag> tags;
  std::vector<PgnMove> moves;
  std::string result;  // "1-0", "0-1", "1/2-1/2" or "*".
};

struct PgnFailure {
  std::string name;  // Empty when the damage comes before the Site tag.
  int ordinal;
  int line;  // Where the damage is; for what has no end, where it begins.
  int ply;   // Moves read before it.
  std::string reason;
};

// The games of `text` in their order. Takes time and memory in proportion to the text.
std::vector<std::expected<PgnGame, PgnFailure>> read_pgn(std::string_view text);

}  // namespace corolane::services::chess::rules
