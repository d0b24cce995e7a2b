// A node with several threads, on the real loop.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "coroutine/task.h"
#include "framework/node.h"
#include "framework/store/memory_store.h"
#include "test/framework/counter.h"
#include "test/framework/puppet.h"
#include "test/framework/test_node.h"
#include "test/support/matchers.h"
#include "test/support/real_loop.h"

namespace corolane::framework {
namespace {

using namespace std::chrono_literals;
using test::Counter;
using test::CounterClient;
using test::fails_with;
using testing::HasSubstr;

constexpr std::size_t shard_count = 3;

NodeConfig config() {
  NodeConfig config = test::node_config("several");
  config.shards = shard_count;
  return config;
}

test::AddRequest add_request(std::int64_t amount) {
  test::AddRequest request;
  request.set_amount(amount);
  return request;
}

// Runs `body` with a node of three shards that serves counters.
template <typename F>
void with_node(F&& body) {
  test::run_on_real_loop([&](test::RealLoop& real) {
    net::Network& network = real.network;
    Node node(config(), network, Log(LogLevel::error));
    node.host<Counter>();
    const auto started = node.start();
    ASSERT_TRUE(started) << started;
    body(node, network);
    const auto stopped = node.stop(Deadline::after(5s));
    EXPECT_TRUE(stopped) << stopped;
  });
}

// The same with puppets, which do what `strings` says.
template <typename F>
void with_puppets(const test::Puppet::Strings& strings, F&& body) {
  test::run_on_real_loop([&](test::RealLoop& real) {
    Node node(config(), real.network, Log(LogLevel::error, [](std::string_view) {}));
    node.host<test::Puppet>([&](Shard&) { return std::make_unique<test::Puppet>(strings); });
    const auto started = node.start();
    ASSERT_TRUE(started) << started;
    body(node);
    EXPECT_TRUE(node.stop(Deadline::after(5s)));
  });
}

TEST(ShardsTest, ObjectsLiveOnAllThreadsAndAreCalledFromEach) {
  with_node([](Node& node, net::Network&) {
    for (int i = 0; i < 300; ++i) {
      ASSERT_EQ(CounterClient(node.router(), std::to_string(i)).add(add_request(i))->value(), i);
    }
    std::vector<std::thread::id> threads(shard_count);
    std::vector<std::size_t> counts(shard_count);
    const auto looked = node.on_each_shard([&](Shard& shard) -> Result<void> {
      threads[shard.index()] = std::this_thread::get_id();
      counts[shard.index()] = shard.host()->statistics().active_count;
      for (int i = 0; i < 300; ++i) {
        auto reply = CounterClient(shard.router(), std::to_string(i)).get({});
        if (!reply) return reply.error();
        if (reply->value() != i) return Error(Code::internal, "another value");
      }
      return {};
    });
    EXPECT_TRUE(looked) << looked;
    EXPECT_EQ(std::set(threads.begin(), threads.end()).size(), shard_count);
    for (const std::size_t count : counts) EXPECT_NEAR(static_cast<double>(count), 100, 50);
  });
}

TEST(ShardsTest, AllShardsCallOneObjectAtTheSameTime) {
  with_node([](Node& node, net::Network&) {
    const auto called = node.on_each_shard([](Shard& shard) -> Result<void> {
      for (int i = 0; i < 1'000; ++i) {
        auto reply = CounterClient(shard.router(), "one").add(add_request(1));
        if (!reply) return reply.error();
      }
      return {};
    });
    EXPECT_TRUE(called) << called;
    EXPECT_EQ(CounterClient(node.router(), "one").get({})->value(), 3'000);
  });
}

TEST(ShardsTest, ACycleOverThreadsIsRefusedAndNamed) {
  with_node([](Node& node, net::Network&) {
    test::AddAlongRequest request;
    for (int i = 1; i < 20; ++i) request.add_ids(std::to_string(i));
    request.add_ids("0");
    const auto refused = CounterClient(node.router(), "0").add_along(request);
    ASSERT_THAT(refused, fails_with(Code::failed_precondition));
    EXPECT_THAT(refused.error().message(), HasSubstr("Counter/AddAlong(\"19\") -> "
                                                     "corolane.test.Counter/AddAlong(\"0\")"));
  });
}

TEST(ShardsTest, ACallerThatGivesUpReturnsAtOnceWhereverTheObjectIs) {
  std::atomic<bool> has_begun = false;
  const test::Puppet::Strings strings{.run = [&](test::Puppet&) -> Result<void> {
    has_begun = true;
    return coroutine::sleep_for(1h);
  }};
  with_puppets(strings, [&](Node& node) {
    for (int i = 0; i < 20; ++i) {
      test::PuppetClient puppet(node.router(), std::to_string(i));
      const auto late = puppet.run({}, {.deadline = Deadline::after(5ms)});
      ASSERT_THAT(late, fails_with(Code::deadline_exceeded));
      // The callee was cancelled: others have their turn.
      EXPECT_TRUE(puppet.look({}));
      // On a busy machine the time may be over before the object has a turn.
      EXPECT_TRUE(late.error().maybe_executed() || !has_begun);
      has_begun = false;
    }
  });
}

TEST(ShardsTest, AnObjectThatThrowsIsAnErrorOfItsCallerWhereverThatIs) {
  const test::Puppet::Strings strings{
      .run = [](test::Puppet&) -> Result<void> { throw std::runtime_error("as the test wants"); }};
  with_puppets(strings, [](Node& node) {
    for (int i = 0; i < 10; ++i) {
      test::PuppetClient puppet(node.router(), std::to_string(i));
      const auto threw = puppet.run({});
      ASSERT_THAT(threw, fails_with(Code::internal));
      EXPECT_EQ(threw.error().message(),
                "corolane.test.Puppet/Run threw an exception: as the test wants");
      EXPECT_TRUE(threw.error().maybe_executed());
      EXPECT_TRUE(puppet.look({}));
    }
  });
}

TEST(ShardsTest, ClientsAreSpreadAndReachObjectsOfAllThreads) {
  with_node([](Node& node, net::Network& network) {
    std::vector<std::unique_ptr<rpc::Client>> clients;
    for (int i = 0; i < 30; ++i) clients.push_back(test::connect(network, node));
    const auto methods = test::CounterObject::object_type().methods;
    for (auto& client : clients) {
      for (int i = 0; i < 10; ++i) {
        const std::string id = std::to_string(i);
        const rpc::ObjectTarget target{.id = id};
        test::CounterReply reply;
        const auto called = client->call(methods[0], add_request(1), reply, {.object = &target});
        ASSERT_TRUE(called) << called;
      }
    }
    for (int i = 0; i < 10; ++i) {
      EXPECT_EQ(CounterClient(node.router(), std::to_string(i)).get({})->value(), 30);
    }
    std::vector<std::uint64_t> accepted(shard_count);
    EXPECT_TRUE(node.on_each_shard([&](Shard& shard) -> Result<void> {
      accepted[shard.index()] = shard.rpc_server().statistics().accepted_count;
      return {};
    }));
    // The odds that a shard of three gets none of thirty are one in two hundred thousand.
    for (const std::uint64_t count : accepted) EXPECT_GT(count, 0U);
  });
}

TEST(ShardsTest, ANodeWhoseThreadsCannotBeginSaysSo) {
  test::run_on_real_loop([](test::RealLoop& real) {
    NodeConfig without_stacks = config();
    without_stacks.stacks.count_max = 2;
    Node node(without_stacks, real.network, Log(LogLevel::error));
    EXPECT_THAT(node.start(), fails_with(Code::resource_exhausted));
  });
}

TEST(ShardsTest, WhatIsNotStoredYetIsStoredAtTheEnd) {
  auto store = std::make_shared<MemoryStore>();
  test::run_on_real_loop([&](test::RealLoop& real) {
    net::Network& network = real.network;
    for (const std::int64_t expected : {1, 2}) {
      Node node(config(), network, Log(LogLevel::error), {.store = store});
      node.host<Counter>();
      ASSERT_TRUE(node.start());
      for (int i = 0; i < 100; ++i) {
        const auto reply = CounterClient(node.router(), std::to_string(i)).add(add_request(1));
        ASSERT_TRUE(reply) << reply;
        ASSERT_EQ(reply->value(), expected);
      }
      ASSERT_TRUE(node.stop(Deadline::after(5s)));
    }
  });
}

TEST(ShardsTest, APortThatAnotherProcessHasIsNotSharedUnnoticed) {
  with_node([](Node& node, net::Network& network) {
    NodeConfig same = config();
    same.listen = to_string(node.endpoints().listen);
    Node other(same, network, Log(LogLevel::error));
    other.host<Counter>();
    EXPECT_THAT(other.start(), fails_with(Code::already_exists));
  });
}

}  // namespace
}  // namespace corolane::framework
