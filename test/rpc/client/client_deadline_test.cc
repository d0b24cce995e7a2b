// SPDX-License-Identifier: MIT
// How long a client from outside the cluster may keep a call open.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "coroutine/testing/matchers.h"
#include "net/http/http_server.h"
#include "rpc/http/http_face.h"
#include "test/rpc/public_echo.h"

namespace corolane::test {
namespace {

using namespace std::chrono_literals;

class ClientDeadlineTest : public testing::Test {
 protected:
  // The answer to a call over HTTP that sleeps for half a minute.
  net::HttpResponse sleep_by_http(rpc::Door door, const std::string& timeout_ms) {
    rpc::HttpFace face(world_.server, {.door = door});
    net::HttpServer http(world_.network, face, net::HttpServer::Options{});
    const auto endpoint = http.listen({"server", 0});
    EXPECT_TRUE(endpoint);
    auto response = net::fetch_http(
        world_.network, {"server", endpoint->port},
        {.method = "POST",
         .target = "/corolane.test.Echo/Sleep",
         .body = R"({"milliseconds":"30000"})",
         .headers = {{"Content-Type", "application/json"}, {"Connect-Timeout-Ms", timeout_ms}}},
        Deadline::after(1min));
    return response.value_or(net::HttpResponse{.status = 0});
  }

  PublicWorld world_;
};

TEST_F(ClientDeadlineTest, CallOfAClientEndsByTheTimeoutOfItsMethod) {
  const auto client = world_.connect("10.0.0.1");
  ASSERT_TRUE(client);
  const TimePoint start = now();
  EXPECT_THAT(EchoClient(**client).sleep(make_sleep(30s), {.deadline = Deadline::after(1h)}),
              fails_with(Code::deadline_exceeded));
  EXPECT_EQ(now() - start, 3s + 2ms);
  EXPECT_EQ(world_.service.echo.cancelled_count, 1);
}

TEST_F(ClientDeadlineTest, ShorterDeadlineOfAClientStays) {
  const auto client = world_.connect("10.0.0.1");
  ASSERT_TRUE(client);
  EXPECT_THAT(EchoClient(**client).sleep(make_sleep(30s), {.deadline = Deadline::after(1s)}),
              fails_with(Code::deadline_exceeded));
  ASSERT_TRUE(coroutine::sleep_for(10ms));
  EXPECT_EQ(world_.service.echo.cancelled_count, 1);
}

TEST_F(ClientDeadlineTest, DeadlineOfANodeIsTrusted) {
  const auto node = world_.connect("10.0.0.1", 2);
  ASSERT_TRUE(node);
  EXPECT_TRUE(EchoClient(**node).sleep(make_sleep(30s), {.deadline = Deadline::after(1h)}));
}

TEST_F(ClientDeadlineTest, StreamOfAClientEndsByTheTimeoutOfItsMethod) {
  CountRequest request;
  request.set_count(2);
  request.set_milliseconds(60'000);
  for (const std::uint16_t port : {std::uint16_t{1}, std::uint16_t{2}}) {
    const auto peer = world_.connect("10.0.0.1", port);
    ASSERT_TRUE(peer);
    const TimePoint start = now();
    auto numbers = EchoClient(**peer).count(request, {.deadline = Deadline::never()});
    CountReply reply;
    while (numbers.read(reply)) continue;
    if (port == 1) {
      EXPECT_THAT(numbers.finish(), fails_with(Code::deadline_exceeded));
      EXPECT_EQ(now() - start, 10s + 2ms);
    } else {
      EXPECT_TRUE(numbers.finish());  // A node may read for as long as it likes.
    }
  }
}

TEST_F(ClientDeadlineTest, CallOverHttpEndsByTheTimeoutOfItsMethod) {
  const TimePoint start = now();
  EXPECT_EQ(sleep_by_http(rpc::Door::clients, "9999999999").status, 504u);
  EXPECT_LE(now() - start, 3s + 10ms);
  EXPECT_EQ(sleep_by_http(rpc::Door::nodes, "9999999999").status, 200u);
}

}  // namespace
}  // namespace corolane::test
