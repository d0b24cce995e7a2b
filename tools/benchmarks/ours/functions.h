// SPDX-License-Identifier: MIT
// The functions of our_peer, one file per group of rows.
#pragma once

#include <cstddef>

#include "tools/benchmarks/measurement.h"
#include "tools/benchmarks/peers/peer.h"

namespace corolane::bench {

Result<Measurement> our_yield(Ring ring);
Result<Measurement> our_create(std::size_t count, Warmth warmth);
Result<Measurement> our_memory(std::size_t count);
Result<Measurement> our_spawn_join();
Result<Measurement> our_pingpong();
Result<Measurement> our_await();
Result<Measurement> our_for_each();
Result<Measurement> our_timer(TimerStep step);

}  // namespace corolane::bench
