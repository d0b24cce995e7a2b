// A generator that is a process of its own, on the generator's core: the client of a peer, or ours.
//
// It reads lines of its standard input. Each is a time in milliseconds: it keeps its load up for so
// long, takes in the replies that are still to come, and prints a line of four numbers: operations,
// elapsed nanoseconds, the median and the 99th percentile of their latencies in nanoseconds.
#pragma once

#include <functional>
#include <string>

#include "tools/benchmarks/network/generator.h"

namespace corolane::bench {

// `program call PORT CONNECTIONS IN_FLIGHT`.
Connect program_client(std::string program, Load load);

// A function of this program that does what such a program does; returns its exit status.
Connect forked_client(std::function<int(std::uint16_t port)> client);

}  // namespace corolane::bench
