// SPDX-License-Identifier: MIT
// Excerpts and joined lists.
#include "config/detail/text.h"

#include "coroutine/base/text.h"

namespace corolane::config::detail {
namespace {

constexpr std::size_t excerpt_length_max = 60;

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

}  // namespace

std::string excerpt(std::string_view text) {
  if (text.size() <= excerpt_length_max) return quote(text);
  std::size_t length = excerpt_length_max;
  while (length > 0 && is_continuation(text[length])) --length;
  return quote(text.substr(0, length)) + "...";
}

std::string join(const std::vector<std::string>& words) {
  std::string result;
  for (const std::string& word : words) {
    if (!result.empty()) result += ", ";
    result += word;
  }
  return result;
}

}  // namespace corolane::config::detail
