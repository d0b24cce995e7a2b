// Cuts one section of PGN text into the words that matter: tags, moves, results, parentheses.
// Comments, move numbers and annotations are checked and skipped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

namespace corolane::services::chess::rules::detail {

struct PgnToken {
  enum class Kind : std::uint8_t { tag, move, result, variation_begin, variation_end, end };

  Kind kind;
  int line;
  std::string text;   // Of a move or a result as written; of a tag its name.
  std::string value;  // Of a tag, without quotes and escapes.
};

struct PgnDamage {
  int line;
  std::string reason;
};

class PgnScanner {
 public:
  // `text` must outlive the scanner; `line` is the number of its first line.
  PgnScanner(std::string_view text, int line) : rest_(text), line_(line) {}

  // After the last token, always one of kind `end`. After a failure, do not call it again.
  std::expected<PgnToken, PgnDamage> next();

  // Whether nothing but the end is left, comments aside. Fails on an unclosed comment.
  std::expected<bool, PgnDamage> at_end();

 private:
  std::expected<void, PgnDamage> skip_blanks_and_comments();
  std::expected<void, PgnDamage> skip_comment();
  std::expected<PgnToken, PgnDamage> read_tag();
  std::expected<std::string, PgnDamage> read_tag_value(std::string_view name);
  std::string_view take_word();
  PgnToken take_letter(PgnToken::Kind kind);
  std::string_view take_while(bool (*belongs)(char));
  void take(std::size_t length);
  std::unexpected<PgnDamage> damage(std::string reason) const;

  std::string_view rest_;
  int line_;
  bool at_line_start_ = true;
};

}  // namespace corolane::services::chess::rules::detail
