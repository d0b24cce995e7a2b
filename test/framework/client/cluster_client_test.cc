// SPDX-License-Identifier: MIT
// A client of one node; test/framework/testing/client_failover_test.cc has clusters.
#include "framework/client/cluster_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "coroutine/base/try.h"
#include "coroutine/task.h"
#include "coroutine/task_group.h"
#include "coroutine/testing/matchers.h"
#include "framework/node/node.h"
#include "framework/node/node_parts.h"
#include "framework/store/memory_store.h"
#include "net/testing/network.h"
#include "test/framework/counter.h"
#include "test/framework/room.h"
#include "test/framework/test_node.h"

namespace corolane::framework {
namespace {

using namespace std::chrono_literals;
using test::add_request;
using test::Counter;
using test::CounterClient;
using test::fails_with;
using testing::IsEmpty;

class Notes final : public CallObserver {
 public:
  void on_call(const CallRecord& record, const google::protobuf::Message&,
               const google::protobuf::Message&) override {
    errors.insert(errors.end(), record.errors.begin(), record.errors.end());
    callers.emplace(record.caller);
  }
  std::vector<Code> errors;
  std::set<std::string> callers;
};

class ClusterClientTest : public testing::Test {
 protected:
  ClusterClientTest() {
    node_.host<Counter>();
    node_.host<test::Room>();
    node_.serve([](Shard& shard) { return std::make_unique<test::WatchService>(shard.router()); });
    EXPECT_TRUE(node_.start());
    client_.emplace(network_, servers(), options("anna"));
  }

  // The test calls methods of objects that are not for clients.
  static NodeConfig config() {
    NodeConfig config = test::node_config("a");
    config.clients.public_methods_only = false;
    return config;
  }
  std::vector<net::HostPort> servers() const {
    const net::Endpoint& clients = node_.endpoints().clients;
    return {{clients.address, clients.port}};
  }
  ClusterClient::Options options(std::string caller) {
    return {.connection = {.keepalive = {.interval = 500ms, .patience = 500ms}},
            .caller = std::move(caller),
            .observer = &notes_};
  }

