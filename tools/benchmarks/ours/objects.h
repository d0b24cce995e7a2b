// SPDX-License-Identifier: MIT
// The cost of object calls, and the memory of objects.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tools/benchmarks/measurement.h"

namespace corolane::bench {

// The place of the called object, seen from the caller.
enum class Distance : std::uint8_t { same_shard, other_shard, other_node };

// CPU time of the process for both ends of one call.
Result<Measurement> our_object_call(Distance distance);
// The same for a plain call between two threads, or over loopback between two ends on one thread.
Result<Measurement> our_plain_call(Distance distance);

// Resident memory per object, with `count` idle objects.
Result<Measurement> our_object_memory(std::size_t count);

enum class StoreUsed : std::uint8_t { sqlite, redis };

// Wall-clock time of the first call of an object, 64 at a time.
Result<Measurement> our_activation(StoreUsed used);
// The same for the store's part alone.
Result<Measurement> our_seal(StoreUsed used);

}  // namespace corolane::bench
