// SPDX-License-Identifier: MIT
// Calls leave on schedule, to a server that answers and to one that does not.
#include "tools/benchmarks/network/open_loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "coroutine/testing/matchers.h"
#include "tools/benchmarks/floor/epoll_server.h"
#include "tools/benchmarks/network/server_process.h"
#include "tools/benchmarks/network/socket.h"

namespace corolane::bench {
namespace {

using namespace std::chrono_literals;

const OpenLoop::Options clients = {
    .method = "corolane.bench.Echo/Echo", .connection_count = 3, .deadline = 2s};

TEST(OpenLoopTest, CallsLeaveAtTheGivenRateAndAllAreCounted) {
  const auto server = ServerProcess::start(serve_rpc_floor);
  ASSERT_TRUE(server) << server;
  const auto loop = OpenLoop::connect(server->port(), clients);
  ASSERT_TRUE(loop) << loop;
  for (int run = 0; run < 2; ++run) {
    const auto outcome = (*loop)->run(10'000, 50ms);
    ASSERT_TRUE(outcome) << outcome;
    EXPECT_NEAR(static_cast<double>(outcome->sent_count), 500, 1);
    EXPECT_EQ(outcome->answered_count(), outcome->sent_count);
    EXPECT_EQ(outcome->refused_count, 0);
    EXPECT_EQ(outcome->latency_ns.count(), outcome->sent_count);
  }
}

TEST(OpenLoopTest, UnansweredCallsAreNotGood) {
  const auto silent = [](const Seat&) -> Error {
    const auto listening = listen_on_loopback();
    if (!listening) return listening.error();
    Seat::announce(listening->port);
    for (;;) pause();
  };
  const auto server = ServerProcess::start(silent);
  ASSERT_TRUE(server) << server;
  auto impatient = clients;
  impatient.deadline = 10ms;
  const auto loop = OpenLoop::connect(server->port(), impatient);
  ASSERT_TRUE(loop) << loop;
  const auto outcome = (*loop)->run(1'000, 20ms);
  ASSERT_TRUE(outcome) << outcome;
  EXPECT_NEAR(static_cast<double>(outcome->sent_count), 20, 1);
  EXPECT_EQ(outcome->answered_count(), 0);
}

}  // namespace
}  // namespace corolane::bench
