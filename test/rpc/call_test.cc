// SPDX-License-Identifier: MIT
// The guarantees that a caller has, whatever happens to the call.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <string>
#include <vector>

#include "coroutine/scheduler.h"
#include "coroutine/task_group.h"
#include "coroutine/testing/virtual_time.h"
#include "test/rpc/echo_service.h"

namespace corolane::test {
namespace {

using namespace std::chrono_literals;

// The one-way latency of the simulated network.
constexpr Duration latency = 1ms;

TEST(CallTest, ReturnsTheReplyAfterOneRoundTrip) {
  EchoWorld world;
  auto connection = world.connect();
  EchoClient client(*connection);
  const TimePoint start = now();

  const auto reply = client.echo(make_echo("hello"));

  ASSERT_TRUE(reply) << reply;
  EXPECT_EQ(reply->text(), "hello");
  EXPECT_EQ(now() - start, 2 * latency);
}

TEST(CallTest, CallsOfOneConnectionOverlap) {
  EchoWorld world;
  auto connection = world.connect();
  EchoClient client(*connection);
  const TimePoint start = now();
  std::vector<int> order;
  coroutine::TaskGroup callers;
  for (int index = 0; index < 100; ++index) {
    // The first caller sleeps longest, so replies arrive in reverse order.
    ASSERT_TRUE(callers.spawn("caller", [&, index] {
      const auto text = std::to_string(index);
      const auto reply = client.sleep(make_sleep(std::chrono::milliseconds(200 - index), text));
      ASSERT_TRUE(reply) << reply;
      EXPECT_EQ(reply->text(), text);
      order.push_back(index);
    }));
  }
  ASSERT_TRUE(callers.join(Deadline::never()));
  EXPECT_EQ(now() - start, 200ms + 2 * latency);
  EXPECT_TRUE(std::ranges::is_sorted(order, std::greater()));
}

TEST(CallTest, EndedCallsAreNoLongerPending) {
  EchoWorld world;
  auto connection = world.connect({.pending_count_max = 2});
  EchoClient client(*connection);
  for (int round = 0; round < 3; ++round) {
    coroutine::TaskGroup callers;
    ASSERT_TRUE(callers.spawn("answered", [&] { EXPECT_TRUE(client.echo(make_echo(""))); }));
    ASSERT_TRUE(callers.spawn("late", [&] {
      const auto reply = client.sleep(make_sleep(1s), {.deadline = Deadline::after(50ms)});
      ASSERT_FALSE(reply);
      EXPECT_EQ(reply.error().code(), Code::deadline_exceeded);
    }));
    ASSERT_TRUE(callers.join(Deadline::never()));
  }
}

TEST(CallTest, FramesMaySplitAtEveryByte) {
  EchoWorld world({}, {.piece_bytes_max = 1});
  auto connection = world.connect();
  EchoClient client(*connection);
  const auto reply = client.echo(make_echo(std::string(1000, 'x')));
  ASSERT_TRUE(reply) << reply;
  EXPECT_EQ(reply->text(), std::string(1000, 'x'));
}

TEST(CallTest, ObjectTargetReachesFiltersAndHandler) {
  EchoWorld world;
  auto connection = world.connect();
  EchoClient client(*connection);
  std::vector<std::string> ids;
  world.server.add_filter([&](rpc::Context& context, const rpc::Next& next) {
    const rpc::ObjectTarget* const object = context.object();
    ids.emplace_back(object == nullptr ? "none" : object->id);
    if (object == nullptr) return next();
    EXPECT_EQ(object->node_epoch, 5u);
    EXPECT_EQ(object->partition_epoch, 6u);
    EXPECT_EQ(object->request_id.caller, "match 7");
    EXPECT_EQ(object->request_id.sequence, 8u);
    EXPECT_EQ(object->chain.size(), 2u);
    EXPECT_EQ(object->chain.back().method, "test.Room/Enter");
    EXPECT_EQ(object->chain.back().id, "hall");
    return next();
  });
  const auto chain = std::to_array<rpc::ObjectCall>(
      {{.method = "test.Player/Walk", .id = "ada"}, {.method = "test.Room/Enter", .id = "hall"}});
  const rpc::ObjectTarget target = {.id = "visits",
                                    .node_epoch = 5,
                                    .partition_epoch = 6,
                                    .request_id = {.caller = "match 7", .sequence = 8},
                                    .chain = chain};

  EXPECT_TRUE(client.echo(make_echo(""), {.object = &target}));
  EXPECT_TRUE(client.echo(make_echo("")));
  EXPECT_TRUE(client.note(make_echo(""), {.object = &target}));
  auto numbers = client.count({}, {.object = &target});
  CountReply number;
  EXPECT_FALSE(numbers.read(number));

  EXPECT_EQ(ids, (std::vector<std::string>{"visits", "none", "visits", "visits"}));
}

TEST(CallTest, DeadlinePassesOnTheWireAsTimeLeft) {
  EchoWorld world;
  auto connection = world.connect();
  EchoClient client(*connection);

  const auto given = client.time_left(make_echo(""), {.deadline = Deadline::after(250ms)});
  ASSERT_TRUE(given) << given;
  EXPECT_EQ(given->microseconds(), 250'000u);

  const auto by_default = client.time_left(make_echo(""));
  ASSERT_TRUE(by_default) << by_default;
  EXPECT_EQ(by_default->microseconds(), 10'000'000u);  // The default of options.proto.
}

TEST(CallTest, GivesUpExactlyAtTheDeadlineAndEndsTheHandler) {
  EchoWorld world;
  auto connection = world.connect();
  EchoClient client(*connection);
  const TimePoint start = now();

  const auto reply = client.sleep(make_sleep(1h), {.deadline = Deadline::after(50ms)});

  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code(), Code::deadline_exceeded);
  EXPECT_TRUE(reply.error().maybe_executed());
  EXPECT_NE(reply.error().message().find("corolane.test.Echo/Sleep"), std::string::npos);
  EXPECT_EQ(now() - start, 50ms);
  ASSERT_TRUE(coroutine::sleep_for(5ms));
  EXPECT_EQ(world.service.sleeping_count, 0);
  EXPECT_EQ(world.service.cancelled_count, 1);
}

TEST(CallTest, MethodTimeoutCountsWithoutADeadline) {
  EchoWorld world;
  auto connection = world.connect();
  EchoClient client(*connection);
  const TimePoint start = now();

  const auto reply = client.sleep(make_sleep(1h));

  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code(), Code::deadline_exceeded);
  EXPECT_EQ(now() - start, 3s);
}

TEST(CallTest, PassedDeadlineSendsNothing) {
  EchoWorld world;
  auto connection = world.connect();
  EchoClient client(*connection);
  const auto reply = client.echo(make_echo(""), {.deadline = Deadline::passed()});
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code(), Code::deadline_exceeded);
  EXPECT_FALSE(reply.error().maybe_executed());
  ASSERT_TRUE(coroutine::sleep_for(10ms));
  EXPECT_EQ(world.server.statistics().methods.front().call_count, 0u);
}

