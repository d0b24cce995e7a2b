// SPDX-License-Identifier: MIT
// Which calls are retried, when, and how often.
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "coroutine/task_group.h"
#include "coroutine/testing/matchers.h"
#include "test/rpc/echo_service.h"

namespace corolane::test {
namespace {

using namespace std::chrono_literals;

Error unavailable() { return Error(Code::unavailable, "try another time"); }
rpc::Method idempotent_echo() {
  rpc::Method method = echo_method();
  method.idempotent = true;
  return method;
}
Error overloaded(std::chrono::milliseconds retry_after) {
  return Error(Code::resource_exhausted, "full").with_retry_after(retry_after);
}

TEST(RetryTest, CallWhoseHandlerHasNotBegunIsRetried) {
  EchoWorld world;
  auto connection = world.connect();
  world.refuse_with({unavailable(), unavailable()});

  const auto reply = EchoClient(*connection).echo(make_echo("third"));

  ASSERT_TRUE(reply) << reply;
  EXPECT_EQ(world.service.echoed.size(), 1u);
  EXPECT_EQ(connection->statistics().retry_count, 2u);
  EXPECT_EQ(connection->statistics().call_count, 1u);
  EXPECT_EQ(connection->statistics().error_count, 0u);
}

TEST(RetryTest, HandlerThatHasBegunIsNotRunAgain) {
  EchoWorld world;
  auto connection = world.connect();
  for (const Error& error : {unavailable(), overloaded(20ms)}) {
    world.service.echoed.clear();
    world.service.echo_errors = {error};

    const auto reply = EchoClient(*connection).echo(make_echo("once"));

    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error(), error);  // It arrives unchanged.
    EXPECT_EQ(world.service.echoed.size(), 1u);
  }
  EXPECT_EQ(connection->statistics().retry_count, 0u);
}

TEST(RetryTest, HandlerThatPassesOnARefusalOfItsOwnCallIsNotRunAgain) {
  EchoWorld world;
  auto connection = world.connect();
  world.service.echo_errors = {unavailable().with_not_executed()};

  const auto reply = EchoClient(*connection).echo(make_echo("once"));

  ASSERT_THAT(reply, fails_with(Code::unavailable));
  EXPECT_FALSE(reply.error().not_executed());
  EXPECT_EQ(world.service.echoed.size(), 1u);
}

TEST(RetryTest, FilterThatFailsAfterTheHandlerCausesNoRetry) {
  EchoWorld world;
  world.server.add_filter([](rpc::Context&, const rpc::Next& next) -> Result<void> {
    static_cast<void>(next());
    return unavailable().with_not_executed();
  });
  auto connection = world.connect();
  world.service.echo_errors = {Error(Code::aborted, "not today")};
  EXPECT_THAT(EchoClient(*connection).echo(make_echo("once")), fails_with(Code::unavailable));
  EXPECT_EQ(world.service.echoed.size(), 1u);
}

TEST(RetryTest, IdempotentHandlerIsRunAgain) {
  EchoWorld world;
  auto connection = world.connect();
  const rpc::Method method = idempotent_echo();
  world.service.echo_errors = {unavailable(), unavailable()};
  EchoReply reply;
  EXPECT_TRUE(connection->call(method, make_echo(""), reply));
  EXPECT_EQ(world.service.echoed.size(), 3u);
}

TEST(RetryTest, CallThatTheServerItselfRefusesIsRetried) {
  EchoWorld world({.calls_per_method_max = 1, .admission = {.retry_after = 100ms}});
  auto connection = world.connect();
  auto first = coroutine::spawn(
      "first", [&] { return EchoClient(*connection).sleep(make_sleep(50ms, "first")); });
  ASSERT_TRUE(coroutine::sleep_for(10ms));
  EXPECT_TRUE(EchoClient(*connection).sleep(make_sleep(1ms, "second")));
  EXPECT_TRUE(first.join(Deadline::never()));
  EXPECT_EQ(connection->statistics().retry_count, 1u);
}

TEST(RetryTest, CallThatIsNotSentIsMarkedNotExecuted) {
  EchoWorld world;
  auto connection = world.connect();
  const auto late = EchoClient(*connection).echo(make_echo(""), {.deadline = Deadline::passed()});
  ASSERT_THAT(late, fails_with(Code::deadline_exceeded));
  EXPECT_TRUE(late.error().not_executed());
  connection->close();
  const auto closed = EchoClient(*connection).echo(make_echo(""));
  ASSERT_THAT(closed, fails_with(Code::unavailable));
  EXPECT_TRUE(closed.error().not_executed());
}

TEST(RetryTest, ARefusalAfterAnAttemptThatBeganIsNotMarkedNotExecuted) {
  EchoWorld world;
  auto connection = world.connect();
  const rpc::Method method = idempotent_echo();
  world.service.echo_errors = {unavailable()};
  EchoReply reply;
  auto call = coroutine::spawn("caller", [&] {
    return connection->call(method, make_echo(""), reply, {.deadline = Deadline::after(15ms)});
  });
  ASSERT_TRUE(coroutine::sleep_for(4ms));
  world.refuse_with({unavailable(), unavailable(), unavailable(), unavailable()});
  const auto called = call.join(Deadline::never());
  ASSERT_THAT(called, fails_with(Code::unavailable));
  EXPECT_FALSE(called.error().not_executed());
}

TEST(RetryTest, CallThatMayHaveBeenExecutedIsNotRetried) {
  EchoWorld world;
  auto connection = world.connect();
  world.service.echo_errors = {unavailable().with_maybe_executed()};
  const auto reply = EchoClient(*connection).echo(make_echo(""));
  EXPECT_THAT(reply, fails_with(Code::unavailable));
  EXPECT_TRUE(reply.error().maybe_executed());
  EXPECT_EQ(world.service.echoed.size(), 1u);
}

TEST(RetryTest, IdempotentCallThatMayHaveBeenExecutedIsRetried) {
  EchoWorld world;
  auto connection = world.connect();
  const rpc::Method method = idempotent_echo();
  world.service.echo_errors = {unavailable().with_maybe_executed()};
  EchoReply reply;
  EXPECT_TRUE(connection->call(method, make_echo(""), reply));
  EXPECT_EQ(world.service.echoed.size(), 2u);
}

TEST(RetryTest, MaybeExecutedOfAnEarlierAttemptIsKept) {
  EchoWorld world;
  auto connection = world.connect();
  const rpc::Method method = idempotent_echo();
  world.service.echo_errors = {unavailable().with_maybe_executed(), Error(Code::aborted, "no")};
  EchoReply reply;
  const auto called = connection->call(method, make_echo(""), reply);
  EXPECT_THAT(called, fails_with(Code::aborted));
  EXPECT_TRUE(called.error().maybe_executed());
}

TEST(RetryTest, IdempotentCallOutlivesItsConnection) {
  EchoWorld world;
  auto connection = world.connect();
  rpc::Method method = echo_method("Sleep");
  method.idempotent = true;
  EchoReply reply;
  auto call = coroutine::spawn(
      "caller", [&] { return connection->call(method, make_sleep(100ms, "done"), reply); });
  ASSERT_TRUE(coroutine::sleep_for(50ms));
  world.network.reset_all();
  EXPECT_TRUE(call.join(Deadline::never()));
  EXPECT_EQ(reply.text(), "done");
}

TEST(RetryTest, RetryAfterOfALoadedServerIsRespected) {
  EchoWorld world;
  auto connection = world.connect();
  world.refuse_with({overloaded(700ms)});
  const TimePoint start = now();
  EXPECT_TRUE(EchoClient(*connection).echo(make_echo("")));
  EXPECT_GE(now() - start, 700ms);
  EXPECT_LE(now() - start, 720ms);
}

TEST(RetryTest, CallIsNotRetriedWhenTheRetryWouldMissTheDeadline) {
  EchoWorld world;
  auto connection = world.connect();
  world.refuse_with({overloaded(700ms)});
  const TimePoint start = now();
  const auto reply =
      EchoClient(*connection).echo(make_echo(""), {.deadline = Deadline::after(500ms)});
  EXPECT_THAT(reply, fails_with(Code::resource_exhausted));
  EXPECT_EQ(now() - start, 2ms);
}

TEST(RetryTest, OtherErrorsAreFinal) {
  EchoWorld world;
  auto connection = world.connect();
  for (const Code code : {Code::cancelled, Code::unknown, Code::invalid_argument,
                          Code::deadline_exceeded, Code::not_found, Code::aborted, Code::internal,
                          Code::resource_exhausted, Code::unauthenticated}) {
    world.service.echo_errors = {Error(code, "")};
    EXPECT_THAT(EchoClient(*connection).echo(make_echo("")), fails_with(code));
  }
  EXPECT_EQ(connection->statistics().retry_count, 0u);
}

TEST(RetryTest, OneCallInTenIsRetried) {
  EchoWorld world;
  auto connection = world.connect();
  EchoClient client(*connection);
  // Each call fails: the initial budget is used up, then one call in ten is retried.
  for (int i = 0; i < 3000; ++i) {
    world.refuse_with({unavailable(), unavailable(), unavailable(), unavailable()});
    EXPECT_FALSE(client.echo(make_echo(""), {.deadline = Deadline::after(30ms)}));
  }
  EXPECT_GE(connection->statistics().retry_count, 300u);
  EXPECT_LE(connection->statistics().retry_count, 310u);
}

TEST(RetryTest, DelaysAreDrawnAndGrow) {
  EchoWorld world;
  auto connection = world.connect({.retry_delay_min = 100ms});
  world.refuse_with({unavailable(), unavailable(), unavailable()});
  const TimePoint start = now();
  EXPECT_TRUE(EchoClient(*connection).echo(make_echo("")));
  // At most 100 + 200 + 400 ms, drawn from the upper half, and four round trips.
  EXPECT_GE(now() - start, 350ms + 8ms);
  EXPECT_LE(now() - start, 700ms + 8ms);
}

TEST(RetryTest, CallOfACancelledCallerIsNotRetried) {
  EchoWorld world;
  auto connection = world.connect({.retry_delay_min = 1s});
  world.refuse_with({unavailable()});
  auto call =
      coroutine::spawn("caller", [&] { return EchoClient(*connection).echo(make_echo("")); });
  ASSERT_TRUE(coroutine::sleep_for(100ms));
  const TimePoint cancelled = now();
  call.cancel();
  EXPECT_FALSE(call.join(Deadline::never()));
  EXPECT_EQ(now(), cancelled);
  EXPECT_TRUE(world.service.echoed.empty());
}

}  // namespace
}  // namespace corolane::test
