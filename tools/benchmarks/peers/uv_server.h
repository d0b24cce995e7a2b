// Servers on bare libuv.
#pragma once

#include "tools/benchmarks/network/server_process.h"

namespace corolane::bench {

// As the examples of libuv write it: a buffer from malloc for each read, handed on to a uv_write
// with a request of its own. A peer of echo/*.
Error serve_uv_echo(const Seat& seat);

// The least that answers HTTP: finds the end of a request and sends a reply that is ready made, of
// the size that http/json has, by uv_try_write. The limit of http/*.
Error serve_uv_http(const Seat& seat);

}  // namespace corolane::bench
