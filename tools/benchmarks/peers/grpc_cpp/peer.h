// SPDX-License-Identifier: MIT
// The two halves of the peer. Each returns the exit status of the program.
#pragma once

#include <cstddef>
#include <string>

namespace corolane::bench {

// Prints its port and serves the Echo service.
int serve_grpc();

// Puts a load on the server, see network/program.h.
int call_grpc(const std::string& port, std::size_t connection_count, std::size_t in_flight);

}  // namespace corolane::bench
