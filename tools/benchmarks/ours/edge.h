// SPDX-License-Identifier: MIT
// A node of one shard, as run_main() makes it, for clients by WebSocket: it serves Echo of
// echo.proto and Square of edge.proto.
#pragma once

#include <string>

#include "tools/benchmarks/network/server_process.h"

namespace corolane::bench {

// The token of a client is its principal.
Error serve_our_edge(const Seat& seat);
// All clients are anonymous.
Error serve_our_anonymous_edge(const Seat& seat);
// Clients log in with JSON Web Tokens that this key verifies.
Serve serve_our_edge_with_tokens(std::string public_key_pem);
// As serve_our_edge(), and once a client has let the crier publish, it goes on ten times a second.
Error serve_our_crying_edge(const Seat& seat);

}  // namespace corolane::bench
