// SPDX-License-Identifier: MIT
// A text that differs from call to call: {i} is replaced by the number of the call, counted from 0,
// and {i%100} by that number modulo 100.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "coroutine/base/result.h"

namespace corolane::tools::cli::bench {

class Pattern {
 public:
  // Fails with invalid_argument where "{i" is followed by something else.
  static Result<Pattern> parse(const std::string& text);

  bool is_same_for_all() const { return places_.empty(); }
  std::string of(std::uint64_t number) const;

 private:
  struct Place {
    std::string before;     // The text between the previous place and this one.
    std::uint64_t modulus;  // 0: the whole number.
  };

  std::vector<Place> places_;
  std::string end_;
};

// Reads "1000/s", "0.5/s" or "1000". Fails with invalid_argument unless the rate is between 0.01
// and a million per second.
Result<double> parse_rate(const std::string& text);

}  // namespace corolane::tools::cli::bench
