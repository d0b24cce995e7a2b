// SPDX-License-Identifier: MIT
// The latency of well-behaved clients beside others that disturb them, in percent of that without.
#pragma once

#include <chrono>

#include "coroutine/base/result.h"
#include "tools/benchmarks/measurement.h"
#include "tools/benchmarks/network/open_loop.h"

namespace corolane::bench {

// A call that is not answered within this time counts with it.
inline constexpr std::chrono::milliseconds latency_patience{1'000};

// The 99th percentile of the calls of `disturbed`, in percent of that of `undisturbed`. Both make
// so many calls per second, in turns.
Result<Measurement> relative_latency(OpenLoop& undisturbed, OpenLoop& disturbed,
                                     double calls_per_second);

}  // namespace corolane::bench
