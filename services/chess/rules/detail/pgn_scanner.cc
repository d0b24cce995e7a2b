// SPDX-License-Identifier: MIT
// The words of PGN.
#include "services/chess/rules/detail/pgn_scanner.h"

#include <algorithm>
#include <array>
#include <utility>

#include "services/chess/rules/detail/quote.h"

namespace corolane::services::chess::rules::detail {
namespace {

using Kind = PgnToken::Kind;

constexpr std::string_view blanks_in_line = " \t\r\v\f";
constexpr std::string_view blanks = " \t\r\v\f\n";
constexpr std::string_view digits = "0123456789";

bool is_name_letter(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
         (letter >= '0' && letter <= '9') || letter == '_';
}

// The number of characters at the beginning of `text` that are among `letters`.
std::size_t count_leading(std::string_view text, std::string_view letters) {
  return std::min(text.find_first_not_of(letters), text.size());
}

// Ends before the next blank or mark; at least one character.
std::string_view first_word(std::string_view text) {
  return text.substr(0, text.find_first_of(" \t\r\v\f\n()[]{};\"*$", 1));
}

bool is_result(std::string_view word) {
  constexpr std::array<std::string_view, 3> results{"1-0", "0-1", "1/2-1/2"};
  return std::ranges::find(results, word) != results.end();
}

bool begins_like_move(std::string_view word) {
  return std::string_view("KQRBNOabcdefgh").find(word.front()) != std::string_view::npos;
}

// The length of "12." or "12..." or "12" at the beginning of `word`; zero for any other word. The
// move may follow without a blank.
std::size_t move_number_length(std::string_view word) {
  const std::size_t number = count_leading(word, digits);
  const std::size_t dots = count_leading(word.substr(number), ".");
  const bool is_number = dots > 0 || number == word.size();
  return is_number ? number + dots : 0;
}

// The length of "$12" at the beginning of `word`; zero for any other word.
std::size_t annotation_length(std::string_view word) {
  if (word.front() != '$' || word.size() == 1) return 0;
  return count_leading(word.substr(1), digits) == word.size() - 1 ? word.size() : 0;
}

}  // namespace

std::expected<PgnToken, PgnDamage> PgnScanner::next() {
  for (;;) {
    if (auto skipped = skip_blanks_and_comments(); !skipped) {
      return std::unexpected(skipped.error());
    }
    if (rest_.empty()) return take_token(Kind::end, 0);
    switch (rest_.front()) {
      case '[':
        return read_tag();
      case '(':
        return take_token(Kind::variation_begin, 1);
      case ')':
        return take_token(Kind::variation_end, 1);
      case '*':
        return take_token(Kind::result, 1);
      default:
        break;
    }
    const std::string_view word = first_word(rest_);
    if (is_result(word)) return take_token(Kind::result, word.size());
    if (begins_like_move(word)) return take_token(Kind::move, word.size());

    const std::size_t skipped = std::max(move_number_length(word), annotation_length(word));
    if (skipped == 0) return damage("unknown token " + quote(word));
    take(skipped);
  }
}

std::expected<void, PgnDamage> PgnScanner::skip_blanks_and_comments() {
  for (;;) {
    take(count_leading(rest_, blanks));
    if (rest_.starts_with(';')) {
      take(std::min(rest_.find('\n'), rest_.size()));
    } else if (rest_.starts_with('{')) {
      const std::size_t end = rest_.find('}');
      if (end == std::string_view::npos) return damage("unterminated comment");
      take(end + 1);
    } else {
      return {};
    }
  }
}

// A tag ends on the line on which it begins.
std::expected<PgnToken, PgnDamage> PgnScanner::read_tag() {
  PgnToken token = take_token(Kind::tag, 1);
  take(count_leading(rest_, blanks_in_line));
  const auto name_end = std::ranges::find_if_not(rest_, is_name_letter);
  token.text = take(static_cast<std::size_t>(name_end - rest_.begin()));
  if (token.text.empty()) return damage("tag without a name");

  take(count_leading(rest_, blanks_in_line));
  if (rest_.empty() || rest_.front() == '\n') {
    return damage("unterminated tag " + quote(token.text));
  }
  if (rest_.front() != '"') return damage("no value in quotes in tag " + quote(token.text));
  auto value = read_tag_value(token.text);
  if (!value) return std::unexpected(value.error());
  token.value = *std::move(value);

  take(count_leading(rest_, blanks_in_line));
  if (!rest_.starts_with(']')) return damage("unterminated tag " + quote(token.text));
  take(1);
  return token;
}

std::expected<std::string, PgnDamage> PgnScanner::read_tag_value(std::string_view name) {
  std::string value;
  take(1);
  while (!rest_.empty() && rest_.front() != '\n') {
    if (rest_.front() == '"') {
      take(1);
      return value;
    }
    if (rest_.starts_with("\\\"") || rest_.starts_with("\\\\")) take(1);
    value += take(1);
  }
  return damage("unterminated string in tag " + quote(name));
}

PgnToken PgnScanner::take_token(Kind kind, std::size_t length) {
  const int line = line_;
  return {.kind = kind, .line = line, .text = std::string(take(length))};
}

std::string_view PgnScanner::take(std::size_t length) {
  const std::string_view taken = rest_.substr(0, length);
  line_ += static_cast<int>(std::ranges::count(taken, '\n'));
  rest_.remove_prefix(length);
  return taken;
}

std::unexpected<PgnDamage> PgnScanner::damage(std::string reason) const {
  return std::unexpected(PgnDamage{line_, std::move(reason)});
}

}  // namespace corolane::services::chess::rules::detail
