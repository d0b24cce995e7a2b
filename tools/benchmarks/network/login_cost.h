// SPDX-License-Identifier: MIT
// The cost of a new client for a server: the CPU time of its process from the connection until the
// client is open.
#pragma once

#include "tools/benchmarks/measurement.h"
#include "tools/benchmarks/network/server_process.h"
#include "tools/benchmarks/network/talk.h"

namespace corolane::bench {

// Microseconds, the median over crowds of some hundred clients.
Measure arrival_cost(Serve serve, MakeTalk make_talk);

// What a client of the first server costs more than one of the other; both get clients in turn.
Measure additional_arrival_cost(Serve serve, MakeTalk make_talk, Serve other, MakeTalk other_talk);

}  // namespace corolane::bench
