// SPDX-License-Identifier: MIT
// A generator in its own process, on the generator's core: the client of a peer, or ours.
//
// It reads lines from its standard input. Each is a time in milliseconds: it keeps up its load for
// that time, reads the outstanding replies, and prints a line of four numbers: operations, elapsed
// nanoseconds, the median and the 99th percentile of their latencies in nanoseconds.
#pragma once

#include <functional>
#include <string>

#include "tools/benchmarks/network/generator.h"

namespace corolane::bench {

// Runs `program call PORT CONNECTIONS IN_FLIGHT`.
Connect program_client(std::string program, Load load);

// Forks a child that runs `client` in place of such a program; `client` returns the exit status.
Connect forked_client(std::function<int(std::uint16_t port)> client);

}  // namespace corolane::bench
