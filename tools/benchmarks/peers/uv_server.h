// SPDX-License-Identifier: MIT
// Servers on bare libuv.
#pragma once

#include "tools/benchmarks/network/server_process.h"

namespace corolane::bench {

// Written like the examples of libuv: a buffer from malloc for each read, passed on to a uv_write
// with its own request. A peer of echo/*.
Error serve_uv_echo(const Seat& seat);

// A minimal HTTP server: finds the end of a request and sends a ready-made reply, of the size of
// http/json, by uv_try_write. The limit of http/*.
Error serve_uv_http(const Seat& seat);

}  // namespace corolane::bench
