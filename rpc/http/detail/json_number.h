// SPDX-License-Identifier: MIT
// Reads JSON numbers into the types of protobuf.
#pragma once

#include <charconv>
#include <cmath>
#include <concepts>
#include <limits>
#include <string_view>
#include <system_error>

namespace corolane::rpc::detail {

// Reads all of `text` as a double; a value too small for one becomes zero. False when it is not a
// number, or too large.
inline bool read_json_number(std::string_view text, double& number) {
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (end != text.data() + text.size() || text.empty()) return false;
  if (problem == std::errc::result_out_of_range) {
    // The result does not say in which direction: only a negative exponent, or a leading zero, is
    // small.
    const std::size_t exponent = text.find_first_of("eE");
    const bool is_small = exponent == std::string_view::npos ? text.find('.') != text.npos
                                                             : text[exponent + 1] == '-';
    number = text.starts_with('-') ? -0.0 : 0.0;
    return is_small;
  }
  return problem == std::errc() && std::isfinite(number);
}

inline bool read_json_number(std::string_view text, float& number) {
  double wide = 0;
  if (!read_json_number(text, wide)) return false;
  number = static_cast<float>(wide);
  return std::isfinite(number);
}

// Whole numbers in any spelling: "17", "1.7e1".
template <std::integral Number>
bool read_json_number(std::string_view text, Number& number) {
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (end == text.data() + text.size() && !text.empty()) return problem == std::errc();
  if (text.find_first_of(".eE") == std::string_view::npos) return false;
  double wide = 0;
  if (!read_json_number(text, wide) || wide != std::trunc(wide)) return false;
  // The first number above the range is a power of two, and so exact.
  const double above = std::ldexp(1.0, std::numeric_limits<Number>::digits);
  const double least = std::numeric_limits<Number>::is_signed ? -above : 0.0;
  if (wide < least || wide >= above) return false;
  number = static_cast<Number>(wide);
  return true;
}

}  // namespace corolane::rpc::detail
