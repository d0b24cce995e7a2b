// How long a peer that vanished is waited for.
#include <gtest/gtest.h>

#include <chrono>

#include "test/rpc/echo_service.h"
#include "test/rpc/raw_peer.h"
#include "test/support/matchers.h"

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

  const auto reply = call.join();

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
  EXPECT_FALSE(call.join());
}

TEST(KeepaliveTest, IdleConnectionStaysForEver) {
  EchoWorld world;
  auto connection = world.connect();
  ASSERT_TRUE(coroutine::sleep_for(24h));
  EXPECT_TRUE(connection->is_connected());
  EXPECT_EQ(connection->statistics().connect_count, 1u);
}

TEST(KeepaliveTest, PingIsAnsweredAndNothingElseIsAsked) {
  EchoWorld world;
  RawPeer peer(world);
  peer.say_hello({});
  EXPECT_EQ(peer.receive()->header.type, FrameType::hello);
  peer.send({.type = FrameType::ping});
  EXPECT_EQ(peer.receive()->header.type, FrameType::pong);
  // One that says nothing is asked, and lost when it does not answer.
  EXPECT_EQ(peer.receive()->header.type, FrameType::ping);
  const TimePoint asked = now();
  EXPECT_FALSE(peer.receive());
  EXPECT_LE(now() - asked, 6s);
}

TEST(KeepaliveTest, PingBeforeTheHelloIsNoHello) {
  EchoWorld world;
  RawPeer peer(world);
  peer.send({.type = FrameType::ping});
  EXPECT_EQ(peer.receive_bye().code(), Code::unauthenticated);
}

}  // namespace
}  // namespace corolane::test
