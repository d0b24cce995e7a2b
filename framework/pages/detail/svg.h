// SPDX-License-Identifier: MIT
// Building blocks of drawings for browsers. Drawings are self-contained, and readable on light and
// dark ground.
#pragma once

#include <string>
#include <string_view>

namespace corolane::framework::detail {

// The content of the drawing follows, then "</svg>".
std::string svg_begin(double width, double height);
// A title in the upper left corner.
std::string svg_title(std::string_view title);
// Escapes a text, which may come from anywhere.
std::string svg_text(std::string_view text);
std::string svg_number(double value);

}  // namespace corolane::framework::detail
