// SPDX-License-Identifier: MIT
// Keeps the last lines of a text of any length.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>

namespace corolane::tools::cli::run {

class LastLines {
 public:
  explicit LastLines(std::size_t count_max) : count_max_(count_max) {}

  // Adds more of the text, which may be split anywhere.
  void add(std::string_view bytes);
  // The lines, indented by two blanks; control characters are escaped.
  std::string text() const;

 private:
  static constexpr std::size_t line_bytes_max = 1'024;

  const std::size_t count_max_;
  std::deque<std::string> lines_;
  bool is_inside_ = false;  // The last line has no end yet.
};

}  // namespace corolane::tools::cli::run
