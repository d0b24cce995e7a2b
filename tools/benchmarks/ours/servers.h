// SPDX-License-Identifier: MIT
// Our servers, configured as in production: with statistics, deadlines and admission on.
#pragma once

#include "tools/benchmarks/network/server_process.h"

namespace corolane::bench {

// Echoes messages of 64 bytes, each in a coroutine of its own.
Error serve_our_echo(const Seat& seat);
// Does the same in binary WebSocket messages.
Error serve_our_websocket(const Seat& seat);
// Serves a fixed body by net::HttpServer.
Error serve_our_http(const Seat& seat);
// Serves the Echo service of echo.proto by HTTP.
Error serve_our_http_calls(const Seat& seat);
// Serves it on one port for frames, frames inside of TLS, and HTTP.
Error serve_our_client_door(const Seat& seat);
// Serves the Echo service of echo.proto.
Error serve_our_rpc(const Seat& seat);

}  // namespace corolane::bench
