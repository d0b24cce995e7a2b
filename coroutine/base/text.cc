// SPDX-License-Identifier: MIT
// Escaping, UTF-8 and spelling.
#include "coroutine/base/text.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

#include "coroutine/base/encoding.h"

namespace corolane {
namespace {

constexpr std::size_t word_length_max = 128;  // Nobody mistypes a name into a longer word.

// Length of the one well-formed character at the start of `text`, zero when there is none.
std::size_t character_length(std::string_view text) {
  const auto byte = [&](std::size_t i) -> std::uint32_t {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
  };
  const std::uint32_t lead = byte(0);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4) return 0;
  // The second byte excludes overlong forms, surrogates and code points above U+10FFFF.
  const std::uint32_t second_min = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
  const std::uint32_t second_max = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
  if (byte(1) < second_min || byte(1) > second_max) return 0;
  for (std::size_t i = 2; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  return length;
}

// The control characters of ASCII and of its eight-bit extension, which terminals obey as well.
bool is_control(std::string_view character) {
  const auto last = static_cast<unsigned char>(character.back());
  if (character.size() == 1) return last < 0x20 || last == 0x7f;
  return character.size() == 2 && character.front() == '\xc2' && last < 0xa0;
}

void append_escaped(std::string& out, std::string_view text, bool in_quotes) {
  while (!text.empty()) {
    const std::size_t length = character_length(text);
    const std::string_view character = text.substr(0, std::max<std::size_t>(1, length));
    text.remove_prefix(character.size());
    const char last = character.back();
    if (last == '\n') {
      out.append("\\n");
    } else if (last == '\t') {
      out.append("\\t");
    } else if (length == 0 || is_control(character)) {
      append_hex(out.append("\\x"), static_cast<std::uint8_t>(last));
    } else {
      if (in_quotes && (last == '"' || last == '\\')) out.push_back('\\');
      out.append(character);
    }
  }
}

std::string folded(std::string_view word) {
  std::string result(word);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (c == '-') c = '_';
  }
  return result;
}

// The number of insertions, deletions, replacements and swaps of neighbours between two words.
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
  append_escaped(result, text, /*in_quotes=*/false);
  return result;
}

std::string quote(std::string_view text) {
  std::string result = "\"";
  append_escaped(result, text, /*in_quotes=*/true);
  return result + '"';
}

std::size_t utf8_length(std::string_view text) {
  std::size_t length = 0;
  while (length < text.size()) {
    if (std::uint64_t eight = 0; text.size() - length >= sizeof(eight)) {
      std::memcpy(&eight, text.data() + length, sizeof(eight));
      if ((eight & 0x8080808080808080U) == 0) {
        length += sizeof(eight);
        continue;
      }
    }
    const std::size_t next = character_length(text.substr(length));
    if (next == 0) break;
    length += next;
  }
  return length;
}

std::string_view cut_utf8(std::string_view text, std::size_t bytes_max) {
  if (text.size() <= bytes_max) return text;
  constexpr std::size_t character_bytes_max = 4;
  const std::string_view head = text.substr(0, bytes_max);
  const std::size_t valid = utf8_length(head);
  return valid + character_bytes_max > bytes_max ? head.substr(0, valid) : head;
}

std::string to_utf8(std::string_view text, std::string_view replacement) {
  std::string valid;
  for (;;) {
    const std::size_t length = utf8_length(text);
    valid.append(text.substr(0, length));
    if (length == text.size()) return valid;
    valid.append(replacement);
    text.remove_prefix(length + 1);
  }
}

std::optional<std::size_t> nearest(std::string_view word,
                                   const std::vector<std::string>& candidates) {
  if (word.size() > word_length_max) return {};
  std::optional<std::size_t> best;
  std::size_t best_distance = word_length_max;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const std::size_t distance = edit_distance(folded(word), folded(candidates[i]));
    const std::size_t distance_max = std::max<std::size_t>(1, candidates[i].size() / 3);
    if (distance <= distance_max && distance < best_distance) {
      best = i;
      best_distance = distance;
    }
  }
  return best;
}

}  // namespace corolane