TEST(CallTest, HandlerEndsAtTheDeadlineEvenWhenNoCancelArrives) {
  EchoWorld world;
  auto connection = world.connect();
  EchoClient client(*connection);
  const TimePoint start = now();
  auto call = coroutine::spawn(
      "caller", [&] { return client.sleep(make_sleep(1h), {.deadline = Deadline::after(50ms)}); });
  ASSERT_TRUE(coroutine::sleep_for(10ms));
  world.network.go_silent();
  EXPECT_FALSE(call.join(Deadline::never()));
  ASSERT_TRUE(coroutine::sleep_for(10ms));
  EXPECT_EQ(world.service.cancelled_count, 1);
  // The server received the time left and began to count one latency later.
  EXPECT_EQ(world.service.cancelled_at - start, 50ms + latency);
}

TEST(CallTest, CancelledCallerCancelsTheCallee) {
  EchoWorld world;
  auto connection = world.connect();
  EchoClient client(*connection);
  auto call = coroutine::spawn("caller", [&] { return client.sleep(make_sleep(1s)); });
  ASSERT_TRUE(coroutine::sleep_for(10ms));
  EXPECT_EQ(world.service.sleeping_count, 1);

  const TimePoint cancelled = now();
  call.cancel();
  const auto reply = call.join(Deadline::never());

  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code(), Code::cancelled);
  EXPECT_TRUE(reply.error().maybe_executed());
  EXPECT_EQ(now(), cancelled);
  ASSERT_TRUE(coroutine::sleep_for(5ms));
  EXPECT_EQ(world.service.cancelled_count, 1);
  EXPECT_EQ(world.service.cancelled_at - cancelled, latency);
}

