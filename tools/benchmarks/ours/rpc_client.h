// Our own client, and what its messages cost by themselves.
#pragma once

#include "tools/benchmarks/measurement.h"
#include "tools/benchmarks/network/generator.h"

namespace corolane::bench {

// rpc::Client, with a task for every call in flight.
Connect our_rpc_client(Load load);

// Allocations of the messages of one call, as a server has them: the request parsed on an arena,
// the reply returned by value.
Result<Measurement> allocations_of_messages();

}  // namespace corolane::bench
