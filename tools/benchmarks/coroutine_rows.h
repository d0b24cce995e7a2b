// The rows of `tools/bench coroutine`: operations, limits and bars.
#pragma once

#include <vector>

#include "coroutine/base/result.h"
#include "tools/benchmarks/command.h"

namespace corolane::bench {

// A peer that is a program prints the value of a row when it is called as `program ROW MS`, having
// timed it for about so many milliseconds. Fails when a program does not tell its rows.
Result<std::vector<Row>> coroutine_rows(const std::vector<ProgramPeer>& programs);

}  // namespace corolane::bench
