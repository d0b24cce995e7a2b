// SPDX-License-Identifier: MIT
// What memory alone costs when one of a million records is needed: the limit of the row
// timer/cancel_random.
#pragma once

#include "tools/benchmarks/measurement.h"

namespace corolane::bench {

// One of a million records is read and written; the next one does not depend on it.
Result<Measurement> floor_random_record();

}  // namespace corolane::bench
