// SPDX-License-Identifier: MIT
// Crowds of plain WebSockets and the floors that serve them. The sessions of our servers are tested
// by the rows of tools/bench edge (command_test.py).
#include "tools/benchmarks/network/crowd.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "coroutine/testing/matchers.h"
#include "tools/benchmarks/floor/epoll_server.h"
#include "tools/benchmarks/network/crowd_echo.h"
#include "tools/benchmarks/network/server_process.h"

namespace corolane::bench {
namespace {

using namespace std::chrono_literals;
using test::fails_with;
using testing::HasSubstr;

constexpr std::size_t client_count = 5;

class CrowdTest : public testing::Test {
 protected:
  // Connects to a server of its own.
  Result<std::unique_ptr<Crowd>> connect(const Serve& serve, std::size_t message_bytes) {
    auto server = ServerProcess::start(serve);
    if (!server) return server.error();
    server_.emplace(std::move(*server));
    auto talk = plain_talk(message_bytes)(server_->port());
    if (!talk) return talk.error();
    talk_ = std::move(*talk);
    return Crowd::connect(server_->port(), *talk_, client_count);
  }

  std::optional<ServerProcess> server_;
  std::unique_ptr<Talk> talk_;
};

TEST_F(CrowdTest, EachClientHearsItsEcho) {
  const auto crowd = connect(serve_websocket_floor, echo_bytes);
  ASSERT_TRUE(crowd) << crowd;
  EXPECT_EQ((*crowd)->heard().open_count, client_count);
  for (std::size_t client = 0; client < client_count; ++client) {
    ASSERT_TRUE((*crowd)->request(client));
  }
  EXPECT_TRUE((*crowd)->await(&Heard::news_count, client_count));
}

TEST_F(CrowdTest, AnEchoMayBeOfAnySize) {
  for (const std::size_t message_bytes : {1, 125, 126, 60'000}) {
    const auto crowd = connect(serve_websocket_floor, message_bytes);
    ASSERT_TRUE(crowd) << crowd;
    ASSERT_TRUE((*crowd)->request(0));
    EXPECT_TRUE((*crowd)->await(&Heard::news_count, 1));
  }
}

TEST_F(CrowdTest, AllHearAPublicationAndNobodyAnAcknowledgement) {
  const auto crowd = connect(serve_publishing_floor, publication_bytes);
  ASSERT_TRUE(crowd) << crowd;
  for (std::size_t round = 1; round <= 3; ++round) {
    ASSERT_TRUE((*crowd)->request(0));
    ASSERT_TRUE((*crowd)->await(&Heard::news_count, round * client_count));
    for (std::size_t client = 0; client < client_count; ++client) {
      ASSERT_TRUE((*crowd)->acknowledge(client));
    }
  }
  EXPECT_EQ((*crowd)->heard().news_count, 3 * client_count);
}

TEST_F(CrowdTest, AServerWithoutWebSocketsIsAnError) {
  EXPECT_THAT(connect(serve_echo_floor, echo_bytes), fails_with(Code::internal));
}

TEST_F(CrowdTest, AMessageOfAnotherSizeIsAnError) {
  const auto crowd = connect(serve_websocket_floor, echo_bytes);
  ASSERT_TRUE(crowd) << crowd;
  ASSERT_TRUE((*crowd)->say(1, Bytes(3)));
  EXPECT_THAT((*crowd)->await(&Heard::news_count, 1), fails_with(Code::internal));
}

TEST_F(CrowdTest, AClosedLoopCountsEachEcho) {
  const auto server = ServerProcess::start(serve_websocket_floor);
  ASSERT_TRUE(server) << server;
  const auto generator = crowd_echo(plain_talk(echo_bytes), client_count)(server->port());
  ASSERT_TRUE(generator) << generator;
  ASSERT_TRUE((*generator)->run(1ms));
  const auto outcome = (*generator)->run(20ms);
  ASSERT_TRUE(outcome) << outcome;
  EXPECT_GE(outcome->op_count, client_count);
  EXPECT_GE(outcome->p99, outcome->p50);
}

TEST_F(CrowdTest, ADistantCrowdNoticesThatItsServerIsGone) {
  auto server = std::make_optional(ServerProcess::start(serve_websocket_floor));
  ASSERT_TRUE(*server) << *server;
  auto crowd = DistantCrowd::start((*server)->port(), plain_talk(echo_bytes), client_count);
  ASSERT_TRUE(crowd) << crowd;
  EXPECT_TRUE(crowd->check());
  server.reset();
  const auto checked = crowd->check();
  ASSERT_THAT(checked, fails_with(Code::unavailable));
  EXPECT_THAT(checked.error().message(), HasSubstr("the clients: "));
}

}  // namespace
}  // namespace corolane::bench
