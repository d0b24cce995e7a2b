// SPDX-License-Identifier: MIT
#include "tools/corolane/run/last_lines.h"

#include "coroutine/base/text.h"

namespace corolane::tools::cli::run {

void LastLines::add(std::string_view bytes) {
  while (!bytes.empty()) {
    if (!is_inside_) lines_.emplace_back();
    if (lines_.size() > count_max_) lines_.pop_front();
    const std::size_t end = bytes.find('\n');
    std::string& line = lines_.back();
    line.append(bytes.substr(0, end), 0, line_bytes_max - line.size());
    is_inside_ = end == bytes.npos;
    bytes.remove_prefix(is_inside_ ? bytes.size() : end + 1);
  }
}

std::string LastLines::text() const {
  std::string text;
  for (const std::string& line : lines_) text += "  " + escaped(line) + "\n";
  return text;
}

}  // namespace corolane::tools::cli::run
