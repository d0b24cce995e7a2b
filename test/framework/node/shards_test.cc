// SPDX-License-Identifier: MIT
// A node with several threads, on the real loop.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <numeric>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "coroutine/task.h"
#include "coroutine/task_group.h"
#include "coroutine/testing/matchers.h"
#include "framework/cluster/cluster.h"
#include "framework/edge/user.h"
#include "framework/node/node.h"
#include "framework/node/node_parts.h"
#include "framework/store/memory_store.h"
#include "net/http/http_client.h"
#include "net/http/http_server.h"
#include "rpc/call_scope.h"
#include "rpc/server/server.h"
#include "rpc/wire/frame.h"
#include "rpc/wire/wire.pb.h"
#include "test/fixtures/real_loop.h"
#include "test/framework/counter.h"
#include "test/framework/puppet.h"
#include "test/framework/slow_service.h"
#include "test/framework/test_node.h"

namespace corolane::framework {
namespace {

using namespace std::chrono_literals;
using test::add_request;
using test::Counter;
using test::CounterClient;
using test::fails_with;
using testing::HasSubstr;

constexpr std::size_t thread_count = 3;

NodeConfig config() {
  NodeConfig config = test::node_config("several");
  config.shards = thread_count;
  return config;
}

// Runs `body` with a node of three shards that serves counters.
template <typename F>
void with_counters(F&& body) {
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

// The same with puppets, driven by `strings`.
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
  with_counters([](Node& node, net::Network&) {
    for (int i = 0; i < 300; ++i) {
      ASSERT_EQ(CounterClient(node.router(), std::to_string(i)).add(add_request(i))->value(), i);
    }
    std::vector<std::thread::id> threads(thread_count);
    std::vector<std::size_t> counts(thread_count);
    const auto looked = node.on_each_shard([&](Shard& shard) -> Result<void> {
      threads[shard.index()] = std::this_thread::get_id();
      counts[shard.index()] = shard.active_object_count();
      for (int i = 0; i < 300; ++i) {
        auto reply = CounterClient(shard.router(), std::to_string(i)).get({});
        if (!reply) return reply.error();
        if (reply->value() != i) return Error(Code::internal, "another value");
      }
      return {};
    });
    EXPECT_TRUE(looked) << looked;
    EXPECT_EQ(std::set(threads.begin(), threads.end()).size(), thread_count);
    for (const std::size_t count : counts) EXPECT_NEAR(static_cast<double>(count), 100, 50);
  });
}

TEST(ShardsTest, HeadersReachObjectsOfAllThreadsAndComeBack) {
  with_counters([](Node& node, net::Network&) {
    for (int i = 0; i < 30; ++i) {
      rpc::Headers sent;
      sent.add("number", std::to_string(i));
      rpc::ReplyHeaders received;
      ASSERT_TRUE(CounterClient(node.router(), std::to_string(i))
                      .get({}, {.headers = &sent, .reply_headers = &received}));
      EXPECT_EQ(received.headers, sent);
    }
  });
}

// The hello by which the node answers the one of a client that keeps that session.
rpc::Hello say_hello(net::Stream& stream, const std::string& session) {
  rpc::Hello hello;
  hello.set_token("ann");
  hello.set_keeps_session(true);
  hello.set_session(session);
  const std::string text = hello.SerializeAsString();
  std::array<std::byte, rpc::frame_header_size> header;
  rpc::encode({.payload_size = static_cast<std::uint32_t>(text.size()),
               .type = rpc::FrameType::hello,
               .call_id = rpc::hello_magic,
               .method_id = rpc::protocol_version},
              header);
  EXPECT_TRUE(stream.try_write(header));
  EXPECT_TRUE(stream.try_write(net::bytes_of(text)));
  rpc::FrameDecoder decoder(64 * 1024);
  std::array<std::byte, 4096> buffer;
  for (rpc::Frame frame;;) {
    const auto more = decoder.next(frame);
    if (more && *more) {
      rpc::Hello answer;
      EXPECT_EQ(frame.header.type, rpc::FrameType::hello);
      EXPECT_TRUE(
          answer.ParseFromArray(frame.message.data(), static_cast<int>(frame.message.size())));
      return answer;
    }
    const auto count = stream.read_some(buffer, Deadline::after(5s));
    if (!more || !count || *count == 0) break;
    decoder.feed(std::span(buffer).first(*count));
  }
  ADD_FAILURE() << "no hello";
  return {};
}

TEST(ShardsTest, ASessionMovesToTheThreadThatItsClientReaches) {
  test::run_on_real_loop([&](test::RealLoop& real) {
    Node node(config(), real.network, Log(LogLevel::error));
    node.set_login([](std::string_view token, const rpc::LoginPeer&) {
      return Result<rpc::Principal>({.id = std::string(token)});
    });
    node.host_users();
    const auto started = node.start();
    ASSERT_TRUE(started) << started;
    std::string session;
    for (int i = 0; i < 60; ++i) {
      auto stream = real.network.connect(node.endpoints().clients, Deadline::after(5s));
      ASSERT_TRUE(stream);
      const rpc::Hello hello = say_hello(**stream, session);
      EXPECT_EQ(hello.is_resumed(), i > 0) << i;
      session = hello.session();
      const auto pushed = User(node.router(), "ann").push(test::CounterReply());
      EXPECT_TRUE(pushed) << pushed;
    }
    std::uint64_t moved_count = 0;
    ASSERT_TRUE(node.on_each_shard([&](Shard& shard) -> Result<void> {
      if (shard.index() != 0) return {};
      const auto counts = shard.rpc_server().statistics().sessions;
      moved_count = counts.arrived_count + counts.departed_count;
      return {};
    }));
    EXPECT_GT(moved_count, 0u);
    const auto presence = User(node.router(), "ann").presence();
    ASSERT_TRUE(presence) << presence;
    ASSERT_EQ(presence->devices.size(), 1u);
    EXPECT_EQ(presence->devices.front().pushed_count, 60u);
    EXPECT_TRUE(node.stop(Deadline::after(5s)));
  });
}

// Connections that the shards have accepted, and those that they refused of them.
struct ConnectionCounts {
  std::uint64_t accepted = 0;
  std::uint64_t refused = 0;
};
ConnectionCounts connection_counts(Node& node) {
  std::array<ConnectionCounts, thread_count> counts;
  EXPECT_TRUE(node.on_each_shard([&](Shard& shard) -> Result<void> {
    const auto statistics = shard.rpc_server().statistics();
    counts[shard.index()] = {.accepted = statistics.accepted_count,
                             .refused = statistics.refused_connection_count};
    return {};
  }));
  ConnectionCounts sum;
  for (const ConnectionCounts& of_one : counts) {
    sum.accepted += of_one.accepted;
    sum.refused += of_one.refused;
  }
  return sum;
}

TEST(ShardsTest, TheConnectionLimitCountsAllShardsAndIsReloadable) {
  test::run_on_real_loop([&](test::RealLoop& real) {
    NodeConfig limited = config();
    limited.clients.connections_max = 20;
    Node node(limited, real.network, Log(LogLevel::error));
    node.host<Counter>();
    ASSERT_TRUE(node.start());
    std::vector<std::unique_ptr<net::Stream>> streams;
    // The beginning of a hello, from which the port knows it.
    std::array<std::byte, rpc::frame_header_size> hello;
    rpc::encode({.type = rpc::FrameType::hello, .call_id = rpc::hello_magic}, hello);
    const auto connect = [&](std::size_t count) {
      while (streams.size() < count) {
        auto stream = real.network.connect(node.endpoints().clients, Deadline::after(5s));
        ASSERT_TRUE(stream) << stream;
        ASSERT_TRUE((*stream)->try_write(std::span(hello).first(16)));
        streams.push_back(*std::move(stream));
      }
      while (connection_counts(node).accepted < count) ASSERT_TRUE(coroutine::sleep_for(1ms));
    };
    connect(40);
    EXPECT_EQ(connection_counts(node).refused, 30u);  // One address may have half of the limit.
    limited.clients.address_share = 80;
    ASSERT_TRUE(node.reload(limited));
    connect(60);
    EXPECT_EQ(connection_counts(node).refused, 44u);
    EXPECT_TRUE(node.stop(Deadline::after(5s)));
  });
}

TEST(ShardsTest, EveryShardServesHttpOnTheSamePort) {
  test::run_on_real_loop([&](test::RealLoop& real) {
    NodeConfig with_http = config();
    with_http.clients.http = "127.0.0.1:0";
    with_http.clients.address_share = 100;
    Node node(with_http, real.network, Log(LogLevel::error));
    node.host<Counter>();
    ASSERT_TRUE(node.start());
    // The kernel hashes each connection to a shard: two hundred leave none out.
    for (int i = 0; i < 200; ++i) {
      const auto answer = net::fetch_http(
          real.network, {"127.0.0.1", node.endpoints().http->port},
          {.method = "GET", .target = "/", .body = {}, .headers = {}}, Deadline::after(5s));
      ASSERT_TRUE(answer) << answer.error();
      EXPECT_EQ(answer->status, 200u);
    }
    std::array<std::uint64_t, thread_count> counts{};
    EXPECT_TRUE(node.on_each_shard([&](Shard& shard) -> Result<void> {
      counts[shard.index()] = shard.http_server()->statistics().request_count;
      return {};
    }));
    EXPECT_THAT(counts, testing::Each(testing::Ge(1u)));
    EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}), 200u);
    EXPECT_TRUE(node.stop(Deadline::after(5s)));
  });
}

