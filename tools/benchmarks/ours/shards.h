// What a node does with two cores.
#pragma once

#include <cstddef>

#include "tools/benchmarks/measurement.h"

namespace corolane::bench {

// Moves of chess per second of a node with so many shards: those who move are tasks of all of them,
// and so are the games of each.
Result<Measurement> our_chess_moves(std::size_t shard_count);

// The same of calls of objects that do nothing.
Result<Measurement> our_object_calls(std::size_t shard_count);

}  // namespace corolane::bench
