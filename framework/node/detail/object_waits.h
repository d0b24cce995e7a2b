// SPDX-License-Identifier: MIT
// The wait graph of the objects that a shard hosts.
#pragma once

#include <cstddef>

#include "framework/node/inspection.pb.h"

namespace corolane::framework {

class Shard;

namespace detail {

// Returns the unfinished calls of the shard's objects, `count_max` at most. Suspends between
// objects, so the result is not a snapshot of one moment.
WaitsReply waits_of(const Shard& shard, std::size_t count_max);

}  // namespace detail
}  // namespace corolane::framework