// The number of calls to thirty objects on all shards that were refused for lack of stacks.
int count_refused_calls(Node& node) {
  int count = 0;
  for (int i = 0; i < 30; ++i) {
    const auto reply = CounterClient(node.router(), std::to_string(i)).add(add_request(1));
    if (reply) continue;
    EXPECT_THAT(reply, fails_with(Code::resource_exhausted));
    ++count;
  }
  return count;
}

TEST(ShardsTest, TheLastStacksOfAnotherShardAreRefusedToClientsThatHoldMuch) {
  test::run_on_real_loop([&](test::RealLoop& real) {
    NodeConfig small = config();
    small.stacks.count_max = 1'000 * thread_count;
    Node node(small, real.network, Log(LogLevel::error));
    node.host<Counter>();
    ASSERT_TRUE(node.start());
    std::array<std::unique_ptr<coroutine::TaskGroup>, thread_count> loads;
    EXPECT_TRUE(node.on_each_shard([&](Shard& shard) -> Result<void> {
      if (shard.index() == 0) return {};
      auto& load = loads[shard.index()];
      load = std::make_unique<coroutine::TaskGroup>();
      // Ten more than scarcity takes, since this task returns its own stack.
      for (int more = 0; more < 10; more += shard.scheduler().stacks().is_scarce() ? 1 : 0) {
        auto spawned = load->spawn("load", [] { static_cast<void>(coroutine::sleep_for(1h)); });
        if (!spawned) return spawned.error();
      }
      return {};
    }));
    EXPECT_EQ(count_refused_calls(node), 0);
    rpc::CallScope::enter({.may_take_last_stacks = false});
    const int refused_count = count_refused_calls(node);
    EXPECT_GT(refused_count, 0);
    EXPECT_LT(refused_count, 30);  // Objects of the own shard are served.
    rpc::CallScope::enter({});
    EXPECT_TRUE(node.on_each_shard([&](Shard& shard) -> Result<void> {
      if (auto& load = loads[shard.index()]; load != nullptr) load->cancel_and_join();
      loads[shard.index()].reset();
      return {};
    }));
    EXPECT_EQ(count_refused_calls(node), 0);
    EXPECT_TRUE(node.stop(Deadline::after(5s)));
  });
}

