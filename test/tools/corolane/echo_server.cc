// SPDX-License-Identifier: MIT
// Serves echo.proto on a free loopback port, prints the port, and ends with its input: for tests
// that need a real process.
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <string>
#include <thread>

#include "coroutine/scheduler.h"
#include "coroutine/sync/event.h"
#include "net/uv/event_loop.h"
#include "net/uv/uv_network.h"
#include "rpc/reflection/reflection.h"
#include "rpc/server/server.h"
#include "test/tools/corolane/echo_service.h"

namespace corolane::cli_test {
namespace {

Result<void> serve(net::Network& network, bool with_reflection, coroutine::Event& input_ended) {
  EchoService echo;
  SecondEchoService second_echo;
  TestWall wall;
  std::optional<rpc::ReflectionService> reflection;
  rpc::Server server(network);
  if (auto added = server.add(echo); !added) return added;
  if (auto added = server.add(second_echo); !added) return added;
  if (auto added = server.add(wall); !added) return added;
  if (with_reflection) {
    if (auto added = server.add(reflection.emplace(server)); !added) return added;
  }
  const auto endpoint =
      server.listen({.address = "127.0.0.1", .port = 0}, {.door = rpc::Door::nodes});
  if (!endpoint) return endpoint.error();
  std::cout << endpoint->port << '\n' << std::flush;
  return input_ended.wait(Deadline::never());
}

int run(bool with_reflection) {
  net::EventLoop loop;
  coroutine::Scheduler scheduler(loop);
  net::UvNetwork network(loop);
  coroutine::Event input_ended("end of the input");
  // Ends with the test even if the test crashes, since that closes the pipe.
  std::jthread reader([&] {
    while (std::getchar() != EOF) {
    }
    scheduler.post([&] { input_ended.set(); });
  });
  Result<void> served;
  const auto ran =
      scheduler.run("main", [&] { served = serve(network, with_reflection, input_ended); });
  if (!ran) served = ran.error();
  if (!served) std::cerr << served << '\n';
  return served ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace
}  // namespace corolane::cli_test

int main(int argc, char** argv) {
  return corolane::cli_test::run(argc < 2 || std::string(argv[1]) != "--without-reflection");
}
