// SPDX-License-Identifier: MIT
// Servers that start, servers that do not, and the clock of a server.
#include "tools/benchmarks/network/server_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <ctime>

#include "coroutine/testing/matchers.h"
#include "tools/benchmarks/network/socket.h"

namespace corolane::bench {
namespace {

using namespace std::chrono_literals;
using test::fails_with;
using testing::HasSubstr;

// Uses 20 ms, then announces a port and waits for its end.
Error burn_and_wait(const Seat& seat) {
  *seat.allocation_count = 3;
  const std::clock_t end = std::clock() + CLOCKS_PER_SEC / 50;
  while (std::clock() < end) {
  }
  Seat::announce(1'234);
  for (;;) pause();
}

TEST(ServerProcessTest, TheCpuTimeAndAllocationsOfAServerAreVisible) {
  const auto server = ServerProcess::start(burn_and_wait);
  ASSERT_TRUE(server) << server;
  EXPECT_EQ(server->port(), 1'234);
  EXPECT_EQ(server->allocation_count(), 3);
  EXPECT_GE(server->cpu_time(), 20ms);
}

TEST(ServerProcessTest, AServerThatCannotServeSaysWhy) {
  const auto server = ServerProcess::start(
      [](const Seat&) { return Error(Code::unimplemented, "not part of the tree yet"); });
  ASSERT_THAT(server, fails_with(Code::unavailable));
  EXPECT_THAT(server.error().message(), HasSubstr("not part of the tree yet"));
}

TEST(ServerProcessTest, AProgramThatIsMissingIsNamed) {
  const auto server = ServerProcess::start(program_server("/nowhere/go_peer", {"serve"}));
  ASSERT_THAT(server, fails_with(Code::unavailable));
  EXPECT_THAT(server.error().message(), HasSubstr("/nowhere/go_peer: No such file or directory"));
}

TEST(ServerProcessTest, ThePortClosesWithTheHandle) {
  const auto serve = [](const Seat&) -> Error {
    const auto listening = listen_on_loopback();
    if (!listening) return listening.error();
    Seat::announce(listening->port);
    for (;;) pause();
  };
  std::uint16_t port = 0;
  {
    const auto server = ServerProcess::start(serve);
    ASSERT_TRUE(server) << server;
    port = server->port();
    EXPECT_TRUE(connect_to_loopback(port));
  }
  EXPECT_THAT(connect_to_loopback(port), fails_with(Code::unavailable));
}

}  // namespace
}  // namespace corolane::bench