TEST(CallTest, LostConnectionEndsAllPendingCallsAtOnce) {
  EchoWorld world;
  auto connection = world.connect();
  EchoClient client(*connection);
  int ended = 0;
  coroutine::TaskGroup callers;
  for (int index = 0; index < 20; ++index) {
    ASSERT_TRUE(callers.spawn("caller", [&] {
      const auto reply = client.sleep(make_sleep(1s));
      ASSERT_FALSE(reply);
      EXPECT_EQ(reply.error().code(), Code::unavailable);
      EXPECT_TRUE(reply.error().maybe_executed());
      ++ended;
    }));
  }
  ASSERT_TRUE(coroutine::sleep_for(10ms));

  const TimePoint broken = now();
  world.network.reset_all();
  ASSERT_TRUE(callers.join(Deadline::never()));

  EXPECT_EQ(now(), broken);
  EXPECT_EQ(ended, 20);
  EXPECT_FALSE(connection->is_connected());
  ASSERT_TRUE(coroutine::sleep_for(1ms));
  EXPECT_EQ(world.service.cancelled_count, 20);
}

TEST(CallTest, HandlerErrorArrivesUnchanged) {
  EchoWorld world;
  auto connection = world.connect();
  EchoClient client(*connection);
  FailRequest request = make_fail(9, "the door is shut");
  request.set_maybe_executed(true);
  request.set_retry_after_ms(1500);
  request.set_detail(std::string("key\0 17", 7));

  const auto reply = client.fail(request);

  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code(), Code::failed_precondition);
  EXPECT_EQ(reply.error().message(), "the door is shut");
  EXPECT_EQ(reply.error().detail(), std::string("key\0 17", 7));
  EXPECT_TRUE(reply.error().maybe_executed());
  EXPECT_EQ(reply.error().retry_after(), 1500ms);
}

