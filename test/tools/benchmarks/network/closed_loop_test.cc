// SPDX-License-Identifier: MIT
// The generator runs against the floors, which answer, and against servers that do not.
#include "tools/benchmarks/network/closed_loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include "coroutine/testing/matchers.h"
#include "tools/benchmarks/floor/epoll_server.h"
#include "tools/benchmarks/network/server_process.h"
#include "tools/benchmarks/network/socket.h"

namespace corolane::bench {
namespace {

using namespace std::chrono_literals;
using test::fails_with;

Result<LoadOutcome> run(const Serve& serve, MakeProtocol protocol, Load load) {
  const auto server = ServerProcess::start(serve);
  if (!server) return server.error();
  const auto generator = closed_loop(protocol, load)(server->port());
  if (!generator) return generator.error();
  if (auto first = (*generator)->run(1ms); !first) return first;
  return (*generator)->run(20ms);
}

TEST(ClosedLoopTest, EveryConnectionHasItsWindowAnswered) {
  const auto outcome =
      run(serve_echo_floor, echo_protocol, {.connection_count = 5, .in_flight = 7});
  ASSERT_TRUE(outcome) << outcome;
  EXPECT_GE(outcome->op_count, 5 * 7);
  EXPECT_GE(outcome->elapsed, 20ms);
  EXPECT_GT(outcome->p50, 0ns);
  EXPECT_GE(outcome->p99, outcome->p50);
}

TEST(ClosedLoopTest, CallsOfTheFloorAreAnswered) {
  const auto outcome =
      run(serve_rpc_floor, rpc_echo_protocol, {.connection_count = 2, .in_flight = 3'000});
  ASSERT_TRUE(outcome) << outcome;
  EXPECT_GE(outcome->op_count, 2 * 3'000);
}

TEST(ClosedLoopTest, AServerOfAnotherProtocolIsAnError) {
  EXPECT_THAT(run(serve_echo_floor, websocket_protocol, {}), fails_with(Code::internal));
}

TEST(ClosedLoopTest, AServerThatHangsUpIsAnError) {
  const auto hang_up = [](const Seat&) -> Error {
    const auto listening = listen_on_loopback();
    if (!listening) return listening.error();
    Seat::announce(listening->port);
    for (;;) close(accept(listening->socket.number(), nullptr, nullptr));
  };
  EXPECT_THAT(run(hang_up, echo_protocol, {}), fails_with(Code::unavailable));
}

}  // namespace
}  // namespace corolane::bench
