// SPDX-License-Identifier: MIT
// The closed loop of closed_loop.h for the clients of a crowd: each has one request in flight.
#pragma once

#include <cstddef>

#include "tools/benchmarks/network/generator.h"
#include "tools/benchmarks/network/talk.h"

namespace corolane::bench {

Connect crowd_echo(MakeTalk make_talk, std::size_t client_count);

}  // namespace corolane::bench
