// SPDX-License-Identifier: MIT
// Cuts PGN text into significant words: tags, moves, results, parentheses. Comments, move numbers
// and annotations are checked and skipped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

namespace corolane::services::chess::rules::detail {

struct PgnToken {
  enum class Kind : std::uint8_t { tag, move, result, variation_begin, variation_end, end };

  Kind kind = Kind::end;
  int line = 0;
  std::string text = {};   // As written; for a tag, its name.
  std::string value = {};  // For a tag, without quotes and escapes.
};

struct PgnDamage {
  int line;
  std::string reason;
};

class PgnScanner {
 public:
  // `text` must outlive the scanner; `line` is the number of its first line.
  PgnScanner(std::string_view text, int line) : rest_(text), line_(line) {}

  // Takes any word that begins like a move for one. Returns a token of kind `end` after the last
  // one, each time; after a failure the result is meaningless.
  std::expected<PgnToken, PgnDamage> next();

  // Fails on an unclosed comment, with the line on which it begins.
  std::expected<void, PgnDamage> skip_blanks_and_comments();

 private:
  std::expected<PgnToken, PgnDamage> read_tag();
  std::expected<std::string, PgnDamage> read_tag_value(std::string_view name);
  PgnToken take_token(PgnToken::Kind kind, std::size_t length);
  std::string_view take(std::size_t length);
  std::unexpected<PgnDamage> damage(std::string reason) const;

  std::string_view rest_;
  int line_;
};

}  // namespace corolane::services::chess::rules::detail
