// SPDX-License-Identifier: MIT
// rpc::HttpFace for clients on the real network, with login and the default limits of a server.
#include "coroutine/task.h"
#include "net/http/http_server.h"
#include "net/uv/event_loop.h"
#include "net/uv/uv_network.h"
#include "rpc/http/http_face.h"
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
  rpc::Server server(network);
  if (auto added = server.add(service, rpc::Server::Audience::everybody); !added) return added;
  rpc::HttpFace face(server, {.door = rpc::Door::clients, .login = take_any_token});
  net::HttpServer http(network, face, net::HttpServer::Options{.budget = &server.client_bytes()});
  const auto endpoint = http.listen({"127.0.0.1", 0});
  if (!endpoint) return endpoint.error();
  Seat::announce(endpoint->port);
  return coroutine::sleep_until(Deadline::never());
}

}  // namespace

Error serve_our_http_calls(const Seat& seat) { return serve_in_task(seat, serve); }

}  // namespace corolane::bench
