// SPDX-License-Identifier: MIT
// Methods without a reply.
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "coroutine/testing/matchers.h"
#include "test/rpc/echo_service.h"

namespace corolane::test {
namespace {

using namespace std::chrono_literals;

TEST(OneWayTest, CallerContinuesAtOnce) {
  EchoWorld world;
  auto connection = world.connect();
  EchoClient client(*connection);
  const TimePoint start = now();
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(client.note(make_echo(std::to_string(i))));
  EXPECT_EQ(now(), start);
  ASSERT_TRUE(coroutine::sleep_for(10ms));
  ASSERT_EQ(world.service.noted.size(), 100u);
  EXPECT_EQ(world.service.noted.back(), "99");
}

TEST(OneWayTest, HandlerOutlivesTheConnectionOfItsCaller) {
  EchoWorld world;
  world.service.note_time = 100ms;
  {
    auto connection = world.connect();
    EXPECT_TRUE(EchoClient(*connection).note(make_echo("kept")));
    ASSERT_TRUE(coroutine::sleep_for(10ms));
  }
  ASSERT_TRUE(coroutine::sleep_for(200ms));
  EXPECT_EQ(world.service.noted, (std::vector<std::string>{"kept"}));
  EXPECT_EQ(world.service.cancelled_count, 0);
  EXPECT_EQ(world.server.statistics().connection_count, 0u);
}

TEST(OneWayTest, DeadlineEndsTheHandler) {
  EchoWorld world;
  world.service.note_time = 1h;
  auto connection = world.connect();
  EXPECT_TRUE(EchoClient(*connection).note(make_echo("late"), {.deadline = Deadline::after(50ms)}));
  ASSERT_TRUE(coroutine::sleep_for(100ms));
  EXPECT_EQ(world.service.cancelled_count, 1);
}

TEST(OneWayTest, DrainWaitsForHandlers) {
  EchoWorld world;
  world.service.note_time = 100ms;
  auto connection = world.connect();
  EXPECT_TRUE(EchoClient(*connection).note(make_echo("kept")));
  ASSERT_TRUE(coroutine::yield());
  EXPECT_TRUE(world.server.stop(Deadline::after(5s)));
  EXPECT_EQ(world.service.noted.size(), 1u);
}

TEST(OneWayTest, ACallWithoutAServerFails) {
  EchoWorld world;
  auto connection = world.connect();
  EXPECT_TRUE(world.server.stop(Deadline::after(1s)));
  EXPECT_THAT(EchoClient(*connection).note(make_echo("lost")), fails_with(Code::unavailable));
}

TEST(OneWayTest, RequestThatDoesNotFitAFrameIsNotExecuted) {
  EchoWorld world;
  auto connection = world.connect();
  EchoRequest large;
  large.set_text(text_above_a_frame());
  const auto noted = EchoClient(*connection).note(large);
  ASSERT_THAT(noted, fails_with(Code::resource_exhausted));
  EXPECT_TRUE(noted.error().not_executed());
}

TEST(OneWayTest, CallerBesideARunningHandlerMayGiveUp) {
  EchoWorld world;
  world.service.note_time = 100ms;
  auto connection = world.connect();
  EchoClient client(*connection);
  EXPECT_TRUE(client.note(make_echo("kept")));
  auto call = coroutine::spawn("caller", [&] { return client.sleep(make_sleep(1s)); });
  ASSERT_TRUE(coroutine::sleep_for(10ms));
  call.cancel();
  EXPECT_THAT(call.join(Deadline::never()), fails_with(Code::cancelled));
  ASSERT_TRUE(coroutine::sleep_for(10ms));
  EXPECT_EQ(world.service.cancelled_count, 1);
}

TEST(OneWayTest, UnknownMethodFailsNoOtherCall) {
  EchoWorld world;
  auto connection = world.connect();
  EchoClient client(*connection);
  auto call = coroutine::spawn("caller", [&] { return client.sleep(make_sleep(100ms)); });
  ASSERT_TRUE(coroutine::yield());
  rpc::Method unknown = echo_method("Note");
  unknown.id = 1;
  EXPECT_TRUE(connection->notify(unknown, make_echo("lost")));
  const auto reply = call.join(Deadline::never());
  EXPECT_TRUE(reply) << reply;
}

TEST(OneWayTest, NothingIsAnswered) {
  EchoWorld world({.calls_per_connection_max = 1});
  world.service.note_time = 100ms;
  auto connection = world.connect();
  EchoClient client(*connection);
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(client.note(make_echo("")));  // Four are refused.
  ASSERT_TRUE(coroutine::sleep_for(1s));
  EXPECT_EQ(world.service.noted.size(), 1u);
  EXPECT_TRUE(connection->is_connected());
  EXPECT_TRUE(client.echo(make_echo("")));
}

}  // namespace
}  // namespace corolane::test
