// SPDX-License-Identifier: MIT
// The throughput of a node with one or two shards.
#pragma once

#include <cstddef>

#include "tools/benchmarks/measurement.h"

namespace corolane::bench {

// Chess moves per second of a node with `shard_count` shards. Players are tasks on all shards, and
// games live on all shards.
Result<Measurement> our_chess_moves(std::size_t shard_count);

// The same for no-op calls of objects.
Result<Measurement> our_object_calls(std::size_t shard_count);

}  // namespace corolane::bench
