// SPDX-License-Identifier: MIT
// What a node serves to clients on one port, with the default limits: frames, frames inside of TLS,
// and HTTP.
#include "coroutine/task.h"
#include "net/connection_bound.h"
#include "net/http/http_server.h"
#include "net/one_port/first_bytes.h"
#include "net/one_port/one_port.h"
#include "net/testing/certificates.h"
#include "net/tls/tls.h"
#include "net/uv/event_loop.h"
#include "net/uv/uv_network.h"
#include "rpc/http/http_face.h"
#include "rpc/server/server.h"
#include "rpc/wire/frame.h"
#include "tools/benchmarks/ours/echo_service.h"
#include "tools/benchmarks/ours/login.h"
#include "tools/benchmarks/ours/serve_in_task.h"
#include "tools/benchmarks/ours/servers.h"

namespace corolane::bench {
namespace {

Result<void> serve(net::EventLoop& loop) {
  net::UvNetwork network(loop);
  test::CertificateAuthority authority("bench");
  const auto files = authority.issue({.dns_names = {"server"}});
  auto context = net::TlsContext::load(
      {.certificate_file = files.certificate_file, .key_file = files.key_file});
  if (!context) return context.error();
  net::ConnectionBound connections({.count_max = rpc::Server::Options{}.connection_count_max});
  net::OnePort port(network, connections,
                    {{.name = "tls", .match = net::match_tls},
                     {.name = "frames", .match = rpc::match_hello},
                     {.name = "http", .match = net::match_http}});
  net::TlsNetwork secure(port.network("tls"), **context);
  EchoService service;
  rpc::Server server(network);
  if (auto added = server.add(service, rpc::Server::Audience::everybody); !added) return added;
  const auto listen = [&](const net::Endpoint& endpoint, net::Network& way) {
    return server.listen(endpoint, {.door = rpc::Door::clients,
                                    .login = take_any_token,
                                    .connections = &connections,
                                    .network = &way});
  };
  const auto endpoint = listen({"127.0.0.1", 0}, port.network("frames"));
  if (!endpoint) return endpoint.error();
  if (auto encrypted = listen(*endpoint, secure); !encrypted) return encrypted.error();
  rpc::HttpFace face(server, {.door = rpc::Door::clients, .login = take_any_token});
  net::HttpServer http(
      port.network("http"), face,
      net::HttpServer::Options{.connections = &connections, .budget = &server.client_bytes()});
  if (auto listens = http.listen(*endpoint); !listens) return listens.error();
  Seat::announce(endpoint->port);
  return coroutine::sleep_until(Deadline::never());
}

}  // namespace

Error serve_our_client_door(const Seat& seat) { return serve_in_task(seat, serve); }

}  // namespace corolane::bench
