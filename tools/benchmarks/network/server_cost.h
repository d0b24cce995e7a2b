// What an operation costs a server: CPU time of its process over the operations that a generator
// on the other core has seen answered.
#pragma once

#include "tools/benchmarks/measurement.h"
#include "tools/benchmarks/network/generator.h"
#include "tools/benchmarks/network/server_process.h"

namespace corolane::bench {

// How long a load runs before it is measured: connections are accepted, pools and windows of TCP
// grown.
inline constexpr std::chrono::milliseconds warm_up_time{200};

// Nanoseconds of server CPU per operation, and the traffic that cost it.
Measure server_cost(Serve serve, Connect connect);

// Percent: what an operation costs one server of what it costs the other. Both run, and get the
// load in turn for a short time each, so that a machine that changes its pace does so for both.
Measure relative_server_cost(Serve serve, Serve other, Connect connect);

// Operations per second of the same, whatever the server used for them.
Measure throughput(Serve serve, Connect connect);

// Allocations of the server per operation; only of servers that count them.
Measure server_allocations(Serve serve, Connect connect);

}  // namespace corolane::bench
