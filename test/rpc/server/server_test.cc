// SPDX-License-Identifier: MIT
// The guarantees of a server while it runs, is overloaded, and stops.
#include "rpc/server/server.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "coroutine/scheduler.h"
#include "coroutine/task_group.h"
#include "coroutine/testing/matchers.h"
#include "coroutine/virtual_time.h"
#include "rpc/service.h"
#include "rpc/wire/frame.h"
#include "test/rpc/public_echo.h"

namespace corolane::test {
namespace {

using namespace std::chrono_literals;

// A method given by its name, as a peer with another proto would call it.
rpc::Method method_named(const char* full_name) {
  return {.full_name = full_name,
          .id = rpc::method_id(full_name),
          .timeout = 1s,
          .stack_size_bytes = 0,
          .new_request = nullptr,
          .invoke = nullptr};
}

const rpc::Server::MethodStatistics& statistics_of(const rpc::Server::Statistics& statistics,
                                                   std::string_view name) {
  for (const auto& method : statistics.methods) {
    if (method.full_name == name) return method;
  }
  check(false, "the method is served");
  return statistics.methods.front();
}

TEST(ServerTest, UnknownMethodIsUnimplemented) {
  EchoWorld world;
  auto connection = world.connect();
  EchoReply reply;
  const auto called =
      connection->call(method_named("corolane.test.Echo/Nothing"), make_echo(""), reply);
  ASSERT_FALSE(called);
  EXPECT_EQ(called.error().code(), Code::unimplemented);
}

TEST(ServerTest, MalformedRequestIsRefusedWithoutATask) {
  EchoWorld world;
  auto connection = world.connect();
  const auto created = coroutine::Scheduler::current().statistics().created_count;
  RawRequest request;
  request.set_text("\xff");  // Not UTF-8, which a string has to be.
  EchoReply reply;
  const auto called = connection->call(method_named("corolane.test.Echo/Echo"), request, reply);
  ASSERT_FALSE(called);
  EXPECT_EQ(called.error().code(), Code::invalid_argument);
  EXPECT_EQ(coroutine::Scheduler::current().statistics().created_count, created);
}

TEST(ServerTest, ServiceThatIsAddedTwiceIsRefused) {
  EchoWorld world;
  const auto again = world.server.add(world.service);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code(), Code::already_exists);
}

TEST(ServerTest, CallsAboveTheLimitOfAConnectionAreRefusedWithoutATask) {
  EchoWorld world({.calls_per_connection_max = 2, .admission = {.retry_after = 70ms}});
  auto connection = world.connect();
  EchoClient client(*connection);
  coroutine::TaskGroup callers;
  for (int index = 0; index < 2; ++index) {
    ASSERT_TRUE(callers.spawn("caller", [&] { EXPECT_TRUE(client.sleep(make_sleep(100ms))); }));
  }
  ASSERT_TRUE(coroutine::sleep_for(10ms));
  const auto created = coroutine::Scheduler::current().statistics().created_count;

  const auto refused = client.echo(make_echo(""), {.deadline = Deadline::after(50ms)});

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::resource_exhausted);
  EXPECT_EQ(refused.error().retry_after(), 70ms);
  EXPECT_EQ(coroutine::Scheduler::current().statistics().created_count, created);
  ASSERT_TRUE(callers.join(Deadline::never()));
  EXPECT_TRUE(client.echo(make_echo("")));
  const auto statistics = world.server.statistics();
  EXPECT_EQ(statistics_of(statistics, "corolane.test.Echo/Echo").refused_count, 1u);
  EXPECT_EQ(statistics_of(statistics, "corolane.test.Echo/Echo").call_count, 1u);
  EXPECT_EQ(statistics_of(statistics, "corolane.test.Echo/Sleep").call_count, 2u);
}

