// Our side of the rows of tools/bench coroutine. What one operation is stands in coroutine_rows.cc.
#pragma once

#include "tools/benchmarks/measurement.h"
#include "tools/benchmarks/peers/peer.h"

namespace corolane::bench {

// As production has it: libuv's loop, statistics and sampling switched on.
extern const Peer our_peer;

// The yield of a ring of one, with the sampling of switches and creations on or off.
Result<Measurement> our_yield_sampled();
Result<Measurement> our_yield_unsampled();

// Percentage of stacks that came from the idle ones, in the worst period after the first. In each
// period the number of tasks alive rises from `low` to `high` and falls back, a second each.
Result<Measurement> our_pool_swing(std::size_t low, std::size_t high);
// The same with tasks that live one at a time, a thousand in a period.
Result<Measurement> our_pool_serial();

// Megabytes that the process holds after 10,000 tasks at once and 15 s of quiet; and before them,
// when nothing but a light load was ever there.
Result<Measurement> our_memory_after_burst();
Result<Measurement> our_memory_at_floor();

}  // namespace corolane::bench
