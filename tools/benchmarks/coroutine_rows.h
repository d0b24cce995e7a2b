// SPDX-License-Identifier: MIT
// The rows of `tools/bench coroutine`: operations, limits and bars.
#pragma once

#include <vector>

#include "coroutine/base/result.h"
#include "tools/benchmarks/command.h"

namespace corolane::bench {

// A peer that is a program is called as `program ROW MS`: it measures the row for about MS
// milliseconds and prints the value. Fails when a program does not list its rows.
Result<std::vector<Row>> coroutine_rows(const std::vector<ProgramPeer>& programs);

}  // namespace corolane::bench