TEST(CallTest, DetailOfAnErrorNeedsNoMessage) {
  EchoWorld world({}, {.piece_bytes_max = 7});
  auto connection = world.connect();
  EchoClient client(*connection);
  FailRequest request = make_fail(9);
  request.set_detail(std::string(20'000, 'x'));

  const auto reply = client.fail(request);

  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error(),
            Error(Code::failed_precondition, "").with_detail(std::string(20'000, 'x')));
}

TEST(CallTest, HandlerThatThrowsIsAnInternalErrorAndTheServerKeepsServing) {
  EchoWorld world;
  auto connection = world.connect();
  EchoClient client(*connection);

  const auto reply = client.explode(make_echo("boom"));

  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code(), Code::internal);
  EXPECT_NE(reply.error().message().find("boom"), std::string::npos);
  EXPECT_TRUE(reply.error().maybe_executed());
  EXPECT_EQ(world.server.statistics().stray_exception_count, 1u);
  EXPECT_TRUE(client.echo(make_echo("still here")));
}

TEST(CallTest, TooManyPendingCallsAreRefusedAtOnce) {
  EchoWorld world;
  auto connection = world.connect({.pending_count_max = 1});
  EchoClient client(*connection);
  auto first = coroutine::spawn("first", [&] { return client.sleep(make_sleep(100ms)); });
  ASSERT_TRUE(coroutine::sleep_for(1ms));
  const auto second = client.echo(make_echo(""));
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code(), Code::resource_exhausted);
  EXPECT_TRUE(first.join(Deadline::never()));
}

TEST(CallTest, WaitingCallerAndHandlerAreNamedByTheirMethod) {
  EchoWorld world;
  auto connection = world.connect();
  EchoClient client(*connection);
  auto call = coroutine::spawn("caller", [&] { return client.sleep(make_sleep(1s)); });
  ASSERT_TRUE(coroutine::sleep_for(10ms));
  int seen = 0;
  for (const auto& task : coroutine::Scheduler::current().tasks()) {
    if (task.name == "caller") {
      EXPECT_EQ(task.waiting_for, "corolane.test.Echo/Sleep");
      ++seen;
    }
    if (task.name == "corolane.test.Echo/Sleep") {
      EXPECT_EQ(task.waiting_for, "sleep");
      ++seen;
    }
  }
  EXPECT_EQ(seen, 2);
  EXPECT_TRUE(call.join(Deadline::never()));
}

TEST(CallTest, LateReplyIsDropped) {
  EchoWorld world;
  auto connection = world.connect();
  EchoClient client(*connection);
  // The reply is in flight when the caller gives up.
  const auto first = client.sleep(make_sleep(48ms), {.deadline = Deadline::after(50ms - 500us)});
  ASSERT_FALSE(first);
  const auto second = client.echo(make_echo("mine"));
  ASSERT_TRUE(second) << second;
  EXPECT_EQ(second->text(), "mine");
}

// More than a stream buffers before its writers wait.
const std::string above_the_mark(300 * 1024, 'x');

TEST(CallTest, ErrorWaitsForRoomAsAReplyDoes) {
  EchoWorld world({}, {}, {.request_bytes_max = 1024 * 1024, .door = rpc::Door::nodes});
  auto connection = world.connect();
  EchoClient client(*connection);
  auto echo = coroutine::spawn("echo", [&] { return client.echo(make_echo(above_the_mark)); });
  auto fail = coroutine::spawn("fail", [&] { return client.fail(make_fail(9)); });

  const auto echoed = echo.join(Deadline::never());
  const auto failed = fail.join(Deadline::never());

  EXPECT_TRUE(echoed) << echoed;
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code(), Code::failed_precondition) << failed;
  EXPECT_TRUE(connection->is_connected());
}

TEST(CallTest, ErrorWaitsForRoomUntilTheDeadlineOfItsCall) {
  EchoWorld world({}, {}, {.request_bytes_max = 1024 * 1024, .door = rpc::Door::nodes});
  auto connection = world.connect();
  EchoClient client(*connection);
  const TimePoint start = now();
  const rpc::CallOptions options = {.deadline = Deadline::after(50ms)};
  auto echo =
      coroutine::spawn("echo", [&] { return client.echo(make_echo(above_the_mark), options); });
  auto fail = coroutine::spawn("fail", [&] { return client.fail(make_fail(9), options); });
  ASSERT_TRUE(coroutine::sleep_for(latency / 2));
  world.network.go_silent();  // The requests are in flight, and no reply will be taken.

  ASSERT_TRUE(coroutine::sleep_for(49ms));
  EXPECT_EQ(world.server.statistics().running_count, 2u);
  ASSERT_TRUE(coroutine::sleep_until(Deadline::at(start + 50ms + latency)));
  ASSERT_TRUE(coroutine::yield());
  EXPECT_EQ(world.server.statistics().running_count, 0u);

  EXPECT_FALSE(echo.join(Deadline::never()));
  EXPECT_FALSE(fail.join(Deadline::never()));
}

TEST(CallTest, LostConnectionEndsAnErrorThatWaitsForRoom) {
  EchoWorld world({}, {}, {.request_bytes_max = 1024 * 1024, .door = rpc::Door::nodes});
  auto connection = world.connect();
  EchoClient client(*connection);
  auto echo = coroutine::spawn("echo", [&] { return client.echo(make_echo(above_the_mark)); });
  auto fail = coroutine::spawn("fail", [&] { return client.fail(make_fail(9)); });
  ASSERT_TRUE(coroutine::sleep_for(latency / 2));
  world.network.go_silent();
  ASSERT_TRUE(coroutine::sleep_for(latency));
  EXPECT_EQ(world.server.statistics().running_count, 2u);

  world.network.reset_all();
  EXPECT_FALSE(echo.join(Deadline::never()));
  EXPECT_FALSE(fail.join(Deadline::never()));
  ASSERT_TRUE(coroutine::sleep_for(1ms));
  EXPECT_EQ(world.server.statistics().running_count, 0u);
  EXPECT_EQ(world.server.statistics().connection_count, 0u);
}

TEST(CallTest, CancelledCallLeavesTheOthersOfItsConnectionAlone) {
  EchoWorld world({}, {}, {.request_bytes_max = 1024 * 1024, .door = rpc::Door::nodes});
  auto connection = world.connect();
  EchoClient client(*connection);
  auto other = coroutine::spawn("other", [&] { return client.sleep(make_sleep(100ms, "done")); });
  auto call = coroutine::spawn("caller", [&] { return client.echo(make_echo(above_the_mark)); });
  ASSERT_TRUE(coroutine::sleep_for(latency / 2));

  call.cancel();  // While its request is still on its way out.

  const auto cancelled = call.join(Deadline::never());
  ASSERT_FALSE(cancelled);
  EXPECT_EQ(cancelled.error().code(), Code::cancelled);
  const auto reply = other.join(Deadline::never());
  ASSERT_TRUE(reply) << reply;
  EXPECT_EQ(reply->text(), "done");
}

TEST(CallTest, RequestThatBreaksOffMayHaveBeenExecuted) {
  EchoWorld world({}, {}, {.request_bytes_max = 1024 * 1024, .door = rpc::Door::nodes});
  auto connection = world.connect();
  EchoClient client(*connection);
  auto call = coroutine::spawn("caller", [&] { return client.echo(make_echo(above_the_mark)); });
  ASSERT_TRUE(coroutine::sleep_for(latency / 2));

  world.network.reset_all();

  const auto reply = call.join(Deadline::never());
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code(), Code::unavailable);
  EXPECT_TRUE(reply.error().maybe_executed());
}

