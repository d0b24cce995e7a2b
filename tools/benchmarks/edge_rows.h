// SPDX-License-Identifier: MIT
// The rows of `tools/bench edge`: sessions by WebSocket, limits and bars.
#pragma once

#include <vector>

#include "coroutine/base/result.h"
#include "tools/benchmarks/command.h"

namespace corolane::bench {

// A peer that is a program is called as `program serve ROW`; it prints its port and serves. Fails
// when a program does not list its rows.
Result<std::vector<Row>> edge_rows(const std::vector<ProgramPeer>& programs);
// The same with fewer clients.
Result<std::vector<Row>> quick_edge_rows(const std::vector<ProgramPeer>& programs);

}  // namespace corolane::bench
