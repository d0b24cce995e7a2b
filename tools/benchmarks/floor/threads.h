// SPDX-License-Identifier: MIT
// A question to another thread and its answer, with nothing around them: the limit of the row
// call_on. Each thread has a core of its own.
#pragma once

#include "tools/benchmarks/measurement.h"

namespace corolane::bench {

// Each blocks until the other one writes its eventfd.
Result<Measurement> floor_eventfd_pair();
// Each spins until the other one stores.
Result<Measurement> floor_atomic_pair();

}  // namespace corolane::bench