TEST(ServerTest, TotalsTellFaultsOfTheServerFromRefusals) {
  EchoWorld world;
  auto connection = world.connect();
  EchoClient client(*connection);
  ASSERT_TRUE(client.sleep(make_sleep(100ms)));
  EXPECT_FALSE(client.explode(make_echo("")));
  for (const Code code : {Code::failed_precondition, Code::not_found}) {
    EXPECT_FALSE(client.fail(make_fail(static_cast<std::uint32_t>(code))));
  }
  rpc::Server::Totals totals;
  totals.call_count = 17;
  world.server.read_totals(totals);
  EXPECT_EQ(totals.call_count, 4U) << "what was there is replaced";
  EXPECT_EQ(totals.fault_count, 1U);
  EXPECT_EQ(totals.refusal_count, 2U);
  EXPECT_EQ(totals.turned_away_count, 0U);
  EXPECT_EQ(totals.connection_count, 1U);
  EXPECT_EQ(totals.latency_us.count(), 4U);
  EXPECT_NEAR(static_cast<double>(totals.latency_us.max()), 1e5, 1e4);
}

TEST(ServerTest, LargeRequestsAreRefusedWhenTheirMemoryIsUsedUp) {
  EchoWorld world({.node_bytes_max = 200'000});
  auto connection = world.connect();
  EchoClient client(*connection);
  const std::string large(60'000, 'x');
  auto first = coroutine::spawn("first", [&] { return client.sleep(make_sleep(100ms, large)); });
  ASSERT_TRUE(coroutine::sleep_for(10ms));

  const auto second = client.sleep(make_sleep(100ms, large));
  EXPECT_THAT(second, fails_with(Code::resource_exhausted));
  EXPECT_TRUE(client.echo(make_echo("a small one")));

  EXPECT_TRUE(first.join(Deadline::never()));
  EXPECT_TRUE(client.sleep(make_sleep(1ms, large)));
}

TEST(ServerTest, ClosedClientCancelsItsHandlers) {
  EchoWorld world;
  {
    auto connection = world.connect();
    EchoClient client(*connection);
    auto call = coroutine::spawn("caller", [&] { return client.sleep(make_sleep(1s)); });
    ASSERT_TRUE(coroutine::sleep_for(10ms));
    connection->close();
    EXPECT_FALSE(call.join(Deadline::never()));
  }
  ASSERT_TRUE(coroutine::sleep_for(10ms));
  EXPECT_EQ(world.service.cancelled_count, 1);
  EXPECT_EQ(world.server.statistics().connection_count, 0u);
}

// Its clients may ask for a minute.
class PatientEcho final : public PublicEcho {
 public:
  std::span<const rpc::Method> methods() const override { return methods_; }

 private:
  std::vector<rpc::Method> patient() const {
    const auto methods = PublicEcho::methods();
    std::vector<rpc::Method> made(methods.begin(), methods.end());
    for (rpc::Method& method : made) method.timeout_max = 1min;
    return made;
  }
  const std::vector<rpc::Method> methods_ = patient();
};

TEST(ServerTest, NodesHaveTheTimeThatTheyAskForAndClientsAtMostThatOfTheMethod) {
  sim::SimulatedNetwork network;
  PatientEcho service;
  rpc::Server server(network);
  ASSERT_TRUE(server.add(service));
  ASSERT_TRUE(server.listen({"server", 1}, {.door = rpc::Door::clients}));
  ASSERT_TRUE(server.listen({"server", 2}, {.door = rpc::Door::nodes}));
  const auto time_left = [&](std::uint16_t port, std::optional<Duration> patience) -> Duration {
    const auto client = rpc::Client::connect(network, {"server", port}, Deadline::after(1s));
    const auto deadline = [&] {
      return patience == Duration::max() ? Deadline::never() : Deadline::after(*patience);
    };
    const rpc::CallOptions options =
        patience ? rpc::CallOptions{.deadline = deadline()} : rpc::CallOptions();
    const auto reply = EchoClient(**client).time_left(make_echo(""), options);
    return std::chrono::microseconds(reply->microseconds());
  };
  for (const std::uint16_t port : {std::uint16_t{1}, std::uint16_t{2}}) {
    EXPECT_EQ(time_left(port, std::nullopt), 10s);
    EXPECT_EQ(time_left(port, 50s), 50s);
  }
  EXPECT_EQ(time_left(1, 1h), 1min);
  EXPECT_EQ(time_left(1, Duration::max()), 1min);
  EXPECT_EQ(time_left(2, 1h), 1h);
  EXPECT_GT(time_left(2, Duration::max()), 1h);
}

TEST(ServerTest, StopInAHandlerFailsInsteadOfWaitingForItself) {
  EchoWorld world;
  Result<void> stopped;
  world.server.add_filter([&](rpc::Context&, const rpc::Next& next) -> Result<void> {
    stopped = world.server.stop(Deadline::after(1s));
    return next();
  });
  auto connection = world.connect();
  EXPECT_TRUE(EchoClient(*connection).echo(make_echo("")));
  EXPECT_THAT(stopped, fails_with(Code::failed_precondition));
  EXPECT_TRUE(EchoClient(*connection).echo(make_echo(""))) << "it goes on";
}

TEST(ServerTest, StopLetsRunningCallsFinishAndRefusesNewOnes) {
  EchoWorld world;
  auto connection = world.connect();
  EchoClient client(*connection);
  auto running =
      coroutine::spawn("running", [&] { return client.sleep(make_sleep(100ms, "done")); });
  ASSERT_TRUE(coroutine::sleep_for(10ms));

  auto stop = coroutine::spawn("stop", [&] { return world.server.stop(Deadline::after(5s)); });
  ASSERT_TRUE(coroutine::sleep_for(10ms));
  const auto late = client.echo(make_echo(""));
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code(), Code::unavailable);
  EXPECT_FALSE(late.error().maybe_executed());

  const auto reply = running.join(Deadline::never());
  ASSERT_TRUE(reply) << reply;
  EXPECT_EQ(reply->text(), "done");
  EXPECT_TRUE(stop.join(Deadline::never()));
  EXPECT_FALSE(rpc::Client::connect(world.network, {"server", 1}, Deadline::after(1s)));
}

TEST(ServerTest, StopCancelsAtItsDeadline) {
  EchoWorld world;
  auto connection = world.connect();
  EchoClient client(*connection);
  auto running = coroutine::spawn("running", [&] { return client.sleep(make_sleep(2s)); });
  ASSERT_TRUE(coroutine::sleep_for(10ms));
  const TimePoint start = now();

  const auto stopped = world.server.stop(Deadline::after(300ms));

  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code(), Code::deadline_exceeded);
  EXPECT_EQ(now() - start, 300ms);
  EXPECT_EQ(world.service.cancelled_count, 1);
  const auto reply = running.join(Deadline::never());
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code(), Code::unavailable);
  EXPECT_EQ(reply.error().message(),
            "corolane.test.Echo/Sleep was cancelled: the server is stopping");
  EXPECT_TRUE(reply.error().maybe_executed());
}

