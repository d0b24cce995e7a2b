// SPDX-License-Identifier: MIT
// The memory of idle connections, whose clients are in processes of their own.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tools/benchmarks/measurement.h"
#include "tools/benchmarks/network/server_process.h"
#include "tools/benchmarks/network/talk.h"

namespace corolane::bench {

enum class MemoryOf : std::uint8_t {
  server,  // The growth of the resident memory of the server's process.
  // The growth of what the kernel holds: slabs and pages of sockets, for both ends, since the
  // clients are on this machine, and the entries of epoll of both.
  kernel,
};

// Bytes for each connection. When a process may not open so many descriptors, there are as many
// servers as it takes, with an equal part of the connections each.
Measure connection_memory(MemoryOf what, Serve serve, MakeTalk make_talk,
                          std::size_t connection_count);

// How many connections a process has room for, besides what else it opens.
std::size_t connections_per_process();
std::size_t servers_needed(std::size_t connection_count);

}  // namespace corolane::bench
