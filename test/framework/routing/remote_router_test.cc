// SPDX-License-Identifier: MIT
#include "framework/routing/remote_router.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <vector>

#include "coroutine/base/try.h"
#include "coroutine/task.h"
#include "coroutine/testing/matchers.h"
#include "framework/node/node.h"
#include "framework/node/node_parts.h"
#include "framework/store/memory_store.h"
#include "net/testing/network.h"
#include "test/framework/counter.h"
#include "test/framework/test_node.h"

namespace corolane::framework {
namespace {

using namespace std::chrono_literals;
using test::add_request;
using test::Counter;
using test::CounterClient;
using test::fails_with;

class Notes final : public CallObserver {
 public:
  void on_call(const CallRecord& record, const google::protobuf::Message&,
               const google::protobuf::Message&) override {
    errors.insert(errors.end(), record.errors.begin(), record.errors.end());
  }
  std::vector<Code> errors;
};

class RemoteRouterTest : public testing::Test {
 protected:
  RemoteRouterTest() {
    node_.host<Counter>();
    EXPECT_TRUE(node_.start());
    const net::Endpoint& clients = node_.endpoints().clients;
    servers_.push_back({clients.address, clients.port});
  }

  // The test calls methods of objects that are not for clients.
  static NodeConfig config() {
    NodeConfig config = test::node_config("a");
    config.clients.public_methods_only = false;
    return config;
  }

  sim::SimulatedNetwork network_;
  Node node_{config(), network_, Log(LogLevel::error, [](std::string_view) {}),
             Node::Parts{.store = std::make_shared<MemoryStore>(), .clock = now}};
  Notes notes_;
  std::vector<net::HostPort> servers_;
  RemoteRouter router_{network_, servers_, notes_, {.caller = "anna"}};
};

TEST_F(RemoteRouterTest, AMethodThatTakesLongIsCalledOnce) {
  const auto added = CounterClient(router_, "x").add(add_request(1, 5s));
  ASSERT_TRUE(added) << added;
  EXPECT_EQ(added->value(), 1);
  EXPECT_TRUE(notes_.errors.empty());
}

TEST_F(RemoteRouterTest, ALateHandlerDoesNotCostTheConnectionOfOtherCalls) {
  CounterClient counter(router_, "x");
  auto other = coroutine::spawn("call", [&]() -> Result<test::CounterReply> {
    COROLANE_TRY(coroutine::sleep_for(8s));
    return CounterClient(router_, "y").add(add_request(1, 5s));
  });
  // A method has ten seconds.
  EXPECT_THAT(counter.add(add_request(1, 1h), {.deadline = Deadline::after(12s)}),
              fails_with(Code::deadline_exceeded));
  EXPECT_TRUE(other.join(Deadline::never()));
  for (const Code code : notes_.errors) EXPECT_EQ(code, Code::deadline_exceeded);
}

TEST_F(RemoteRouterTest, ANodeThatIsSilentIsGivenUp) {
  CounterClient counter(router_, "x");
  ASSERT_TRUE(counter.add(add_request(1)));
  network_.go_silent();
  EXPECT_FALSE(counter.add(add_request(1), {.deadline = Deadline::after(5s)}));
  ASSERT_FALSE(notes_.errors.empty());
  EXPECT_EQ(notes_.errors.front(), Code::unavailable);
}

TEST_F(RemoteRouterTest, AnErrorOfAHandlerIsToldFromThoseOfTheRuntime) {
  test::AddRequest failing = add_request(1);
  failing.set_then_fail(true);
  const auto refused = CounterClient(router_, "x").add(failing);
  ASSERT_THAT(refused, fails_with(Code::failed_precondition));
  EXPECT_TRUE(refused.error().is_from_handler());

  test::AddAlongRequest along;
  for (const char* id : {"b", "who"}) along.add_ids(id);
  const auto passed_on = CounterClient(router_, "a").add_along(along);
  ASSERT_THAT(passed_on, fails_with(Code::aborted));
  EXPECT_TRUE(passed_on.error().is_from_handler()) << "of the third object";
  EXPECT_TRUE(notes_.errors.empty()) << "so it is not tried again";

  along.add_ids("a");
  along.set_ids(1, "a");
  const auto cycle = CounterClient(router_, "a").add_along(along);
  ASSERT_THAT(cycle, fails_with(Code::failed_precondition));
  EXPECT_FALSE(cycle.error().is_from_handler()) << "although two handlers pass it on";

  const auto late =
      CounterClient(router_, "x").add(add_request(1, 1h), {.deadline = Deadline::after(1s)});
  ASSERT_THAT(late, fails_with(Code::deadline_exceeded));
  EXPECT_FALSE(late.error().is_from_handler());
}

}  // namespace
}  // namespace corolane::framework