  sim::SimulatedNetwork network_;
  Node node_{config(), network_, Log(LogLevel::error, [](std::string_view) {}),
             Node::Parts{.store = std::make_shared<MemoryStore>(), .clock = now}};
  Notes notes_;
  std::optional<ClusterClient> client_;
};

TEST_F(ClusterClientTest, AMethodThatTakesLongIsCalledOnce) {
  const auto added = CounterClient(*client_, "x").add(add_request(1, 5s));
  ASSERT_TRUE(added) << added;
  EXPECT_EQ(added->value(), 1);
  EXPECT_THAT(notes_.errors, IsEmpty());
}

TEST_F(ClusterClientTest, ALateHandlerDoesNotCostTheConnectionOfOtherCalls) {
  auto other = coroutine::spawn("call", [&]() -> Result<test::CounterReply> {
    COROLANE_TRY(coroutine::sleep_for(8s));
    return CounterClient(*client_, "y").add(add_request(1, 5s));
  });
  // A method has ten seconds.
  EXPECT_THAT(
      CounterClient(*client_, "x").add(add_request(1, 1h), {.deadline = Deadline::after(12s)}),
      fails_with(Code::deadline_exceeded));
  EXPECT_TRUE(other.join(Deadline::never()));
  for (const Code code : notes_.errors) EXPECT_EQ(code, Code::deadline_exceeded);
  EXPECT_EQ(client_->statistics().connect_count, 1u);
}

TEST_F(ClusterClientTest, AServerThatIsSilentIsGivenUp) {
  CounterClient counter(*client_, "x");
  ASSERT_TRUE(counter.add(add_request(1)));
  network_.go_silent();
  EXPECT_FALSE(counter.add(add_request(1), {.deadline = Deadline::after(5s)}));
  ASSERT_FALSE(notes_.errors.empty());
  EXPECT_EQ(notes_.errors.front(), Code::unavailable);
}

TEST_F(ClusterClientTest, AnErrorOfAHandlerIsToldFromThoseOfTheRuntime) {
  test::AddRequest failing = add_request(1);
  failing.set_then_fail(true);
  const auto refused = CounterClient(*client_, "x").add(failing);
  ASSERT_THAT(refused, fails_with(Code::failed_precondition));
  EXPECT_TRUE(refused.error().is_from_handler());

  test::AddAlongRequest along;
  for (const char* id : {"b", "who"}) along.add_ids(id);
  const auto passed_on = CounterClient(*client_, "a").add_along(along);
  ASSERT_THAT(passed_on, fails_with(Code::aborted));
  EXPECT_TRUE(passed_on.error().is_from_handler()) << "of the third object";
  EXPECT_THAT(notes_.errors, IsEmpty()) << "so it is not tried again";

  along.add_ids("a");
  along.set_ids(1, "a");
  const auto cycle = CounterClient(*client_, "a").add_along(along);
  ASSERT_THAT(cycle, fails_with(Code::failed_precondition));
  EXPECT_FALSE(cycle.error().is_from_handler()) << "although two handlers pass it on";

  const auto late =
      CounterClient(*client_, "x").add(add_request(1, 1h), {.deadline = Deadline::after(1s)});
  ASSERT_THAT(late, fails_with(Code::deadline_exceeded));
  EXPECT_FALSE(late.error().is_from_handler());
}

TEST_F(ClusterClientTest, CallsThatOverlapHaveCallersOfTheirOwnAndTakeEffectOnce) {
  constexpr int call_count = 20;
  coroutine::TaskGroup calls;
  for (int i = 0; i < call_count; ++i) {
    ASSERT_TRUE(calls.spawn("call", [&]() -> Result<void> {
      auto added = CounterClient(*client_, "x").add_for_good(add_request(1, 10ms));
      if (!added) return added.error();
      return {};
    }));
  }
  // In the midst of them.
  ASSERT_TRUE(coroutine::sleep_for(55ms));
  network_.reset_all();
  EXPECT_TRUE(calls.join(Deadline::never()));
  EXPECT_FALSE(notes_.errors.empty());
  const auto value = CounterClient(*client_, "x").get({});
  ASSERT_TRUE(value) << value;
  EXPECT_EQ(value->value(), call_count);
  EXPECT_EQ(notes_.callers.size(), static_cast<std::size_t>(call_count));
  EXPECT_TRUE(notes_.callers.contains("anna"));

  // One after the other they need one.
  notes_.callers.clear();
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(CounterClient(*client_, "x").add(add_request(1)));
  EXPECT_EQ(notes_.callers.size(), 1u);
}

TEST_F(ClusterClientTest, ACallWithoutARequestIdIsRepeatedOnlyWhereThatIsSafe) {
  ClusterClient::Options without = options("bob");
  without.has_request_ids = false;
  ClusterClient client(network_, servers(), without);
  CounterClient counter(client, "x");
  auto adding = coroutine::spawn("add", [&] { return counter.add(add_request(1, 100ms)); });
  auto getting = coroutine::spawn("get", [&] {
    test::GetRequest slow;
    slow.set_pause_milliseconds(100);
    return CounterClient(client, "y").get(slow);
  });
  ASSERT_TRUE(coroutine::sleep_for(50ms));
  network_.reset_all();
  const auto added = adding.join(Deadline::never());
  ASSERT_THAT(added, fails_with(Code::unavailable));
  EXPECT_TRUE(added.error().maybe_executed());
  EXPECT_TRUE(getting.join(Deadline::never())) << "it only reads";
}

TEST_F(ClusterClientTest, AMessageThatIsTooLargeIsNotTriedAgain) {
  const TimePoint start = now();
  const std::string large(200'000, 'x');
  EXPECT_THAT(test::RoomClient(*client_, "lobby").say(test::say_request(large)),
              fails_with(Code::resource_exhausted));
  EXPECT_LT(now() - start, 100ms);
  EXPECT_THAT(notes_.errors, IsEmpty());
}

TEST_F(ClusterClientTest, AnErrorSaysWhatIsKnownOfAllAttempts) {
  auto adding = coroutine::spawn("add", [&] {
    return CounterClient(*client_, "x")
        .add(add_request(1, 100ms), {.deadline = Deadline::after(2s)});
  });
  ASSERT_TRUE(coroutine::sleep_for(50ms));
  network_.set_host(servers().front().host, {.refuses = true});
  network_.reset_all();
  const auto added = adding.join(Deadline::never());
  ASSERT_FALSE(added);
  EXPECT_TRUE(added.error().maybe_executed()) << "by the first attempt";
  EXPECT_FALSE(added.error().not_executed());
}

TEST_F(ClusterClientTest, ACallThatIsOneWayIsSentOnce) {
  CounterClient counter(*client_, "x");
  ASSERT_TRUE(counter.add_quietly(add_request(3)));
  test::WaitUntilRequest until;
  until.set_value(3);
  const auto reached = counter.await(until);
  ASSERT_TRUE(reached) << reached;
  EXPECT_EQ(reached->value(), 3);
}

TEST_F(ClusterClientTest, OneClientCallsServicesAndObjectsAndFollowsGroups) {
  test::WatchRequest request;
  request.set_room("lobby");
  const auto followed = test::WatchClient(*client_).follow(request);
  ASSERT_TRUE(followed) << followed;
  auto news = client_->follow<test::RoomEvent>(followed->group());
  ASSERT_TRUE(test::RoomClient(*client_, "lobby").say(test::say_request("hello")));
  const auto heard = news.next(Deadline::after(1s));
  ASSERT_TRUE(heard) << heard;
  ASSERT_FALSE(heard->is_gap());
  EXPECT_EQ((*heard)->text(), "hello");
  EXPECT_EQ(client_->statistics().connect_count, 1u);
}

TEST_F(ClusterClientTest, AClientWithoutASessionSaysSo) {
  ClusterClient::Options without = options("bob");
  without.keeps_session = false;
  ClusterClient client(network_, servers(), without);
  EXPECT_TRUE(CounterClient(client, "x").add(add_request(1)));
  auto pushes = client.pushes<test::RoomEvent>();
  EXPECT_THAT(pushes.next(Deadline::never()), fails_with(Code::failed_precondition));
  test::WatchRequest request;
  request.set_room("lobby");
  EXPECT_THAT(test::WatchClient(client).follow(request), fails_with(Code::failed_precondition));
}

TEST_F(ClusterClientTest, ClosingEndsCallsAndReaders) {
  auto calling = coroutine::spawn(
      "call", [&] { return CounterClient(*client_, "x").add(add_request(1, 1s)); });
  auto pushes = client_->pushes<test::RoomEvent>();
  auto reading = coroutine::spawn("read", [&] { return pushes.next(Deadline::never()); });
  ASSERT_TRUE(coroutine::sleep_for(100ms));
  const TimePoint start = now();
  client_->close();
  EXPECT_THAT(calling.join(Deadline::never()), fails_with(Code::unavailable));
  EXPECT_THAT(reading.join(Deadline::never()), fails_with(Code::unavailable));
  EXPECT_THAT(CounterClient(*client_, "x").get({}), fails_with(Code::unavailable));
  EXPECT_EQ(now(), start) << "nothing is tried again";
}

}  // namespace
}  // namespace corolane::framework
