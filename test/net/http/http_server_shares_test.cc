// SPDX-License-Identifier: MIT
// The shares of one address in an HttpServer, in virtual time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "coroutine/task.h"
#include "net/http/http_server.h"
#include "net/testing/network.h"
#include "test/net/stream_pair.h"

namespace corolane::net {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::StartsWith;

constexpr std::string_view plain_get = "GET / HTTP/1.1\r\nHost: h\r\n\r\n";

// A server whose handler takes a minute.
class HttpServerSharesTest : public testing::Test {
 protected:
  void serve(const HttpServer::Options& options) {
    server_ = std::make_unique<HttpServer>(network_, HttpHandler([](const HttpRequest&) {
                                             static_cast<void>(coroutine::sleep_for(1min));
                                             return HttpResponse{.body = "at last"};
                                           }),
                                           options);
    ASSERT_TRUE(server_->listen({"server", 1}));
  }
  // A client that sends `text` at once.
  std::unique_ptr<Stream> connect(const std::string& address, std::string_view text = plain_get) {
    network_.set_client_address(address);
    auto stream = network_.connect({"server", 1}, Deadline::after(1s));
    if (!stream) return nullptr;
    EXPECT_TRUE((*stream)->try_write(bytes_of(text)));
    return *std::move(stream);
  }
  static std::string first_text(Stream& stream) {
    return read_text(stream, Deadline::after(2min)).value_or("nothing");
  }
  void settle() { ASSERT_TRUE(coroutine::sleep_for(100ms)); }

  sim::SimulatedNetwork network_;
  ConnectionBound connections_{{.count_max = 10}};
  std::unique_ptr<HttpServer> server_;
};

TEST_F(HttpServerSharesTest, AConnectionAboveTheShareOfItsAddressGetsA503) {
  serve({.connections = &connections_});
  std::vector<std::unique_ptr<Stream>> held;
  for (int i = 0; i < 5; ++i) held.push_back(connect("10.0.0.1", ""));
  settle();
  const auto refused = connect("10.0.0.1");
  const std::string answer = first_text(*refused);
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 503 Service Unavailable\r\n"));
  EXPECT_THAT(answer, HasSubstr("Retry-After: 1\r\n"));
  const auto other = connect("10.0.0.2");
  EXPECT_THAT(first_text(*other), StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_EQ(server_->statistics().refused_connection_count, 1u);
}

TEST_F(HttpServerSharesTest, AFloodFromManyAddressesLeavesATenthToNewcomers) {
  serve({.connections = &connections_});
  std::vector<std::unique_ptr<Stream>> held;
  for (int i = 0; i < 20; ++i) held.push_back(connect("10.0.0." + std::to_string(i % 3), ""));
  settle();
  EXPECT_EQ(connections_.statistics().count, 9u);
  const auto newcomer = connect("10.0.1.1");
  EXPECT_THAT(first_text(*newcomer), StartsWith("HTTP/1.1 200 OK\r\n"));
}

TEST_F(HttpServerSharesTest, PlacesAreGivenBackByPeersThatLeave) {
  serve({.connections = &connections_});
  for (int round = 0; round < 30; ++round) {
    std::vector<std::unique_ptr<Stream>> held;
    for (int i = 0; i < 12; ++i) {
      held.push_back(connect("10.0." + std::to_string(round) + "." + std::to_string(i / 2)));
    }
    settle();
    EXPECT_EQ(connections_.statistics().count, 10u);
    held.clear();
    ASSERT_TRUE(coroutine::sleep_for(6s));  // The server lingers, for peers that still read.
    EXPECT_EQ(connections_.statistics().count, 0u);
    EXPECT_EQ(connections_.statistics().address_count, 0u);
  }
  EXPECT_EQ(server_->statistics().connection_count, 0u);
}

TEST_F(HttpServerSharesTest, RefusedPeersThatStayCostLittle) {
  serve({.connections = &connections_});
  std::vector<std::unique_ptr<Stream>> held;
  for (int i = 0; i < 500; ++i) held.push_back(connect("10.0.0.1", ""));
  EXPECT_LE(server_->statistics().connection_count, 5u + 64u);
  ASSERT_TRUE(coroutine::sleep_for(5s));
  EXPECT_EQ(server_->statistics().connection_count, 5u);
  EXPECT_EQ(server_->statistics().refused_connection_count, 495u);
}

}  // namespace
}  // namespace corolane::net
