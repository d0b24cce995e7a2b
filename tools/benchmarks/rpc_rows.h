// SPDX-License-Identifier: MIT
// The rows of `tools/bench rpc`: calls, limits and bars.
#pragma once

#include <vector>

#include "coroutine/base/result.h"
#include "tools/benchmarks/command.h"

namespace corolane::bench {

// A peer that is a program is called as `program serve` and prints its port, and as `program call
// PORT CONNECTIONS IN_FLIGHT`, see network/program.h. Fails when a program does not list its rows.
Result<std::vector<Row>> rpc_rows(const std::vector<ProgramPeer>& programs);

}  // namespace corolane::bench
