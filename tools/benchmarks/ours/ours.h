// SPDX-License-Identifier: MIT
// Our side of the rows of tools/bench coroutine. coroutine_rows.cc describes the operations.
#pragma once

#include "tools/benchmarks/measurement.h"
#include "tools/benchmarks/peers/peer.h"

namespace corolane::bench {

// Configured as in production: libuv's loop, with statistics and sampling on.
extern const Peer our_peer;

// The time of a yield in a ring of one while switches and creations are sampled, in percent of that
// without: the median of many pairs within one process, whose halves run right after each other.
Result<Measurement> our_sampling_cost();

// A call on the scheduler of another thread, each on a core of its own.
Result<Measurement> our_call_on();

// The percentage of stacks that the pool reused, in the worst period after the first. In each
// period the number of live tasks rises from `low` to `high` in a second, and falls back in
// another.
Result<Measurement> our_pool_swing(std::size_t low, std::size_t high);
// The same with tasks that live one at a time, a thousand in a period.
// Bytes of each of many suspended stackless coroutines.
Result<Measurement> our_stackless_memory(std::size_t count);
Result<Measurement> our_pool_serial();

// Resident megabytes after 10,000 tasks at once and 15 s of quiet, and before such a burst, after a
// light load only.
Result<Measurement> our_memory_after_burst();
Result<Measurement> our_memory_at_floor();

}  // namespace corolane::bench
