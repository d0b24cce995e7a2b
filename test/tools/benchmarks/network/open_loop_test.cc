// SPDX-License-Identifier: MIT
// Calls leave on schedule, to a server that answers and to one that does not.
#include "tools/benchmarks/network/open_loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <string>

#include "coroutine/testing/matchers.h"
#include "tools/benchmarks/floor/epoll_server.h"
#include "tools/benchmarks/network/http_open_loop.h"
#include "tools/benchmarks/network/http_text.h"
#include "tools/benchmarks/network/server_process.h"
#include "tools/benchmarks/network/socket.h"
#include "tools/benchmarks/peers/uv_server.h"

namespace corolane::bench {
namespace {

using namespace std::chrono_literals;

// A way of the calls, and a server that answers them.
struct Way {
  const char* name;
  Error (*serve)(const Seat& seat);
  Result<std::unique_ptr<OpenLoop>> (*connect)(std::uint16_t port,
                                               std::chrono::milliseconds deadline);
};

const Way frames = {
    .name = "frames",
    .serve = serve_rpc_floor,
    .connect = [](std::uint16_t port,
                  std::chrono::milliseconds deadline) -> Result<std::unique_ptr<OpenLoop>> {
      return FramesOpenLoop::connect(
          port,
          {.method = "corolane.bench.Echo/Echo", .connection_count = 3, .deadline = deadline});
    }};
const Way frames_at_a_pace = {
    .name = "frames_at_a_pace",
    .serve = serve_rpc_floor,
    .connect = [](std::uint16_t port,
                  std::chrono::milliseconds deadline) -> Result<std::unique_ptr<OpenLoop>> {
      return FramesOpenLoop::connect(port, {.method = "corolane.bench.Echo/Echo",
                                            .connection_count = 3,
                                            .deadline = deadline,
                                            .pace = 2ms});
    }};
const Way http = {
    .name = "http",
    .serve = serve_uv_http,
    .connect = [](std::uint16_t port,
                  std::chrono::milliseconds deadline) -> Result<std::unique_ptr<OpenLoop>> {
      return HttpOpenLoop::connect(port, {.request = http_json_request("Echo", deadline),
                                          .connection_count = 1'000,
                                          .deadline = deadline});
    }};

class OpenLoopTest : public testing::TestWithParam<Way> {};

TEST_P(OpenLoopTest, CallsLeaveAtTheGivenRateAndAllAreCounted) {
  const auto server = ServerProcess::start(GetParam().serve);
  ASSERT_TRUE(server) << server;
  const auto loop = GetParam().connect(server->port(), 2s);
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

TEST_P(OpenLoopTest, UnansweredCallsAreNotGood) {
  const auto silent = [](const Seat&) -> Error {
    const auto listening = listen_on_loopback();
    if (!listening) return listening.error();
    Seat::announce(listening->port);
    for (;;) pause();
  };
  const auto server = ServerProcess::start(silent);
  ASSERT_TRUE(server) << server;
  const auto loop = GetParam().connect(server->port(), 10ms);
  ASSERT_TRUE(loop) << loop;
  const auto outcome = (*loop)->run(1'000, 20ms);
  ASSERT_TRUE(outcome) << outcome;
  EXPECT_NEAR(static_cast<double>(outcome->sent_count), 20, 1);
  EXPECT_EQ(outcome->answered_count(), 0);
}

INSTANTIATE_TEST_SUITE_P(Ways, OpenLoopTest, testing::Values(frames, frames_at_a_pace, http),
                         [](const auto& way) { return std::string(way.param.name); });

}  // namespace
}  // namespace corolane::bench