TEST(ShardsTest, AllShardsCallOneObjectAtTheSameTime) {
  with_counters([](Node& node, net::Network&) {
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

TEST(ShardsTest, NestedCallsCarryThePrincipalOverThreads) {
  with_counters([](Node& node, net::Network&) {
    const rpc::Principal player{.id = "player-17"};
    for (int i = 0; i < 20; ++i) {
      test::AddAlongRequest request;
      request.add_ids(std::to_string(i + 100));
      request.add_ids("who");
      const auto told = CounterClient(node.router(), std::to_string(i))
                            .add_along(request, {.principal = &player});
      EXPECT_EQ(told.error().message(), "you are player-17");
    }
  });
}

TEST(ShardsTest, ACycleOverThreadsIsRefusedAndNamed) {
  with_counters([](Node& node, net::Network&) {
    test::AddAlongRequest request;
    for (int i = 1; i < 20; ++i) request.add_ids(std::to_string(i));
    request.add_ids("0");
    const auto refused = CounterClient(node.router(), "0").add_along(request);
    ASSERT_THAT(refused, fails_with(Code::failed_precondition));
    EXPECT_THAT(refused.error().message(), HasSubstr("Counter/AddAlong(\"19\") -> "
                                                     "corolane.test.Counter/AddAlong(\"0\")"));
  });
}

TEST(ShardsTest, ACallerThatGivesUpReturnsAtOnceFromAnyThread) {
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
      // The callee was cancelled, so other calls get their turn.
      EXPECT_TRUE(puppet.look({}));
      // On a busy machine the deadline may pass before the object has a turn.
      EXPECT_TRUE(late.error().maybe_executed() || !has_begun);
      has_begun = false;
    }
  });
}

