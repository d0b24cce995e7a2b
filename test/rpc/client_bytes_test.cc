// SPDX-License-Identifier: MIT
// Clients that hold memory of the server cost one another their connections, and neither those that
// hold little nor nodes anything.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "coroutine/task.h"
#include "net/http/http_server.h"
#include "rpc/http/http_face.h"
#include "rpc/wire/frame.h"
#include "test/rpc/public_echo.h"
#include "test/rpc/raw_peer.h"

namespace corolane::test {
namespace {

using namespace std::chrono_literals;
using rpc::FrameType;

constexpr std::size_t bytes_max = 4'000'000;

class ClientBytesTest : public testing::Test {
 protected:
  net::ByteBudget::Statistics bytes() const { return world_.server.statistics().client_bytes; }

  void expect_served(std::uint16_t port = 1) {
    const auto client = world_.connect("10.9.9.9", port);
    ASSERT_TRUE(client) << client;
    EXPECT_TRUE(EchoClient(**client).echo(make_echo("still here")));
  }

  std::unique_ptr<RawPeer> peer(std::uint16_t port = 1) {
    world_.network.set_client_address("10.0.0." + std::to_string(++address_ % 250));
    auto peer = std::make_unique<RawPeer>(world_.network, port);
    peer->say_hello({});
    EXPECT_TRUE(peer->receive());
    return peer;
  }

  // Each asks for replies of 60 KB, and reads none.
  std::vector<std::unique_ptr<RawPeer>> slow_readers(std::size_t count, std::uint16_t port = 1) {
    world_.service.echo.reply_bytes = 60'000;
    std::vector<std::unique_ptr<RawPeer>> readers;
    for (std::size_t i = 0; i < count; ++i) {
      readers.push_back(peer(port));
      for (std::uint64_t id = 1; id <= 3; ++id) readers.back()->call("", id);
      EXPECT_TRUE(coroutine::sleep_for(5ms));
    }
    world_.service.echo.reply_bytes = 0;
    return readers;
  }

  PublicWorld world_{{.client_bytes_max = bytes_max, .node_bytes_max = bytes_max}};
  int address_ = 0;
};

TEST_F(ClientBytesTest, SlowReadersAreClosedAboveTheBudget) {
  const auto readers = slow_readers(200);
  EXPECT_LE(bytes().bytes, bytes_max);
  EXPECT_GE(bytes().bytes, bytes_max / 2);
  EXPECT_GT(bytes().evicted_count, 100u);
  EXPECT_EQ(world_.server.statistics().connection_count, 200 - bytes().evicted_count);
  expect_served();
}

TEST_F(ClientBytesTest, ReadersThatAreStuckKeepNoRequestOut) {
  const auto readers = slow_readers(64);
  EXPECT_GT(bytes().bytes, bytes_max * 9 / 10);
  const auto client = world_.connect("10.9.9.9");
  ASSERT_TRUE(client);
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(EchoClient(**client).echo(make_echo(std::string(50'000, 'x'))));
  }
  EXPECT_EQ(bytes().refused_count, 0u);
}

TEST_F(ClientBytesTest, HalfRequestsAreClosedAboveTheBudget) {
  std::vector<std::unique_ptr<RawPeer>> peers;
  const std::string half(50'000, 'x');
  for (int i = 0; i < 200; ++i) {
    peers.push_back(peer());
    std::array<std::byte, rpc::frame_header_size> header;
    rpc::encode({.payload_size = 60'000,
                 .type = FrameType::request,
                 .call_id = 1,
                 .method_id = rpc::method_id("corolane.test.Echo/Echo")},
                header);
    EXPECT_TRUE(peers.back()->stream().try_write(header));
    EXPECT_TRUE(peers.back()->stream().try_write(net::bytes_of(half)));
    EXPECT_TRUE(coroutine::sleep_for(5ms));
    EXPECT_LE(bytes().bytes, bytes_max);
  }
  EXPECT_GT(bytes().evicted_count, 50u);
  expect_served();
  peers.clear();
  EXPECT_TRUE(coroutine::sleep_for(5ms));
  EXPECT_EQ(bytes().bytes, 0u);
}

TEST_F(ClientBytesTest, HalfBodiesOverHttpCountInTheSameBudget) {
  rpc::HttpFace face(world_.server, {.door = rpc::Door::clients});
  net::HttpServer http(world_.network, face,
                       net::HttpServer::Options{.budget = &world_.server.client_bytes()});
  ASSERT_TRUE(http.listen({"server", 3}));
  const std::string head =
      "POST /corolane.test.Echo/Echo HTTP/1.1\r\nHost: server\r\n"
      "Content-Type: application/json\r\nContent-Length: 900000\r\n\r\n";
  std::vector<std::unique_ptr<net::Stream>> peers;
  for (int i = 0; i < 20; ++i) {
    auto stream = world_.network.connect({"server", 3}, Deadline::after(1s));
    ASSERT_TRUE(stream);
    EXPECT_TRUE((*stream)->try_write(net::bytes_of(head + std::string(400'000, 'x'))));
    peers.push_back(std::move(*stream));
    EXPECT_TRUE(coroutine::sleep_for(5ms));
    EXPECT_LE(bytes().bytes, bytes_max);
  }
  EXPECT_GT(bytes().evicted_count, 10u);
  expect_served();
  EXPECT_TRUE(http.stop(Deadline::after(1s)));
}

TEST_F(ClientBytesTest, LargeRequestsTakeAtMostHalf) {
  const auto client = world_.connect("10.0.0.1");
  ASSERT_TRUE(client);
  std::vector<coroutine::Task<EchoReply>> calls;
  int refused_count = 0;
  for (int i = 0; i < 80; ++i) {
    calls.push_back(coroutine::spawn("call", [&] {
      return EchoClient(**client).sleep(make_sleep(1s, std::string(60'000, 'x')));
    }));
  }
  for (auto& call : calls) {
    const auto reply = call.join(Deadline::never());
    if (reply) continue;
    EXPECT_EQ(reply.error().code(), Code::resource_exhausted);
    ++refused_count;
  }
  EXPECT_GE(refused_count, 80 - 34);
  EXPECT_LE(refused_count, 80 - 25);
  EXPECT_EQ(bytes().bytes, 0u);
}

TEST_F(ClientBytesTest, NodesNeitherPayForClientsNorCount) {
  const auto nodes = slow_readers(80, 2);
  EXPECT_EQ(bytes().bytes, 0u);
  const auto clients = slow_readers(200);
  EXPECT_EQ(world_.server.statistics().connection_count, 80 + 200 - bytes().evicted_count);
  expect_served(2);
}

TEST_F(ClientBytesTest, TheLimitMayChange) {
  const auto before = slow_readers(10);
  EXPECT_EQ(bytes().evicted_count, 0u);
  world_.server.set_limits({.client_bytes_max = 200'000});
  const auto after = slow_readers(2);
  EXPECT_LE(bytes().bytes, 200'000u);
  EXPECT_GT(bytes().evicted_count, 6u);
}

}  // namespace
}  // namespace corolane::test
