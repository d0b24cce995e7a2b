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

// Wall-clock time of a durable call, 64 objects at a time.
Result<Measurement> our_durable_call(StoreUsed used);
// The same for its write alone.
Result<Measurement> our_write(StoreUsed used);

// CPU time of a durable call whose outbox calls another object durably, until that is done, 64
// pairs at a time, with a store in memory.
Result<Measurement> our_outbox_call();
// The same for the two durable calls without an outbox.
Result<Measurement> our_call_pair();

// CPU time of a publication that `reader_count` subscribers on the shards of a node read.
Result<Measurement> our_publication(std::size_t reader_count, std::size_t shard_count);
// The same for its serialized bytes that are written to sockets so many times.
Result<Measurement> our_socket_writes(std::size_t write_count);
// The same for a value that goes to each of so many tasks over its own channel.
Result<Measurement> our_fan_out(std::size_t reader_count);

}  // namespace corolane::bench
