// SPDX-License-Identifier: MIT
// Serves echo.proto and mirror.proto over HTTP on a free loopback port for clients in other
// processes. Prints the port, and ends at the end of its input.
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <thread>

#include "coroutine/scheduler.h"
#include "coroutine/sync/event.h"
#include "net/http/http_server.h"
#include "net/uv/event_loop.h"
#include "net/uv/uv_network.h"
#include "rpc/http/http_face.h"
#include "rpc/server/server.h"
#include "test/rpc/echo_service.h"
#include "test/rpc/mirror_service.h"

namespace corolane::test {
namespace {

Result<void> serve(net::Network& network, coroutine::Event& input_ended) {
  EchoService echo;
  MirrorService mirror;
  rpc::Server server(network);
  if (auto added = server.add(echo); !added) return added;
  if (auto added = server.add(mirror); !added) return added;
  rpc::HttpFace face(server, {.door = rpc::Door::nodes});
  net::HttpServer http(network, face, net::HttpServer::Options{});
  const auto endpoint = http.listen({.address = "127.0.0.1", .port = 0});
  if (!endpoint) return endpoint.error();
  std::cout << endpoint->port << '\n' << std::flush;
  return input_ended.wait(Deadline::never());
}

int run() {
  net::EventLoop loop;
  coroutine::Scheduler scheduler(loop);
  net::UvNetwork network(loop);
  coroutine::Event input_ended("end of the input");
  // Ends with the test even if the test crashes: its end of the pipe closes then.
  std::jthread reader([&] {
    while (std::getchar() != EOF) {
    }
    scheduler.post([&] { input_ended.set(); });
  });
  Result<void> served;
  const auto ran = scheduler.run("main", [&] { served = serve(network, input_ended); });
  if (!ran) served = ran.error();
  if (!served) std::cerr << served << '\n';
  return served ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace
}  // namespace corolane::test

int main() { return corolane::test::run(); }
