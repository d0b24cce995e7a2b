// SPDX-License-Identifier: MIT
// rpc::Server for clients on the real network, with login, the default limits of a server, and the
// filters that a tracing node puts around calls.
#include "coroutine/task.h"
#include "net/uv/event_loop.h"
#include "net/uv/uv_network.h"
#include "rpc/observe/call_log.h"
#include "rpc/observe/tracing.h"
#include "rpc/server/server.h"
#include "tools/benchmarks/ours/echo_service.h"
#include "tools/benchmarks/ours/login.h"
#include "tools/benchmarks/ours/serve_in_task.h"
#include "tools/benchmarks/ours/servers.h"

namespace corolane::bench {
namespace {

Result<void> serve(net::EventLoop& loop) {
  net::UvNetwork network(loop);
  EchoService service;
  // No call starts a trace here, like nearly all calls in production; traces of callers would be
  // recorded.
  rpc::Tracer tracer({.sample_ratio = 0}, [](const rpc::SpanRecord&) {});
  rpc::CallLog call_log({}, [](const rpc::LoggedCall&) {});
  rpc::Server server(network);
  server.add_filter(tracer.server_filter(), rpc::FilterSees::outcomes);
  server.add_observer(call_log.server_observer());
  if (auto added = server.add(service, rpc::Server::Audience::everybody); !added) return added;
  const auto endpoint =
      server.listen({"127.0.0.1", 0}, {.door = rpc::Door::clients, .login = take_any_token});
  if (!endpoint) return endpoint.error();
  Seat::announce(endpoint->port);
  return coroutine::sleep_until(Deadline::never());
}

}  // namespace

Error serve_our_rpc(const Seat& seat) { return serve_in_task(seat, serve); }

}  // namespace corolane::bench
