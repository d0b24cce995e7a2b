// Calls with one order key arrive in the order in which they were made.
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "coroutine/task_group.h"
#include "test/rpc/echo_service.h"
#include "test/rpc/raw_peer.h"

namespace corolane::test {
namespace {

using namespace std::chrono_literals;

Error unavailable() { return Error(Code::unavailable, "try another time"); }

// Makes calls with the texts "0", "1" ..., each in a task of its own, all at once.
void call_all(rpc::Client& client, int count, std::uint64_t key, coroutine::TaskGroup& callers,
              int& succeeded) {
  for (int i = 0; i < count; ++i) {
    ASSERT_TRUE(callers.spawn("caller", [&client, &succeeded, i, key] {
      const auto reply = EchoClient(client).echo(make_echo(std::to_string(i)), {.order_key = key});
      if (reply) ++succeeded;
    }));
  }
}

TEST(OrderTest, CallsOfAKeyWaitBehindARetriedOne) {
  EchoWorld world;
  auto connection = world.connect();
  EchoClient client(*connection);
  world.refuse_with({unavailable()});
  coroutine::TaskGroup callers;
  int succeeded = 0;
  ASSERT_TRUE(callers.spawn("first", [&] {
    if (client.echo(make_echo("first"), {.order_key = 7})) ++succeeded;
  }));
  ASSERT_TRUE(coroutine::sleep_for(3ms));  // Refused, and not yet retried.
  ASSERT_TRUE(callers.spawn("second", [&] {
    if (client.echo(make_echo("second"), {.order_key = 7})) ++succeeded;
  }));
  ASSERT_TRUE(callers.spawn("other", [&] {
    if (client.echo(make_echo("other"), {.order_key = 8})) ++succeeded;
  }));
  ASSERT_TRUE(callers.join());
  EXPECT_EQ(succeeded, 3);
  EXPECT_EQ(world.service.echoed, (std::vector<std::string>{"other", "first", "second"}));
}

TEST(OrderTest, CallThatALaterOneOvertookIsNotRetried) {
  EchoWorld world;
  auto connection = world.connect();
  world.refuse_with({unavailable()});
  coroutine::TaskGroup callers;
  int succeeded = 0;
  call_all(*connection, 2, 7, callers, succeeded);
  ASSERT_TRUE(callers.join());
  EXPECT_EQ(succeeded, 1);
  EXPECT_EQ(world.service.echoed, (std::vector<std::string>{"1"}));
}

TEST(OrderTest, CallsThatWaitForAConnectionKeepTheirOrder) {
  EchoWorld world;
  auto connection = world.connect();
  world.network.reset_all();
  coroutine::TaskGroup callers;
  int succeeded = 0;
  call_all(*connection, 50, 7, callers, succeeded);
  ASSERT_TRUE(callers.join());
  EXPECT_EQ(succeeded, 50);
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(world.service.echoed[static_cast<std::size_t>(i)], std::to_string(i));
  }
}

TEST(OrderTest, ACallThatGivesUpLetsTheNextOnesPass) {
  EchoWorld world;
  auto connection = world.connect({.retry_delay_min = 10s});
  EchoClient client(*connection);
  world.refuse_with({unavailable()});
  auto first =
      coroutine::spawn("first", [&] { return client.echo(make_echo("1"), {.order_key = 7}); });
  ASSERT_TRUE(coroutine::sleep_for(3ms));
  auto second =
      coroutine::spawn("second", [&] { return client.echo(make_echo("2"), {.order_key = 7}); });
  ASSERT_TRUE(coroutine::sleep_for(100ms));
  EXPECT_FALSE(second.is_done());
  first.cancel();
  EXPECT_FALSE(first.join());
  EXPECT_TRUE(second.join());
}

TEST(OrderTest, RequestsOfAnOldConnectionAreNotExecutedAfterTheNextOneOpens) {
  EchoWorld world;
  const std::string caller(16, 'x');
  RawPeer first(world);
  first.say_hello({.caller_id = caller, .caller_connection = 1});
  ASSERT_TRUE(coroutine::sleep_for(10ms));
  RawPeer second(world);
  second.say_hello({.caller_id = caller, .caller_connection = 2});
  ASSERT_TRUE(coroutine::sleep_for(10ms));

  first.call("old");  // Stands for a request that was delayed on the way.
  second.call("new");
  ASSERT_TRUE(coroutine::sleep_for(2s));

  EXPECT_EQ(world.service.echoed, (std::vector<std::string>{"new"}));
  EXPECT_EQ(world.server.statistics().connection_count, 1u);
}

TEST(OrderTest, LateConnectionIsNotTakenForTheNextOne) {
  EchoWorld world;
  const std::string caller(16, 'x');
  RawPeer second(world);
  second.say_hello({.caller_id = caller, .caller_connection = 2});
  ASSERT_TRUE(coroutine::sleep_for(10ms));
  RawPeer first(world);
  first.say_hello({.caller_id = caller, .caller_connection = 1});
  ASSERT_TRUE(coroutine::sleep_for(10ms));
  first.call("old");
  second.call("new");
  ASSERT_TRUE(coroutine::sleep_for(10ms));
  EXPECT_EQ(world.service.echoed, (std::vector<std::string>{"new"}));
}

TEST(OrderTest, LateConnectionIsRefusedEvenWhenTheNextOneIsGone) {
  EchoWorld world;
  const std::string caller(16, 'x');
  {
    RawPeer second(world);
    second.say_hello({.caller_id = caller, .caller_connection = 2});
    second.call("new");
    ASSERT_TRUE(coroutine::sleep_for(10ms));
  }
  ASSERT_TRUE(coroutine::sleep_for(30s));
  RawPeer first(world);
  first.say_hello({.caller_id = caller, .caller_connection = 1});
  first.call("old");
  EXPECT_EQ(first.receive_bye().code(), Code::aborted);
  EXPECT_EQ(world.service.echoed, (std::vector<std::string>{"new"}));
}

}  // namespace
}  // namespace corolane::test
