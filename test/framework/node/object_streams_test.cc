// SPDX-License-Identifier: MIT
// Streams of objects arrive whole, wherever the object lives and whoever reads them.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "coroutine/base/check.h"
#include "coroutine/task.h"
#include "coroutine/testing/matchers.h"
#include "framework/client/cluster_client.h"
#include "framework/directory/local_directory.h"
#include "framework/node/node.h"
#include "framework/node/node_parts.h"
#include "framework/store/memory_store.h"
#include "net/testing/network.h"
#include "rpc/stream.h"
#include "test/fixtures/real_loop.h"
#include "test/framework/counter.h"
#include "test/framework/test_node.h"

namespace corolane::framework {
namespace {

using namespace std::chrono_literals;
using test::add_request;
using test::AddOftenRequest;
using test::Counter;
using test::CounterClient;
using test::CounterReply;
using test::fails_with;

constexpr int counter_count = 30;

// More than all windows on the longest way.
AddOftenRequest long_request() {
  AddOftenRequest request;
  request.set_count(200);
  request.set_amount(1);
  request.set_ballast_bytes(2'000);
  return request;
}

// Whether the values are 1, 2, 3...
void expect_whole(ObjectReader<CounterReply>& values, std::int64_t count) {
  std::int64_t last = 0;
  for (CounterReply value; values.read(value);) ASSERT_EQ(value.value(), ++last);
  EXPECT_EQ(last, count);
}

// Streams of objects in all places, through the router of one of them.
void expect_streams(Router& router, const std::string& prefix) {
  for (int i = 0; i < counter_count; ++i) {
    CounterClient counter(router, prefix + std::to_string(i));
    AddOftenRequest request = long_request();
    request.set_then_fail(i % 2 == 0);
    auto values = counter.add_often(request);
    expect_whole(values, request.count());
    const auto ended = values.finish();
    EXPECT_EQ(ended.has_value(), !request.then_fail()) << ended;
    if (!ended) {
      EXPECT_EQ(ended.error().code(), Code::failed_precondition);
    }
    EXPECT_EQ(values.reply_headers().headers.find("counter"), prefix + std::to_string(i));
  }
}

// Readers that leave early do not keep the handlers.
void expect_abandoned(Router& router, const std::string& prefix) {
  for (int i = 0; i < counter_count; ++i) {
    CounterClient counter(router, prefix + std::to_string(i));
    {
      auto values = counter.add_often(long_request());
      CounterReply value;
      ASSERT_TRUE(values.read(value)) << values.finish();
    }
    const auto added = counter.add(add_request(0));
    ASSERT_TRUE(added) << added;
    EXPECT_LT(added->value(), long_request().count()) << "it was still waiting for its reader";
  }
}

TEST(ObjectStreamsTest, ArriveFromAllShards) {
  constexpr std::size_t shard_count = 3;
  test::run_on_real_loop([&](test::RealLoop& real) {
    NodeConfig config = test::node_config("several");
    config.shards = shard_count;
    Node node(config, real.network, Log(LogLevel::error, [](std::string_view) {}));
    node.host<Counter>();
    ASSERT_TRUE(node.start());
    expect_streams(node.router(), "whole-");
    expect_abandoned(node.router(), "half-");
    std::array<std::size_t, shard_count> counts{};
    EXPECT_TRUE(node.on_each_shard([&](Shard& shard) -> Result<void> {
      counts[shard.index()] = shard.active_object_count();
      return {};
    }));
    for (const std::size_t count : counts) EXPECT_GT(count, 0U) << "objects live on each shard";
    EXPECT_TRUE(node.stop(Deadline::after(5s)));
  });
}

// Two nodes that share the counters.
class TwoNodes {
 public:
  TwoNodes() {
    for (const char* const name : {"a", "b"}) {
      nodes_.push_back(std::make_unique<Node>(
          test::node_config(name), network_, Log(LogLevel::error, [](std::string_view) {}),
          Node::Parts{.store = store_,
                      .directory = std::shared_ptr<Directory>(&table_, [](Directory*) {}),
                      .clock = now}));
      nodes_.back()->host<Counter>();
      check(nodes_.back()->start().has_value(), "the node starts");
    }
    check(coroutine::sleep_for(5s).has_value(), "they share the objects then");
  }

  Node& operator[](std::size_t i) { return *nodes_[i]; }
  net::HostPort address_of(std::size_t i) const {
    const net::Endpoint& clients = nodes_[i]->endpoints().clients;
    return {clients.address, clients.port};
  }
  net::Network& network() { return network_; }

 private:
  sim::SimulatedNetwork network_;
  LocalDirectory table_{1'000};
  const std::shared_ptr<MemoryStore> store_ = std::make_shared<MemoryStore>();
  std::vector<std::unique_ptr<Node>> nodes_;
};

TEST(ObjectStreamsTest, ArriveFromAllNodes) {
  TwoNodes nodes;
  expect_streams(nodes[0].router(), "whole-");
  expect_streams(nodes[1].router(), "others-");
  expect_abandoned(nodes[0].router(), "half-");
  for (std::size_t i = 0; i < 2; ++i) EXPECT_GT(nodes[i].shard().active_object_count(), 0U);
}

TEST(ObjectStreamsTest, ArriveOutsideOfTheClusterThroughAnyNode) {
  TwoNodes nodes;
  for (std::size_t i = 0; i < 2; ++i) {
    ClusterClient client(nodes.network(), {nodes.address_of(i)});
    expect_streams(client, "whole-" + std::to_string(i) + "-");
    expect_abandoned(client, "half-" + std::to_string(i) + "-");
  }
}

TEST(ObjectStreamsTest, AStreamThatIsRefusedDisturbsNoCallOfItsClient) {
  sim::SimulatedNetwork network;
  NodeConfig config = test::node_config("alone");
  config.objects.mailbox_max = 1;
  Node node(config, network, Log(LogLevel::error, [](std::string_view) {}),
            {.store = std::make_shared<MemoryStore>(), .clock = now});
  node.host<Counter>();
  ASSERT_TRUE(node.start());
  const net::Endpoint& clients = node.endpoints().clients;
  ClusterClient client(network, {{clients.address, clients.port}});
  CounterClient counter(client, "a");
  auto call = coroutine::spawn("call", [&] { return counter.add(add_request(1, 300ms)); });
  ASSERT_TRUE(coroutine::sleep_for(100ms));

  auto values = counter.add_often(long_request());

  CounterReply value;
  ASSERT_TRUE(values.read(value)) << values.finish();
  EXPECT_EQ(value.value(), 2) << "it was tried again after the call";
  const auto added = call.join(Deadline::never());
  ASSERT_TRUE(added) << added;
  EXPECT_EQ(added->value(), 1);
}

TEST(ObjectStreamsTest, AClientThatNamesTheObjectReadsItsStreamFromAnyNode) {
  TwoNodes nodes;
  auto client = rpc::Client::connect(nodes.network(), nodes.address_of(0), Deadline::after(5s));
  ASSERT_TRUE(client) << client;
  const auto methods = Counter::object_type().methods;
  const auto add_often = std::ranges::find(methods, std::string("corolane.test.Counter/AddOften"),
                                           &rpc::Method::full_name);
  for (int i = 0; i < counter_count; ++i) {
    const std::string id = std::to_string(i);
    const rpc::ObjectTarget target{.id = id};
    rpc::StreamCall values(**client, *add_often, long_request(), {.object = &target});
    std::int64_t last = 0;
    for (CounterReply value; values.read(value);) ASSERT_EQ(value.value(), ++last);
    EXPECT_EQ(last, long_request().count());
    EXPECT_TRUE(values.finish());
    EXPECT_EQ(values.reply_headers().headers.find("counter"), id);
  }
}

}  // namespace
}  // namespace corolane::framework
