// SPDX-License-Identifier: MIT
// Quotes untrusted text for error messages.
#include "services/chess/rules/detail/quote.h"

#include <cstddef>

namespace corolane::services::chess::rules::detail {

std::string quote(std::string_view text) {
  constexpr std::size_t length_max = 32;
  std::string result = "\"";
  for (const char letter : text.substr(0, length_max)) {
    const bool printable = letter >= ' ' && letter <= '~';
    result += printable ? letter : '?';
  }
  if (text.size() > length_max) result += "...";
  result += '"';
  return result;
}

}  // namespace corolane::services::chess::rules::detail