TEST(CallTest, RequestThatDoesNotFitAFrameIsRefusedAtOnce) {
  EchoWorld world;
  auto connection = world.connect();
  EchoClient client(*connection);
  EchoRequest request;
  request.set_text(text_above_a_frame());
  const TimePoint start = now();

  const auto reply = client.echo(request);

  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code(), Code::resource_exhausted);
  EXPECT_FALSE(reply.error().maybe_executed());
  EXPECT_EQ(now(), start);
  EXPECT_TRUE(client.echo(make_echo("")));
}

TEST(CallTest, ReplyThatDoesNotFitAFrameIsAnError) {
  EchoWorld world;
  auto connection = world.connect();
  EchoClient client(*connection);
  const TimePoint start = now();

  const auto reply = client.overflow(make_echo(""));

  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code(), Code::resource_exhausted);
  EXPECT_TRUE(reply.error().maybe_executed());
  EXPECT_EQ(now() - start, 2 * latency);
  EXPECT_TRUE(client.echo(make_echo("")));
}

TEST(CallTest, HandlerThatIsEndedByItsDeadlineMayHaveTakenEffect) {
  EchoWorld world;
  auto connection = world.connect();
  EchoClient client(*connection);
  const TimePoint start = now();

  // More than the wire holds, so the server gives up first.
  const auto reply = client.sleep(make_sleep(10h), {.deadline = Deadline::after(2h)});

  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code(), Code::deadline_exceeded);
  EXPECT_EQ(reply.error().message(), "corolane.test.Echo/Sleep did not end within its deadline");
  EXPECT_TRUE(reply.error().maybe_executed());
  EXPECT_EQ(now() - start, 4'294'967'295us + 2 * latency);
}

TEST(CallTest, CancelledTaskSendsNoCall) {
  EchoWorld world;
  auto connection = world.connect();
  EchoClient client(*connection);
  auto call = coroutine::spawn("caller", [&] { return client.sleep(make_sleep(1s)); });
  call.cancel();
  const auto reply = call.join(Deadline::never());
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code(), Code::cancelled);
  EXPECT_FALSE(reply.error().maybe_executed());
  ASSERT_TRUE(coroutine::sleep_for(10ms));
  EXPECT_EQ(world.service.cancelled_count, 0);
}

TEST(CallTest, CallThatIsCancelledBeforeItsHandlerBeginsIsNotExecuted) {
  EchoWorld world;
  auto connection = world.connect();
  EchoClient client(*connection);
  auto call = coroutine::spawn("caller", [&] { return client.sleep(make_sleep(1s)); });
  ASSERT_TRUE(coroutine::yield());
  call.cancel();  // The request and its cancel arrive together.
  EXPECT_FALSE(call.join(Deadline::never()));
  ASSERT_TRUE(coroutine::sleep_for(10ms));
  EXPECT_EQ(world.server.statistics().running_count, 0u);
  EXPECT_EQ(world.service.cancelled_count, 0);
}

TEST(CallTest, CallWhoseTimePassesBeforeItsHandlerBeginsIsNotExecuted) {
  EchoWorld world;
  auto connection = world.connect();
  EchoClient client(*connection);
  // Blocks the thread from the arrival of the request on.
  auto busy = coroutine::spawn("busy", [] {
    EXPECT_TRUE(coroutine::sleep_for(latency));
    virtual_time().wait(Deadline::after(100ms));
  });
  ASSERT_TRUE(coroutine::yield());
  EXPECT_FALSE(client.sleep(make_sleep(1s), {.deadline = Deadline::after(50ms)}));
  ASSERT_TRUE(coroutine::sleep_for(10ms));
  EXPECT_EQ(world.server.statistics().running_count, 0u);
  EXPECT_EQ(world.service.cancelled_count, 0);
}

TEST(CallTest, RetryAfterIsCutToWhatTheWireHolds) {
  EchoWorld world;
  auto connection = world.connect();
  EchoClient client(*connection);
  FailRequest request = make_fail(8);
  request.set_retry_after_ms(4'294'967'296 + 5);
  const auto reply = client.fail(request);
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().retry_after(), 4'294'967'295ms);
}

}  // namespace
}  // namespace corolane::test
