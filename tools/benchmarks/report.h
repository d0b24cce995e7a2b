// What the rows came to, for people and for programs.
#pragma once

#include <string>
#include <vector>

#include "tools/benchmarks/result.h"

namespace corolane::bench {

// "0.58", "36.2", "4100": three digits or so.
std::string figure(double value);

// Tables: ours against the limit with the bar, and as far as there is something to show, ours
// beside every peer, the bars against peers, and the traffic behind the figures.
std::string to_table(const std::vector<RowResult>& results);

// {"rows": [{"name", "ours", "limit", "ratio", "unit", "peers": {name: value}, ...}]}: medians.
// Null stands for what was not measured, and for a bar that a row does not have. Bars against peers
// are in "times_better", what generators saw in "traffic", both by name and only where there are
// any.
std::string to_json(const std::vector<RowResult>& results);

}  // namespace corolane::bench
