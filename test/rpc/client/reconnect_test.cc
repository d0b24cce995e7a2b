// SPDX-License-Identifier: MIT
// A client whose connection breaks, or whose server is gone.
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "coroutine/scheduler.h"
#include "coroutine/task_group.h"
#include "coroutine/testing/matchers.h"
#include "coroutine/virtual_time.h"
#include "test/rpc/echo_service.h"

namespace corolane::test {
namespace {

using namespace std::chrono_literals;

TEST(ReconnectTest, CallAfterALossGoesOverTheNextConnection) {
  EchoWorld world;
  auto connection = world.connect();
  EchoClient client(*connection);
  world.network.reset_all();

  const auto reply = client.echo(make_echo("again"));

  ASSERT_TRUE(reply) << reply;
  EXPECT_EQ(reply->text(), "again");
  EXPECT_EQ(connection->statistics().connect_count, 2u);
  EXPECT_EQ(connection->statistics().retry_count, 0u);
}

TEST(ReconnectTest, CallsThatWaitForAConnectionKeepTheirOrder) {
  EchoWorld world;
  auto connection = world.connect();
  world.network.reset_all();
  coroutine::TaskGroup callers;
  std::vector<std::string> expected;
  for (int i = 0; i < 50; ++i) {
    expected.push_back(std::to_string(i));
    ASSERT_TRUE(callers.spawn("caller", [&connection, i] {
      EXPECT_TRUE(EchoClient(*connection).echo(make_echo(std::to_string(i))));
    }));
  }
  ASSERT_TRUE(callers.join(Deadline::never()));
  EXPECT_EQ(world.service.echoed, expected);
}

TEST(ReconnectTest, ConnectionIsRestoredBeforeTheNextCall) {
  EchoWorld world;
  auto connection = world.connect();
  world.network.reset_all();
  ASSERT_TRUE(coroutine::sleep_for(10ms));
  EXPECT_TRUE(connection->is_connected());
  EXPECT_EQ(world.server.statistics().connection_count, 1u);
}

TEST(ReconnectTest, CallsWaitForAServerThatRestarts) {
  sim::SimulatedNetwork network;
  EchoService service;
  std::optional<rpc::Server> server;
  const auto start = [&] {
    server.emplace(network);
    ASSERT_TRUE(server->add(service));
    ASSERT_TRUE(server->listen({"server", 1}, {.door = rpc::Door::nodes}));
  };
  start();
  auto connection = rpc::Client::connect(network, {"server", 1}, Deadline::after(1s));
  ASSERT_TRUE(connection);
  server.reset();
  ASSERT_TRUE(coroutine::sleep_for(10ms));

  auto call = coroutine::spawn("caller", [&] {
    return EchoClient(**connection).echo(make_echo("late"), {.deadline = Deadline::after(5s)});
  });
  ASSERT_TRUE(coroutine::sleep_for(1s));
  EXPECT_FALSE(call.is_done());
  start();

  const auto reply = call.join(Deadline::never());
  EXPECT_TRUE(reply) << reply;
}

TEST(ReconnectTest, CallsFailAtOnceWhenTheServerIsGoneForLong) {
  EchoWorld world;
  auto connection = world.connect({.unreachable_after = 3s});
  EchoClient client(*connection);
  ASSERT_TRUE(world.server.stop(Deadline::after(1s)));
  const TimePoint start = now();

  const auto first = client.echo(make_echo(""));
  ASSERT_FALSE(first);
  EXPECT_EQ(first.error().code(), Code::unavailable);
  EXPECT_FALSE(first.error().maybe_executed());
  EXPECT_GT(first.error().retry_after(), 0ms);
  EXPECT_GE(now() - start, 2900ms);
  EXPECT_LE(now() - start, 3s);

  const TimePoint later = now();
  for (int i = 0; i < 100; ++i) {
    EXPECT_THAT(client.echo(make_echo("")), fails_with(Code::unavailable));
  }
  EXPECT_EQ(now(), later);
}

TEST(ReconnectTest, AnImpatientClientIsToldToRetrySoon) {
  EchoWorld world;
  auto connection = world.connect({.unreachable_after = 0ms});
  ASSERT_TRUE(world.server.stop(Deadline::after(1s)));
  const auto reply =
      EchoClient(*connection).echo(make_echo(""), {.deadline = Deadline::after(100ms)});
  ASSERT_FALSE(reply);
  EXPECT_GT(reply.error().retry_after(), 0ms);
  EXPECT_LE(reply.error().retry_after(), 2s);
}

TEST(ReconnectTest, ServerThatWasGoneForLongIsFoundAgain) {
  EchoWorld world;
  auto connection = world.connect();
  EchoClient client(*connection);
  ASSERT_TRUE(world.server.stop(Deadline::after(1s)));
  ASSERT_TRUE(coroutine::sleep_for(1h));
  EXPECT_FALSE(client.echo(make_echo("")));

  rpc::Server second(world.network);
  ASSERT_TRUE(second.add(world.service));
  ASSERT_TRUE(second.listen({"server", 1}, {.door = rpc::Door::nodes}));
  EXPECT_THAT(client.echo(make_echo("")), fails_with(Code::unavailable));  // Starts to connect.
  ASSERT_TRUE(coroutine::sleep_for(10ms));
  EXPECT_TRUE(client.echo(make_echo("")));
}

TEST(ReconnectTest, ClientConnectsWhenTheFirstCallIsMade) {
  EchoWorld world;
  rpc::Client connection(world.network, {"server", 1}, {});
  ASSERT_TRUE(coroutine::sleep_for(1h));
  EXPECT_EQ(world.server.statistics().accepted_count, 0u);
  EXPECT_TRUE(EchoClient(connection).echo(make_echo("")));
  EXPECT_EQ(world.server.statistics().accepted_count, 1u);
}

TEST(ReconnectTest, CallThatWaitsForAConnectionEndsAtItsDeadlineUnexecuted) {
  EchoWorld world;
  auto connection = world.connect();
  ASSERT_TRUE(world.server.stop(Deadline::after(1s)));
  const TimePoint start = now();
  const auto reply =
      EchoClient(*connection).echo(make_echo(""), {.deadline = Deadline::after(200ms)});
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code(), Code::deadline_exceeded);
  EXPECT_FALSE(reply.error().maybe_executed());
  EXPECT_EQ(now() - start, 200ms);
}

TEST(ReconnectTest, CallThatWaitsForAConnectionMayBeCancelled) {
  EchoWorld world;
  auto connection = world.connect();
  ASSERT_TRUE(world.server.stop(Deadline::after(1s)));
  auto call =
      coroutine::spawn("caller", [&] { return EchoClient(*connection).echo(make_echo("")); });
  ASSERT_TRUE(coroutine::sleep_for(10ms));
  call.cancel();
  EXPECT_THAT(call.join(Deadline::never()), fails_with(Code::cancelled));
}

TEST(ReconnectTest, CloseEndsCallsThatWaitForAConnection) {
  EchoWorld world;
  auto connection = world.connect();
  ASSERT_TRUE(world.server.stop(Deadline::after(1s)));
  auto call =
      coroutine::spawn("caller", [&] { return EchoClient(*connection).echo(make_echo("")); });
  ASSERT_TRUE(coroutine::sleep_for(10ms));
  connection->close();
  EXPECT_THAT(call.join(Deadline::never()), fails_with(Code::unavailable));
  EXPECT_THAT(EchoClient(*connection).echo(make_echo("")), fails_with(Code::unavailable));
}

TEST(ReconnectTest, ClientMayBeDestroyedWhileItConnects) {
  sim::SimulatedNetwork network;
  auto listener = network.listen({"server", 1});  // Sends no hello.
  ASSERT_TRUE(listener);
  rpc::Client client(network, {"server", 1}, {});
  EXPECT_FALSE(client.wait_until_connected(Deadline::after(100ms)));
}

TEST(ReconnectTest, CallersThatWaitAreBounded) {
  EchoWorld world;
  auto connection = world.connect({.pending_count_max = 10});
  ASSERT_TRUE(world.server.stop(Deadline::after(1s)));
  coroutine::TaskGroup callers;
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(callers.spawn("caller",
                              [&] { EXPECT_FALSE(EchoClient(*connection).echo(make_echo(""))); }));
  }
  ASSERT_TRUE(coroutine::sleep_for(10ms));
  EXPECT_THAT(EchoClient(*connection).echo(make_echo("")), fails_with(Code::resource_exhausted));
  ASSERT_TRUE(callers.join(Deadline::never()));
}

