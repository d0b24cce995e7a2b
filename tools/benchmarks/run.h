// SPDX-License-Identifier: MIT
// Measures a row: every contestant runs once in each round, so that changes of the machine
// meanwhile affect all of them.
#pragma once

#include <cstddef>

#include "tools/benchmarks/result.h"
#include "tools/benchmarks/row.h"

namespace corolane::bench {

// Runs `round_count` rounds, the first in the order ours, limit, peers, the next one in the
// opposite order, and so on. A row with a factor goes on without its peers. A contestant that fails
// is left out from then on, with a message on standard error.
RowResult run_row(const Row& row, std::size_t round_count);

}  // namespace corolane::bench
