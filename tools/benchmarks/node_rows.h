// SPDX-License-Identifier: MIT
// The rows of `tools/bench node`: the cost of observing a node, limits and bars.
#pragma once

#include <vector>

#include "coroutine/base/result.h"
#include "tools/benchmarks/command.h"
#include "tools/benchmarks/row.h"

namespace corolane::bench {

// No peers take part.
Result<std::vector<Row>> node_rows(const std::vector<ProgramPeer>& programs);

}  // namespace corolane::bench
