// SPDX-License-Identifier: MIT
// Excerpts and joined lists.
#include "config/detail/text.h"

#include "coroutine/base/text.h"

namespace corolane::config::detail {
namespace {

constexpr std::size_t excerpt_length_max = 60;

}  // namespace

std::string excerpt(std::string_view text) {
  if (text.size() <= excerpt_length_max) return quote(text);
  return quote(cut_utf8(text, excerpt_length_max)) + "...";
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
