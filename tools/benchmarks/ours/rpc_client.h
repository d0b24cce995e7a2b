// SPDX-License-Identifier: MIT
// Our own client, and the allocations of its messages alone.
#pragma once

#include "tools/benchmarks/measurement.h"
#include "tools/benchmarks/network/generator.h"

namespace corolane::bench {

// rpc::Client, with a task for every call in flight.
Connect our_rpc_client(Load load);

// The allocations of the messages of one call on a server: the request is parsed on an arena, the
// reply is returned by value.
Result<Measurement> allocations_of_messages();

}  // namespace corolane::bench
