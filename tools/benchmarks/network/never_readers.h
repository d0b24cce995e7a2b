// SPDX-License-Identifier: MIT
// The effect of sessions that follow an object and never read what they are pushed on others.
#pragma once

#include <cstddef>

#include "tools/benchmarks/measurement.h"
#include "tools/benchmarks/network/server_process.h"

namespace corolane::bench {

// The 99th percentile of 5,000 calls per second of 100 sessions, which read their pushes, in
// percent of the same for a server without the sessions that never read. Both servers publish all
// the time; the measurement begins when nothing more is kept for those that never read.
Measure latency_beside_never_readers(Serve serve, std::size_t never_reading_count);

}  // namespace corolane::bench
