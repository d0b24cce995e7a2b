// SPDX-License-Identifier: MIT
// Draws a frame as lines of text for the screen of `corolane top`.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "tools/corolane/top/frame.h"
#include "tools/corolane/top/view.h"

namespace corolane::tools::cli::top {

struct Size {
  std::size_t width = 80;
  std::size_t height = 24;
};

enum class Style : bool { plain, colored };

// Returns at most `size.height` lines, each at most `size.width` wide without its escape sequences;
// plain style has no escape sequences. `trouble` says why the frame is out of date; empty when it
// is not.
std::vector<std::string> draw(const Frame& frame, const View& view, Size size, Style style,
                              std::string_view trouble = {});

// The summary and the beginning of the table, for use without a terminal.
std::string frame_text(const Frame& frame, const View& view);

}  // namespace corolane::tools::cli::top
