// SPDX-License-Identifier: MIT
// The server that the test suite of Autobahn calls: prints its port, and sends each message back,
// until the test, or its end, kills it.
#include <sys/prctl.h>

#include <csignal>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <utility>

#include "coroutine/scheduler.h"
#include "coroutine/task_group.h"
#include "net/uv/event_loop.h"
#include "net/uv/uv_network.h"
#include "net/websocket/websocket_upgrade.h"

namespace corolane::test {
namespace {

// Cases 9 send 16 MiB in one message, and in fragments of 64 bytes.
net::WebSocketUpgradeOptions upgrade_options() {
  return {.websocket = {.message_bytes_max = 32 * 1024 * 1024,
                        .fragment_count_max = 1024 * 1024,
                        .deflate_bytes_min = 0},
          .deflates = true};
}

void echo(std::unique_ptr<net::Stream> stream) {
  const Deadline deadline = Deadline::never();
  auto socket = net::accept_websocket(std::move(stream), deadline, upgrade_options());
  if (!socket) return;
  while (auto message = (*socket)->read_message(deadline)) {
    if (!(*socket)->write_message(message->kind, message->payload, deadline)) return;
  }
}

Result<void> serve(net::Network& network) {
  auto listener = network.listen({.address = "127.0.0.1", .port = 0});
  if (!listener) return listener.error();
  std::cout << (*listener)->local_endpoint().port << std::endl;
  coroutine::TaskGroup tasks;
  for (;;) {
    auto stream = (*listener)->accept(Deadline::never());
    if (!stream) return stream.error();
    auto shared = std::make_shared<std::unique_ptr<net::Stream>>(*std::move(stream));
    auto spawned = tasks.spawn("echo", [shared] { echo(std::move(*shared)); });
    if (!spawned) return spawned.error();
  }
}

int run() {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  net::EventLoop loop;
  coroutine::Scheduler scheduler(loop);
  net::UvNetwork network(loop);
  Result<void> served;
  const auto ran = scheduler.run("main", [&] { served = serve(network); });
  if (!ran) served = ran.error();
  if (!served) std::cerr << served << '\n';
  return served ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace
}  // namespace corolane::test

int main() { return corolane::test::run(); }
