// SPDX-License-Identifier: MIT
// rpc::HttpFace on the real network, with the default limits of a server.
#include "coroutine/task.h"
#include "net/http/http_server.h"
#include "net/uv/event_loop.h"
#include "net/uv/uv_network.h"
#include "rpc/http/http_face.h"
#include "rpc/server/server.h"
#include "tools/benchmarks/echo.corolane.h"
#include "tools/benchmarks/ours/serve_in_task.h"
#include "tools/benchmarks/ours/servers.h"

namespace corolane::bench {
namespace {

class EchoService final : public EchoBase {
 public:
  Result<EchoReply> echo(const EchoRequest& request, rpc::Context&) override {
    EchoReply reply;
    reply.set_payload(request.payload());
    return reply;
  }
  Result<EchoReply> park(const EchoRequest& request, rpc::Context& context) override {
    return echo(request, context);
  }
  Result<EchoReply> burn(const EchoRequest& request, rpc::Context& context) override {
    return echo(request, context);
  }
};

Result<void> serve(net::EventLoop& loop) {
  net::UvNetwork network(loop);
  EchoService service;
  rpc::Server server(network);
  if (auto added = server.add(service); !added) return added;
  rpc::HttpFace face(server, {.door = rpc::Door::nodes});
  net::HttpServer http(network, face, net::HttpServer::Options{});
  const auto endpoint = http.listen({"127.0.0.1", 0});
  if (!endpoint) return endpoint.error();
  Seat::announce(endpoint->port);
  return coroutine::sleep_until(Deadline::never());
}

}  // namespace

Error serve_our_http_calls(const Seat& seat) { return serve_in_task(seat, serve); }

}  // namespace corolane::bench
