// SPDX-License-Identifier: MIT
// A chart of the rows as an SVG image.
#pragma once

#include <string>
#include <vector>

#include "tools/benchmarks/result.h"

namespace corolane::bench {

// One line per row, on a logarithmic scale of multiples of the limit, so that rows of different
// units share one chart. Ours is a bar, green when the row's bar holds and red when it is missed;
// the row's bar is a mark; every peer is a coloured dot.
std::string to_svg(const std::vector<RowResult>& results);

}  // namespace corolane::bench
