// Quoting, UTF-8 and spelling.
#include "config/detail/text.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace corolane::config::detail {
namespace {

constexpr std::size_t excerpt_length_max = 60;
constexpr std::size_t word_length_max = 64;  // Nobody mistypes a key into something longer.

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

void append_escaped(std::string& out, char c) {
  constexpr std::string_view hex_digits = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  if (c == '"' || c == '\\') {
    out.append({'\\', c});
  } else if (c == '\n') {
    out.append("\\n");
  } else if (c == '\t') {
    out.append("\\t");
  } else if (byte < 0x20 || byte == 0x7f) {
    out.append({'\\', 'x', hex_digits[byte >> 4], hex_digits[byte & 0xf]});
  } else {
    out.push_back(c);
  }
}

// Length of the one well-formed character at the start of `text`, zero when there is none.
std::size_t character_length(std::string_view text) {
  const auto byte = [&](std::size_t i) -> std::uint32_t {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
  };
  const std::uint32_t lead = byte(0);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4) return 0;
  // The second byte excludes overlong forms, surrogates and what is above U+10FFFF.
  const std::uint32_t second_min = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
  const std::uint32_t second_max = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
  if (byte(1) < second_min || byte(1) > second_max) return 0;
  for (std::size_t i = 2; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  return length;
}

std::string folded(std::string_view word) {
  std::string result(word);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (c == '-') c = '_';
  }
  return result;
}

// How many insertions, deletions, replacements and swaps of neighbours lie between two words.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> two_rows_up(b.size() + 1);
  std::vector<std::size_t> row_up(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::swap(two_rows_up, row_up);
    std::swap(row_up, row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = row_up[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({row_up[j] + 1, row[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], two_rows_up[j - 2] + 1);
      }
    }
  }
  return row[b.size()];
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) append_escaped(result, c);
  return result;
}

std::string quote(std::string_view text) { return '"' + escaped(text) + '"'; }

std::string excerpt(std::string_view text) {
  if (text.size() <= excerpt_length_max) return quote(text);
  std::size_t length = excerpt_length_max;
  while (length > 0 && is_continuation(text[length])) --length;
  return quote(text.substr(0, length)) + "...";
}

std::size_t utf8_length(std::string_view text) {
  std::size_t length = 0;
  while (length < text.size()) {
    const std::size_t next = character_length(text.substr(length));
    if (next == 0) break;
    length += next;
  }
  return length;
}

std::string join(const std::vector<std::string>& words) {
  std::string result;
  for (const std::string& word : words) {
    if (!result.empty()) result += ", ";
    result += word;
  }
  return result;
}

std::string_view nearest(std::string_view word, const std::vector<std::string>& candidates) {
  if (word.size() > word_length_max) return {};
  std::string_view best;
  std::size_t best_distance = word_length_max;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(folded(word), folded(candidate));
    const std::size_t distance_max = std::max<std::size_t>(1, candidate.size() / 3);
    if (distance <= distance_max && distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

}  // namespace corolane::config::detail
