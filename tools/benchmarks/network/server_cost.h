// SPDX-License-Identifier: MIT
// The cost of an operation for a server: the CPU time of its process, divided by the operations
// that a generator on the other core completed.
#pragma once

#include "tools/benchmarks/measurement.h"
#include "tools/benchmarks/network/generator.h"
#include "tools/benchmarks/network/server_process.h"

namespace corolane::bench {

// A load runs this long before the measurement: connections are accepted, and pools and TCP windows
// grow.
inline constexpr std::chrono::milliseconds warm_up_time{200};

// Nanoseconds of server CPU per operation, with the traffic.
Measure server_cost(Serve serve, Connect connect);

// The cost of an operation for one server in percent of that for the other. Both run, and get the
// load in turn for a short time each, so that a change of the machine's pace affects both.
Measure relative_server_cost(Serve serve, Serve other, Connect connect);

// Operations per second, whatever CPU time the server used.
Measure throughput(Serve serve, Connect connect);

// Allocations of the server per operation; only for servers that count them.
Measure server_allocations(Serve serve, Connect connect);

}  // namespace corolane::bench
