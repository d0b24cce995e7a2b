// A chart of the rows, as a picture that any browser shows.
#pragma once

#include <string>
#include <vector>

#include "tools/benchmarks/result.h"

namespace corolane::bench {

// One line per row, on a logarithmic scale of multiples of the limit, so that rows of different
// units can stand below one another: ours as a bar, green when the row's bar holds and red when
// it is missed; the bar as a mark; every peer as a coloured dot.
std::string to_svg(const std::vector<RowResult>& results);

}  // namespace corolane::bench
