// SPDX-License-Identifier: MIT
// Reports the results of rows, for people and for programs.
#pragma once

#include <string>
#include <vector>

#include "tools/benchmarks/result.h"

namespace corolane::bench {

// Formats a value with about three digits: "0.58", "36.2", "4100".
std::string figure(double value);

// Returns tables: ours against the limit with the bar and, where there are values, ours beside
// every peer, the bars against peers, and the traffic behind the figures.
std::string to_table(const std::vector<RowResult>& results);

// {"rows": [{"name", "ours", "limit", "ratio", "unit", "peers": {name: value}, ...}]}: medians.
// Null means that a value was not measured, or that a row has no bar. Bars against peers are in
// "times_better", the observations of generators in "traffic", both by name and only where there
// are any.
std::string to_json(const std::vector<RowResult>& results);

}  // namespace corolane::bench
