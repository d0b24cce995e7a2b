// Who waits for whom among the objects that a shard hosts.
#pragma once

#include <cstddef>

#include "framework/node/inspection.pb.h"

namespace corolane::framework {

class Shard;

namespace detail {

// Each call that came to an object of the shard and has not ended, at most so many. Suspends
// between objects: what it tells is not of one moment.
WaitsReply waits_of(const Shard& shard, std::size_t count_max);

}  // namespace detail
}  // namespace corolane::framework
