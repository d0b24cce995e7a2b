// SPDX-License-Identifier: MIT
// The values that a handler passes to the calls that it makes: its deadline, cancellation, trace.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "coroutine/task_group.h"
#include "coroutine/testing/matchers.h"
#include "rpc/call_scope.h"
#include "test/rpc/echo_service.h"

namespace corolane::test {
namespace {

using namespace std::chrono_literals;

// Answers by calling the next service.
class Relay : public EchoService {
 public:
  explicit Relay(rpc::Client& next) : next_(next) {}

  Result<EchoReply> sleep(const SleepRequest& request, rpc::Context&) override {
    auto reply = next_.sleep(request, options);
    ended_at = now();
    return reply;
  }
  // Calls from a task that outlives the handler.
  Result<EchoReply> echo(const EchoRequest& request, rpc::Context& context) override {
    auto spawned = background_.spawn("background", [this] {
      if (auto slept = coroutine::sleep_for(5ms); !slept) return;
      const auto left = next_.time_left(make_echo(""), options);
      if (left) time_left_in_background = std::chrono::microseconds(left->microseconds());
    });
    if (!spawned) return spawned.error();
    return EchoService::echo(request, context);
  }
  // Calls from a child task.
  Result<TimeLeftReply> time_left(const EchoRequest& request, rpc::Context&) override {
    auto child = coroutine::spawn("child", [&] { return next_.time_left(request, options); });
    return child.join(Deadline::never());
  }

  rpc::CallOptions options;
  TimePoint ended_at{};
  Duration time_left_in_background{};

 private:
  EchoClient next_;
  coroutine::TaskGroup background_;
};

class PropagationTest : public testing::Test {
 protected:
  PropagationTest() {
    check(front_.add(relay_).has_value(), "the relay can be added");
    check(front_.listen({"front", 2}, {.door = rpc::Door::nodes}).has_value(), "the relay listens");
    auto connected = rpc::Client::connect(world_.network, {"front", 2}, Deadline::after(1s));
    check(connected.has_value(), "the client connects");
    client_ = std::move(*connected);
  }

  EchoWorld world_;
  std::unique_ptr<rpc::Client> to_world_ = world_.connect();
  Relay relay_{*to_world_};
  rpc::Server front_{world_.network};
  std::unique_ptr<rpc::Client> client_;
};

TEST_F(PropagationTest, HandlerHasTimeToAnswerWhenItsCalleeUsesUpAllOfIt) {
  relay_.options.deadline = Deadline::after(1h);
  const TimePoint start = now();
  const auto reply = EchoClient(*client_).sleep(make_sleep(1h), {.deadline = Deadline::after(1s)});
  // The callee's own error, not that of the outer call.
  ASSERT_THAT(reply, fails_with(Code::deadline_exceeded));
  EXPECT_EQ(reply.error().message(),
            "no reply of corolane.test.Echo/Sleep from server:1 within the deadline");
  EXPECT_EQ(relay_.ended_at - start, 1ms + 1s - 10ms);
  EXPECT_EQ(now() - start, 1ms + 1s - 10ms + 1ms);
}

TEST_F(PropagationTest, ShortTimesLoseATenthAtEachStep) {
  const auto reply =
      EchoClient(*client_).time_left(make_echo(""), {.deadline = Deadline::after(20ms)});
  ASSERT_TRUE(reply) << reply;
  EXPECT_EQ(reply->microseconds(), 18'000u);
}

TEST_F(PropagationTest, ShorterTimeOfTheCallItselfCounts) {
  relay_.options.deadline = Deadline::after(50ms);
  const auto reply =
      EchoClient(*client_).time_left(make_echo(""), {.deadline = Deadline::after(1s)});
  ASSERT_TRUE(reply) << reply;
  EXPECT_EQ(reply->microseconds(), 49'000u);
}

TEST_F(PropagationTest, TaskThatOutlivesItsHandlerHasItsOwnTime) {
  ASSERT_TRUE(EchoClient(*client_).echo(make_echo("begin"), {.deadline = Deadline::after(20ms)}));
  ASSERT_TRUE(coroutine::sleep_for(1s));
  EXPECT_GT(relay_.time_left_in_background, 9s) << "the timeout of the method";
}

TEST_F(PropagationTest, CancellationTravelsToTheCalleeOfTheCallee) {
  auto call =
      coroutine::spawn("caller", [&] { return EchoClient(*client_).sleep(make_sleep(1h)); });
  ASSERT_TRUE(coroutine::sleep_for(100ms));
  EXPECT_EQ(world_.service.sleeping_count, 1);
  const TimePoint cancelled = now();
  call.cancel();
  EXPECT_FALSE(call.join(Deadline::never()));
  ASSERT_TRUE(coroutine::sleep_for(10ms));
  EXPECT_EQ(world_.service.cancelled_count, 1);
  EXPECT_EQ(world_.service.cancelled_at - cancelled, 2ms);
}

TEST_F(PropagationTest, TasksOutsideOfHandlersHaveNoScope) {
  EXPECT_EQ(rpc::CallScope::current(), nullptr);
}

}  // namespace
}  // namespace corolane::test