TEST(ReconnectTest, CallersFailAtOnceWithoutAStackToConnectOn) {
  coroutine::VirtualTime time;
  coroutine::Scheduler scheduler(time, {.stacks = {.stack_count_max = 16, .control_count = 0}});
  const auto ran = scheduler.run("main", [] {
    EchoWorld world;
    rpc::Client client(world.network, {"server", 1}, {});
    coroutine::TaskGroup load;
    while (load.spawn("load", [] { static_cast<void>(coroutine::sleep_for(1h)); })) continue;
    const TimePoint start = now();
    EXPECT_THAT(client.wait_until_connected(Deadline::after(5s)),
                fails_with(Code::resource_exhausted));
    const auto reply = EchoClient(client).echo(make_echo(""), {.deadline = Deadline::after(5s)});
    ASSERT_THAT(reply, fails_with(Code::resource_exhausted));
    EXPECT_TRUE(reply.error().not_executed());
    EXPECT_GT(reply.error().retry_after(), 0ms);
    EXPECT_EQ(now(), start);
    load.cancel_and_join();
    EXPECT_TRUE(EchoClient(client).echo(make_echo("")));
  });
  EXPECT_TRUE(ran) << ran;
}

// Calls do not wait that long, so no task connects meanwhile.
TEST(ReconnectTest, AWaitForTheConnectionMakesTheNextAttemptWhenThatIsDue) {
  EchoWorld world;
  auto connection = world.connect({.reconnect_delay_min = 1s, .unreachable_after = 0ms});
  ASSERT_TRUE(world.server.stop(Deadline::after(1s)));
  ASSERT_TRUE(coroutine::sleep_for(100ms));
  rpc::Server second(world.network);
  ASSERT_TRUE(second.add(world.service));
  ASSERT_TRUE(second.listen({"server", 1}, {.door = rpc::Door::nodes}));
  const auto connected = connection->wait_until_connected(Deadline::after(5s));
  EXPECT_TRUE(connected) << connected;
}

}  // namespace
}  // namespace corolane::test
