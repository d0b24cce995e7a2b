// SPDX-License-Identifier: MIT
// How long a vanished peer is waited for.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "coroutine/testing/matchers.h"
#include "test/rpc/echo_service.h"
#include "test/rpc/raw_peer.h"

namespace corolane::test {
namespace {

using namespace std::chrono_literals;
using rpc::FrameType;

TEST(KeepaliveTest, PendingCallsEndWhenTheServerIsSilentForTooLong) {
  EchoWorld world;
  auto connection = world.connect({.keepalive = {.interval = 10s, .patience = 5s}});
  auto call = coroutine::spawn("caller", [&] {
    return EchoClient(*connection).sleep(make_sleep(1h), {.deadline = Deadline::after(1h)});
  });
  ASSERT_TRUE(coroutine::sleep_for(10ms));
  const TimePoint start = now();
  world.network.go_silent();

  const auto reply = call.join(Deadline::never());

  ASSERT_THAT(reply, fails_with(Code::unavailable));
  EXPECT_TRUE(reply.error().maybe_executed());
  EXPECT_GE(now() - start, 14s);
  EXPECT_LE(now() - start, 16s);
}

TEST(KeepaliveTest, HandlersOfAClientThatVanishedAreCancelled) {
  EchoWorld world({.keepalive = {.interval = 10s, .patience = 5s}});
  auto connection = world.connect({.keepalive = {.interval = 10h, .patience = 5s}});
  auto call = coroutine::spawn("caller", [&] {
    return EchoClient(*connection).sleep(make_sleep(1h), {.deadline = Deadline::after(1h)});
  });
  ASSERT_TRUE(coroutine::sleep_for(10ms));
  world.network.go_silent();
  ASSERT_TRUE(coroutine::sleep_for(16s));
  EXPECT_EQ(world.service.cancelled_count, 1);
  EXPECT_EQ(world.server.statistics().connection_count, 0u);
  connection->close();
  EXPECT_FALSE(call.join(Deadline::never()));
}

TEST(KeepaliveTest, IdleConnectionStaysForever) {
  EchoWorld world;
  auto connection = world.connect();
  ASSERT_TRUE(coroutine::sleep_for(24h));
  EXPECT_TRUE(connection->is_connected());
  EXPECT_EQ(connection->statistics().connect_count, 1u);
}

TEST(KeepaliveTest, PingIsAnsweredAndASilentPeerIsPinged) {
  EchoWorld world;
  RawPeer peer(world);
  peer.say_hello({});
  EXPECT_EQ(peer.receive()->header.type, FrameType::hello);
  peer.send({.type = FrameType::ping});
  EXPECT_EQ(peer.receive()->header.type, FrameType::pong);
  // A silent peer is pinged, and lost when it does not answer.
  EXPECT_EQ(peer.receive()->header.type, FrameType::ping);
  const TimePoint asked = now();
  EXPECT_FALSE(peer.receive());
  EXPECT_LE(now() - asked, 6s);
}

TEST(KeepaliveTest, PingBeforeTheHelloIsNotAHello) {
  EchoWorld world;
  RawPeer peer(world);
  peer.send({.type = FrameType::ping});
  EXPECT_EQ(peer.receive_bye().code(), Code::unauthenticated);
}

// Sends a request of `size` bytes at a steady rate; returns whether it was answered.
bool is_answered_at(EchoWorld& world, std::size_t size, std::size_t bytes_per_second) {
  RawPeer peer(world);
  peer.say_hello({});
  EXPECT_EQ(peer.receive()->header.type, FrameType::hello);
  std::string frame(rpc::frame_header_size, '\0');
  const std::string message = make_echo(std::string(size - 4, 'x')).SerializeAsString();
  const rpc::FrameHeader header{.payload_size = static_cast<std::uint32_t>(message.size()),
                                .type = FrameType::request,
                                .call_id = 1,
                                .method_id = rpc::method_id("corolane.test.Echo/Echo")};
  rpc::encode(header, std::as_writable_bytes(std::span(frame)).first<rpc::frame_header_size>());
  frame += message;
  const std::size_t piece = std::max<std::size_t>(bytes_per_second / 4, 1);
  for (std::size_t at = 0; at < frame.size(); at += piece) {
    const auto bytes = net::bytes_of(std::string_view(frame).substr(at, piece));
    if (!peer.stream().try_write(bytes)) return false;
    EXPECT_TRUE(coroutine::sleep_for(bytes_per_second >= 4 ? 250ms : 4s));
    if (world.server.statistics().connection_count == 0) return false;
  }
  while (const auto received = peer.receive(1s)) {
    if (received->header.type == FrameType::reply) return received->header.code == 0;
  }
  return false;
}

TEST(KeepaliveTest, FrameThatTricklesEndsTheConnectionAfterTenSeconds) {
  EchoWorld world;
  const TimePoint start = now();
  EXPECT_FALSE(is_answered_at(world, 1000, 1));
  EXPECT_GE(now() - start, 10s);
  EXPECT_LE(now() - start, 13s);
}

TEST(KeepaliveTest, FrameThatArrivesSlowlyButSteadilyIsServed) {
  EchoWorld world({}, {}, {.request_bytes_max = std::size_t{256} * 1024, .door = rpc::Door::nodes});
  EXPECT_TRUE(is_answered_at(world, 63 * 1024, 6600));
  EXPECT_TRUE(is_answered_at(world, 250 * 1024, 7000));
  EXPECT_FALSE(is_answered_at(world, 250 * 1024, 6000));
}

TEST(KeepaliveTest, TimeOfAFrameDoesNotRunWhileItsSenderHasToWait) {
  EchoWorld world;
  RawPeer peer(world);
  peer.say_hello({});
  // More than the server queues before it stops reading, then half a frame.
  world.service.reply_bytes = std::size_t{60} * 1024;
  for (std::uint64_t id = 1; id <= 3; ++id) peer.call("", id);
  const std::string rest = make_echo("late").SerializeAsString();
  const rpc::FrameHeader header{.payload_size = static_cast<std::uint32_t>(rest.size()),
                                .type = FrameType::request,
                                .call_id = 9,
                                .method_id = rpc::method_id("corolane.test.Echo/Echo")};
  std::array<std::byte, rpc::frame_header_size> bytes;
  rpc::encode(header, bytes);
  ASSERT_TRUE(peer.stream().try_write(bytes));
  // The client reads just enough to show that it is alive.
  std::vector<std::byte> buffer(4096);
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(coroutine::sleep_for(3s));
    ASSERT_TRUE(peer.stream().read_some(buffer, Deadline::after(1h)));
  }
  ASSERT_TRUE(peer.stream().try_write(net::bytes_of(rest)));
  std::vector<std::byte> large(1 << 20);
  for (std::size_t count = 1; count > 0;) {
    count = peer.stream().read_some(large, Deadline::after(1s)).value_or(0);
  }
  EXPECT_EQ(world.service.echoed.back(), "late");
}

}  // namespace
}  // namespace corolane::test