TEST(ShardsTest, AnExceptionOfAnObjectIsAnErrorOfItsCallerOnAnyThread) {
  const test::Puppet::Strings strings{
      .run = [](test::Puppet&) -> Result<void> { throw std::runtime_error("as the test wants"); }};
  with_puppets(strings, [](Node& node) {
    for (int i = 0; i < 10; ++i) {
      test::PuppetClient puppet(node.router(), std::to_string(i));
      const auto threw = puppet.run({});
      ASSERT_THAT(threw, fails_with(Code::internal));
      EXPECT_EQ(
          threw.error().message(),
          "corolane.test.Puppet/Run threw an exception: as the test wants (std::runtime_error)");
      EXPECT_TRUE(threw.error().maybe_executed());
      EXPECT_TRUE(puppet.look({}));
    }
  });
}

TEST(ShardsTest, ClientsAreSpreadAndReachObjectsOfAllThreads) {
  with_counters([](Node& node, net::Network& network) {
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
    std::vector<std::uint64_t> accepted(thread_count);
    EXPECT_TRUE(node.on_each_shard([&](Shard& shard) -> Result<void> {
      accepted[shard.index()] = shard.rpc_server().statistics().accepted_count;
      return {};
    }));
    // The odds that one of three shards gets none of thirty clients are one in two hundred
    // thousand.
    for (const std::uint64_t count : accepted) EXPECT_GT(count, 0U);
  });
}

TEST(ShardsTest, AClientsRequestTakesEffectOnceOnAnyThread) {
  with_counters([](Node& node, net::Network& network) {
    const auto methods = test::CounterObject::object_type().methods;
    const auto add = [&](rpc::Client& client, const std::string& id) {
      const rpc::ObjectTarget target{.id = id, .request_id = {.caller = "ada", .sequence = 1}};
      test::CounterReply reply;
      const auto called = client.call(methods[0], add_request(1), reply, {.object = &target});
      EXPECT_TRUE(called) << called;
      return reply.value();
    };
    const auto ada = test::connect(network, node);
    const auto mallory = test::connect(network, node);
    for (int i = 0; i < 30; ++i) {
      const std::string id = std::to_string(i);
      EXPECT_EQ(add(*ada, id), 1);
      EXPECT_EQ(add(*mallory, id), 2) << "whose request it is goes with the call";
      EXPECT_EQ(add(*ada, id), 1);
    }
  });
}

