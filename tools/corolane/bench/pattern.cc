// SPDX-License-Identifier: MIT
#include "tools/corolane/bench/pattern.h"

#include <charconv>
#include <string_view>
#include <utility>

#include "coroutine/base/text.h"

namespace corolane::tools::cli::bench {
namespace {

// Reads the whole text as a number.
template <typename T>
bool read_number(std::string_view text, T& number) {
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  return read.ec == std::errc() && read.ptr == end && !text.empty();
}

}  // namespace

Result<Pattern> Pattern::parse(const std::string& text) {
  constexpr std::string_view opening = "{i";
  Pattern pattern;
  std::size_t begin = 0;
  for (std::size_t at = 0; (at = text.find(opening, at)) != text.npos;) {
    const std::size_t close = text.find('}', at);
    std::uint64_t modulus = 0;
    const std::string_view inside =
        close == text.npos ? ""
                           : std::string_view(text).substr(at + 2, close - at - opening.size());
    const bool is_rest = inside.starts_with('%') && read_number(inside.substr(1), modulus);
    if (close == text.npos || (!inside.empty() && (!is_rest || modulus == 0))) {
      return Error(Code::invalid_argument,
                   quote(text.substr(at, 12)) + " is neither {i} nor {i%N} with N of at least 1");
    }
    pattern.places_.push_back({.before = text.substr(begin, at - begin), .modulus = modulus});
    at = begin = close + 1;
  }
  pattern.end_ = text.substr(begin);
  return pattern;
}

std::string Pattern::of(std::uint64_t number) const {
  std::string text;
  for (const auto& [before, modulus] : places_) {
    text += before + std::to_string(modulus == 0 ? number : number % modulus);
  }
  return text + end_;
}

Result<double> parse_rate(const std::string& text) {
  std::string_view digits = text;
  if (digits.ends_with("/s")) digits.remove_suffix(2);
  double rate = 0;
  if (!read_number(digits, rate) || !(rate >= 0.01) || !(rate <= 1e6)) {
    return Error(Code::invalid_argument,
                 quote(text) + " is not a rate such as 1000/s, from 0.01/s to 1000000/s");
  }
  return rate;
}

}  // namespace corolane::tools::cli::bench
