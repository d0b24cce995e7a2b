// What calls of objects cost, and what objects take.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tools/benchmarks/measurement.h"

namespace corolane::bench {

// Where the object lives that is called.
enum class Distance : std::uint8_t { same_shard, other_shard, other_node };

// CPU time of the process for one call, both ends of it.
Result<Measurement> our_object_call(Distance distance);
// The same of a plain call between two threads, or over loopback between two ends on one.
Result<Measurement> our_plain_call(Distance distance);

// Resident memory of one of so many objects that nobody calls.
Result<Measurement> our_object_memory(std::size_t count);

enum class StoreUsed : std::uint8_t { sqlite, redis };

// Time, as it passes, of the first call of an object, with 64 at a time.
Result<Measurement> our_activation(StoreUsed store);
// The same of what the store does for it alone.
Result<Measurement> our_seal(StoreUsed store);

}  // namespace corolane::bench
