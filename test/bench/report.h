// What the rows came to, for people and for programs.
#pragma once

#include <string>
#include <vector>

#include "test/bench/result.h"

namespace corolane::bench {

// "0.58", "36.2", "4100": three digits or so.
std::string figure(double value);

// Two tables: ours against the limit with the bar, and ours beside every peer.
std::string to_table(const std::vector<RowResult>& results);

// {"rows": [{"name", "ours", "limit", "ratio", "unit", "peers": {name: value}, ...}]}: medians.
// Null stands for what was not measured, and for a bar that a row does not have.
std::string to_json(const std::vector<RowResult>& results);

}  // namespace corolane::bench
