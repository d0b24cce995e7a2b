// The parts of which drawings for browsers are made: they need nothing else, and are readable on
// light and dark ground.
#pragma once

#include <string>
#include <string_view>

namespace corolane::framework::detail {

// Behind it comes what is drawn, and "</svg>".
std::string svg_begin(double width, double height);
// In the upper left corner.
std::string svg_title(std::string_view title);
// A name that anybody may have given.
std::string svg_text(std::string_view text);
std::string svg_number(double value);

}  // namespace corolane::framework::detail
