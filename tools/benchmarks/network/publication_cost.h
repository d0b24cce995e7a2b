// SPDX-License-Identifier: MIT
// The cost of a publication for a server: the CPU time of its process until all clients of a crowd
// have the message, divided by their number.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "tools/benchmarks/measurement.h"
#include "tools/benchmarks/network/server_process.h"
#include "tools/benchmarks/network/talk.h"

namespace corolane::bench {

// Whether the measured time includes that in which the server reads what the clients say once they
// have the message. They say it in either case.
enum class Acknowledgements : std::uint8_t { are_excluded, are_included };

// Nanoseconds for each client, the median over publications. The traffic has publications per
// second, and how long one takes, from its request until the last client has read it.
Measure publication_cost(Serve serve, MakeTalk make_talk, std::size_t client_count,
                         Acknowledgements acknowledgements);

// Blocks until the server waits, and returns its CPU time then.
std::chrono::nanoseconds cpu_time_at_rest(const ServerProcess& server);

}  // namespace corolane::bench
