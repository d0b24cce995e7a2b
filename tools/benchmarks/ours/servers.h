// Our servers, as production has them: statistics, deadlines and admission switched on.
#pragma once

#include "tools/benchmarks/network/server_process.h"

namespace corolane::bench {

// Echo of messages of 64 bytes, each in a coroutine of its own.
Error serve_our_echo(const Seat& seat);
// The same in binary messages of WebSockets.
Error serve_our_websocket(const Seat& seat);
// A fixed body by net::HttpServer.
Error serve_our_http(const Seat& seat);
// The Echo service of echo.proto by HTTP.
Error serve_our_http_calls(const Seat& seat);
// The Echo service of echo.proto.
Error serve_our_rpc(const Seat& seat);

}  // namespace corolane::bench
