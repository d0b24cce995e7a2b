// SPDX-License-Identifier: MIT
// What makes a flame graph answer its reader: a click on a box zooms in, a text finds functions.
//
//   drawing.append(flame_controls).append(boxes).append(flame_script);
#pragma once

#include <string_view>

namespace corolane::framework::detail {

// The field to search in and what it has found, for the upper right corner of a drawing that is
// 1,200 wide.
extern const std::string_view flame_controls;

// A script for the end of the drawing. It works in a file of its own and inside a page, needs
// nothing else, and finds its boxes as FlameGraph draws them: <g class="box" data-at= data-weight=>
// with a title, a rect and a text.
extern const std::string_view flame_script;

}  // namespace corolane::framework::detail