TEST(ServerTest, OneConnectionMayComeAndGoAThousandTimes) {
  EchoWorld world;
  for (int round = 0; round < 1000; ++round) {
    auto connection = world.connect();
    EchoClient client(*connection);
    ASSERT_TRUE(client.echo(make_echo("")));
  }
  ASSERT_TRUE(coroutine::sleep_for(10ms));
  EXPECT_EQ(world.server.statistics().connection_count, 0u);
  EXPECT_EQ(world.server.statistics().accepted_count, 1000u);
}

// A network whose next accept fails with an unexpected error.
class OddNetwork : public net::Network {
 public:
  class OddListener : public net::Listener {
   public:
    explicit OddListener(std::unique_ptr<net::Listener> listener)
        : listener_(std::move(listener)) {}
    Result<std::unique_ptr<net::Stream>> accept(Deadline deadline) override {
      if (std::exchange(is_odd_, false))
        return Error(Code::internal, "protocol driver not attached");
      return listener_->accept(deadline);
    }
    void close() override { listener_->close(); }
    net::Endpoint local_endpoint() const override { return listener_->local_endpoint(); }

   private:
    std::unique_ptr<net::Listener> listener_;
    bool is_odd_ = true;
  };

  Result<std::unique_ptr<net::Listener>> listen(const net::Endpoint& endpoint,
                                                net::ListenOptions options) override {
    auto listener = network_.listen(endpoint, options);
    if (!listener) return listener.error();
    return std::make_unique<OddListener>(std::move(*listener));
  }
  Result<std::unique_ptr<net::Stream>> connect(const net::Endpoint& endpoint, Deadline deadline,
                                               net::StreamOptions options) override {
    return network_.connect(endpoint, deadline, options);
  }
  Result<std::vector<net::Endpoint>> resolve(const net::HostPort& host,
                                             Deadline deadline) override {
    return network_.resolve(host, deadline);
  }

