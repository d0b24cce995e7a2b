// SPDX-License-Identifier: MIT
// The wait graph of a shard: its objects, and the tasks that hold locks.
#pragma once

#include "framework/node/inspection.pb.h"

namespace corolane::framework {

class Shard;

namespace detail {

// Answers the request of a page, or of the search for cycles. Suspends between objects, so the
// result is not a snapshot of one moment.
WaitsReply waits_of(const Shard& shard, const WaitsRequest& request);

}  // namespace detail
}  // namespace corolane::framework
