// SPDX-License-Identifier: MIT
// The rows of `tools/bench objects`: operations, limits and bars.
#pragma once

#include <vector>

#include "coroutine/base/result.h"
#include "tools/benchmarks/command.h"

namespace corolane::bench {

// No peers take part.
Result<std::vector<Row>> object_rows(const std::vector<ProgramPeer>& programs);

}  // namespace corolane::bench
