// SPDX-License-Identifier: MIT
#include "framework/pages/detail/svg.h"

#include "coroutine/base/text.h"
#include "framework/pages/detail/page.h"

namespace corolane::framework::detail {
namespace {

constexpr std::string_view style =
    "<style>svg{background:#fff}text{font:11px ui-monospace,monospace;fill:#111}"
    ".title{font:14px sans-serif}@media(prefers-color-scheme:dark){svg{background:#161b22}"
    "text{fill:#e6edf3}}</style>\n";

}  // namespace

std::string svg_begin(double width, double height) {
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + svg_number(width) + " " +
         svg_number(height) + "\" width=\"" + svg_number(width) + "\">\n" + std::string(style);
}

std::string svg_title(std::string_view title) {
  return "<text class=\"title\" x=\"3\" y=\"20\">" + svg_text(title) + "</text>\n";
}

std::string svg_text(std::string_view text) {
  std::string safe;
  for (const char c : escaped(text)) {
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      default:
        safe += c;
    }
  }
  return safe;
}

std::string svg_number(double value) { return fixed_text(value, 1); }

}  // namespace corolane::framework::detail