TEST(ShardsTest, AChainThatIsTooLongIsRefusedOverAllThreads) {
  with_counters([](Node& node, net::Network&) {
    test::AddAlongRequest request;
    for (int i = 1; i < 300; ++i) request.add_ids(std::to_string(i));
    const auto refused = CounterClient(node.router(), "0").add_along(request);
    ASSERT_THAT(refused, fails_with(Code::failed_precondition));
    EXPECT_THAT(refused.error().message(), HasSubstr("more than 256 calls"));
  });
}

// Runs `body` with a node of `shards` that are all apart from its own loop.
template <typename F>
void with_control_loop(std::uint32_t shards, F&& body) {
  test::run_on_real_loop([&](test::RealLoop& real) {
    NodeConfig its_config = config();
    its_config.shards = shards;
    Node node(its_config, real.network, Log(LogLevel::error),
              Node::Parts{.has_control_loop = true});
    body(node, real.network);
    EXPECT_TRUE(node.stop(Deadline::after(5s)));
  });
}

TEST(ShardsTest, WithAControlLoopNoShardSharesTheThreadOfTheNode) {
  with_control_loop(2, [](Node& node, net::Network&) {
    node.host<Counter>();
    ASSERT_TRUE(node.start());
    std::array<std::thread::id, 2> threads;
    EXPECT_TRUE(node.on_each_shard([&](Shard& shard) -> Result<void> {
      threads[shard.index()] = std::this_thread::get_id();
      for (int i = 0; i < 100; ++i) {
        auto added = CounterClient(shard.router(), std::to_string(i)).add(add_request(1));
        if (!added) return added.error();
      }
      return {};
    }));
    EXPECT_NE(threads[0], threads[1]);
    EXPECT_NE(threads[0], std::this_thread::get_id());
    EXPECT_NE(threads[1], std::this_thread::get_id());
    EXPECT_GT(node.cluster()->statistics().owned_count, 0U);
  });
}

TEST(ShardsTest, AServiceOfOneShardMovesToItsThread) {
  with_control_loop(1, [](Node& node, net::Network& network) {
    node.serve(test::SlowService());
    ASSERT_TRUE(node.start());
    const auto client = test::connect(network, node);
    EXPECT_TRUE(test::SlowClient(*client).wait(test::wait_request(1ms)));
  });
}

TEST(ShardsTest, WithAControlLoopAPortInUseIsAnErrorOfTheStart) {
  with_control_loop(2, [](Node& node, net::Network& network) {
    ASSERT_TRUE(node.start());
    NodeConfig second_config = config();
    second_config.clients.listen = to_string(node.endpoints().clients);
    Node second(second_config, network, Log(LogLevel::error),
                Node::Parts{.has_control_loop = true});
    EXPECT_THAT(second.start(), fails_with(Code::already_exists));
  });
}

TEST(ShardsTest, ANodeWhoseThreadsCannotStartFails) {
  test::run_on_real_loop([](test::RealLoop& real) {
    NodeConfig without_stacks = config();
    without_stacks.stacks.count_max = 2;
    Node node(without_stacks, real.network, Log(LogLevel::error));
    EXPECT_THAT(node.start(), fails_with(Code::resource_exhausted));
  });
}

TEST(ShardsTest, UnstoredChangesAreStoredAtTheEnd) {
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

TEST(ShardsTest, APortInUseIsNotSharedSilently) {
  with_counters([](Node& node, net::Network& network) {
    NodeConfig same = config();
    same.clients.listen = to_string(node.endpoints().clients);
    Node other(same, network, Log(LogLevel::error));
    other.host<Counter>();
    EXPECT_THAT(other.start(), fails_with(Code::already_exists));
  });
}

}  // namespace
}  // namespace corolane::framework
