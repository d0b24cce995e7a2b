// The end of a text of any length: its last lines.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>

namespace corolane::tools::cli::run {

class LastLines {
 public:
  explicit LastLines(std::size_t count_max) : count_max_(count_max) {}

  // More of the text; cut anywhere.
  void add(std::string_view bytes);
  // On lines that begin with two blanks and move no cursor.
  std::string text() const;

 private:
  static constexpr std::size_t line_bytes_max = 1'024;

  const std::size_t count_max_;
  std::deque<std::string> lines_;
  bool is_inside_ = false;  // The last one has not ended yet.
};

}  // namespace corolane::tools::cli::run
