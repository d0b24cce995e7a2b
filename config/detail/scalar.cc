// SPDX-License-Identifier: MIT
// The longer functions of the scalar types.
#include "config/detail/scalar.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "coroutine/base/text.h"

namespace corolane::config::detail {
Error misread(std::string_view text, std::string_view expected) {
  return Error(Code::invalid_argument,
               "read " + excerpt(text) + "; expected " + std::string(expected));
}

Result<bool> ScalarTraits<bool>::parse(std::string_view text) {
  if (text == "true") return true;
  if (text == "false") return false;
  return misread(text, expected());
}

Result<double> ScalarTraits<double>::parse(std::string_view text) {
  double value = 0;
  if (!read_number(text, value) || !std::isfinite(value)) return misread(text, expected());
  return value;
}

std::string ScalarTraits<double>::format(double value) {
  std::array<char, 32> buffer;
  const auto written = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return std::string(buffer.data(), written.ptr);
}

std::string ScalarTraits<std::string>::format(std::string_view value) { return quote(value); }

Result<std::size_t> parse_choice(std::string_view text, const std::vector<std::string>& names) {
  const auto found = std::ranges::find(names, text);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  const auto meant = nearest(text, names);
  if (!meant) return misread(text, "one of " + join(names));
  return misread(text, "one of " + join(names) + "; did you mean " + quote(names[*meant]) + "?");
}

}  // namespace corolane::config::detail