 private:
  sim::SimulatedNetwork network_;
};

TEST(ServerTest, AServerKeepsAcceptingAfterAnUnexpectedError) {
  OddNetwork network;
  EchoService service;
  rpc::Server server(network);
  ASSERT_TRUE(server.add(service));
  ASSERT_TRUE(server.listen({"server", 1}, {.door = rpc::Door::nodes}));
  const auto connection = rpc::Client::connect(network, {"server", 1}, Deadline::after(1s));
  ASSERT_TRUE(connection) << connection;
  EXPECT_TRUE(EchoClient(**connection).echo(make_echo("")));
}

std::ptrdiff_t count_of_tasks(std::string_view name) {
  const auto tasks = coroutine::Scheduler::current().tasks();
  return std::ranges::count_if(tasks, [&](const auto& task) { return task.name == name; });
}

TEST(ServerTest, AMethodRunsOnTheStackThatTheOperatorChose) {
  // More than a sanitizer gives to every task.
  constexpr std::size_t size_bytes = 512 * 1024;
  rpc::StackSizes sizes;
  sizes.set("corolane.test.Echo/Sleep", size_bytes);
  EchoWorld world({.stack_sizes = sizes});
  auto connection = world.connect();
  EchoClient client(*connection);
  auto call = coroutine::spawn("caller", [&] { return client.sleep(make_sleep(100ms)); });
  while (world.service.sleeping_count == 0) ASSERT_TRUE(coroutine::sleep_for(1ms));
  std::size_t found_bytes = 0;
  for (const auto& task : coroutine::Scheduler::current().tasks()) {
    if (task.name.contains("Sleep")) found_bytes = task.stack_size_bytes;
  }
  EXPECT_GE(found_bytes, size_bytes);
  EXPECT_TRUE(call.join(Deadline::never()));
}

TEST(ServerTest, ListenMayBeRetriedWhenTasksRanOut) {
  coroutine::VirtualTime time;
  coroutine::Scheduler scheduler(time, {.stacks = {.stack_count_max = 2}});
  const auto ran = scheduler.run("main", [] {
    sim::SimulatedNetwork network;
    rpc::Server server(network);
    {
      auto other = coroutine::spawn("other", [] { return coroutine::sleep_for(1h); });
      const auto refused = server.listen({"server", 1}, {.door = rpc::Door::nodes});
      ASSERT_FALSE(refused);
      EXPECT_EQ(refused.error().code(), Code::resource_exhausted);
    }
    const auto listening = server.listen({"server", 1}, {.door = rpc::Door::nodes});
    EXPECT_TRUE(listening) << listening;
    EXPECT_EQ(count_of_tasks("rpc accept"), 1);
  });
  EXPECT_TRUE(ran);
}

}  // namespace
}  // namespace corolane::test
