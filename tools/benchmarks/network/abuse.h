// SPDX-License-Identifier: MIT
// The effect of abusive clients on well-behaved ones, and on the memory of the server.
#pragma once

#include "tools/benchmarks/measurement.h"
#include "tools/benchmarks/network/abusers.h"
#include "tools/benchmarks/network/server_process.h"

namespace corolane::bench {

// The 99th percentile of a moderate load of Echo calls while the abusers are connected, in percent
// of the same for a server without abusers that is measured in turn with it.
Measure latency_under(Abuse abuse, Serve serve);

// The most memory of the server, in MiB above that under the moderate load alone, from the first
// abuser until all are settled.
Measure memory_under(Abuse abuse, Serve serve);

}  // namespace corolane::bench
