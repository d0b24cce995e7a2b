// SPDX-License-Identifier: MIT
// Draws a graph of waits: who waits stands left of what it waits for.
//
//   response.body = drawing_of(graph, "12 calls wait, 1 cycle", 60);
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "framework/node/detail/wait_graph.h"

namespace corolane::framework::detail {

// A box for each name, with what it waits for in words, and an arrow for each wait; those in cycles
// are red. It has at most `count_max` names, those in cycles first. No box covers another one, and
// no text leaves its box; long ones are shortened in their middle, and whole when pointed at. For
// light and dark screens.
std::string drawing_of(WaitGraph& graph, std::string_view title, std::size_t count_max);

}  // namespace corolane::framework::detail
