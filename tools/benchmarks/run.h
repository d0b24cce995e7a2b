// Measures a row: every contestant once in each round, so that whatever changes in the machine
// meanwhile changes for all of them.
#pragma once

#include <cstddef>

#include "tools/benchmarks/result.h"
#include "tools/benchmarks/row.h"

namespace corolane::bench {

// Runs so many rounds, the first in the order ours, limit, peers, the next one in the opposite
// order, and so on. Who fails once is left out from then on; says so on standard error.
RowResult run_row(const Row& row, std::size_t round_count);

}  // namespace corolane::bench
