// SPDX-License-Identifier: MIT
// A server that stops loses no call.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>

#include "coroutine/task_group.h"
#include "coroutine/testing/matchers.h"
#include "test/rpc/echo_service.h"
#include "test/rpc/raw_peer.h"

namespace corolane::test {
namespace {

using namespace std::chrono_literals;
using rpc::FrameType;

TEST(DrainTest, RollingRestartUnderLoadLosesNoCall) {
  sim::SimulatedNetwork network;
  EchoService service;
  const auto make_server = [&] {
    auto server = std::make_unique<rpc::Server>(network);
    check(server->add(service).has_value(), "the service can be added");
    check(server->listen({"server", 1}, {.door = rpc::Door::nodes}).has_value(),
          "the server listens");
    return server;
  };
  auto server = make_server();
  auto connection = rpc::Client::connect(network, {"server", 1}, Deadline::after(1s));
  ASSERT_TRUE(connection);

  bool is_over = false;
  int succeeded = 0;
  coroutine::TaskGroup callers;
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(callers.spawn("caller", [&] {
      while (!is_over) {
        const auto reply = EchoClient(**connection).sleep(make_sleep(7ms));
        ASSERT_TRUE(reply) << reply;
        ++succeeded;
      }
    }));
  }
  for (int restart = 0; restart < 10; ++restart) {
    ASSERT_TRUE(coroutine::sleep_for(50ms));
    ASSERT_TRUE(server->stop(Deadline::after(5s)));
    server = make_server();
  }
  ASSERT_TRUE(coroutine::sleep_for(100ms));
  is_over = true;
  ASSERT_TRUE(callers.join(Deadline::never()));
  EXPECT_GT(succeeded, 500);
  EXPECT_EQ((*connection)->statistics().connect_count, 11u);
}

TEST(DrainTest, ClientsAreAskedToLeaveAndMayFinishTheirCalls) {
  EchoWorld world;
  auto connection = world.connect();
  auto call = coroutine::spawn(
      "caller", [&] { return EchoClient(*connection).sleep(make_sleep(200ms, "done")); });
  ASSERT_TRUE(coroutine::sleep_for(10ms));
  const TimePoint start = now();

  EXPECT_TRUE(world.server.stop(Deadline::after(5s)));

  EXPECT_TRUE(call.join(Deadline::never()));
  EXPECT_LE(now() - start, 200ms);
}

TEST(DrainTest, RequestInFlightWhenTheServerStopsIsServed) {
  EchoWorld world;
  auto connection = world.connect();
  auto call = coroutine::spawn(
      "caller", [&] { return EchoClient(*connection).echo(make_echo("just in time")); });
  ASSERT_TRUE(coroutine::yield());
  EXPECT_TRUE(world.server.stop(Deadline::after(5s)));
  EXPECT_TRUE(call.join(Deadline::never()));
  EXPECT_EQ(world.service.echoed.size(), 1u);
}

TEST(DrainTest, ClientThatDoesNotLeaveDelaysTheServerOnlyBriefly) {
  EchoWorld world({.leave_time_max = 1s});
  RawPeer peer(world);
  peer.say_hello({});
  ASSERT_TRUE(coroutine::sleep_for(10ms));
  const TimePoint start = now();
  auto stop = coroutine::spawn("stop", [&] { return world.server.stop(Deadline::after(5s)); });
  EXPECT_EQ(peer.receive()->header.type, FrameType::hello);
  EXPECT_EQ(peer.receive()->header.type, FrameType::go_away);
  EXPECT_TRUE(stop.join(Deadline::never()));
  EXPECT_EQ(now() - start, 1s);
}

TEST(DrainTest, RequestAfterTheLastOneBreaksTheProtocol) {
  EchoWorld world;
  RawPeer peer(world);
  peer.say_hello({});
  peer.send({.type = FrameType::go_away});
  peer.call("one more");
  EXPECT_EQ(peer.receive_bye().code(), Code::invalid_argument);
  EXPECT_TRUE(world.service.echoed.empty());
}

}  // namespace
}  // namespace corolane::test
