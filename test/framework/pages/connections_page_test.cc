// SPDX-License-Identifier: MIT
// The page of a node's connections: its peers, and the traffic of each connection.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "coroutine/task.h"
#include "coroutine/task_group.h"
#include "framework/directory/local_directory.h"
#include "framework/node/node.h"
#include "framework/node/node_parts.h"
#include "framework/store/memory_store.h"
#include "net/testing/network.h"
#include "test/framework/counter.h"
#include "test/framework/directory/faulty_directory.h"
#include "test/framework/pages/pages.h"
#include "test/framework/slow_service.h"
#include "test/framework/test_node.h"

namespace corolane::framework::detail {
namespace {

using namespace std::chrono_literals;
using testing::ContainsRegex;
using testing::HasSubstr;
using Json = nlohmann::json;

class ConnectionsPageTest : public testing::Test {
 protected:
  net::HttpResponse page(const Node& node, const std::string& target) {
    return test::fetch(network_, node.endpoints().admin, target);
  }
  Json json(const Node& node, const std::string& query = "") {
    return test::json_page(network_, node.endpoints().admin, "/connections?format=json" + query);
  }
  static std::vector<Json> of_side(const Json& page, const std::string& side) {
    std::vector<Json> found;
    for (const Json& row : page["connections"]) {
      if (row["side"] == side) found.push_back(row);
    }
    return found;
  }

  sim::SimulatedNetwork network_;
};

TEST_F(ConnectionsPageTest, AClientIsShownWithItsCallsAndBytes) {
  test::PagedNode node(test::node_config("hub"), network_);
  node.serve(test::SlowService());
  ASSERT_TRUE(node.start());
  const auto client = test::connect(network_, node);
  ASSERT_TRUE(test::SlowClient(*client).wait(test::wait_request(1ms)));
  auto call = coroutine::spawn("call", [&] {
    return test::SlowClient(*client).wait(test::wait_request(9s),
                                          {.deadline = Deadline::after(1min)});
  });
  ASSERT_TRUE(coroutine::sleep_for(3s));
  const Json shown = json(node);
  EXPECT_EQ(shown["count"], shown["connections"].size());
  const auto clients = of_side(shown, "client");
  ASSERT_EQ(clients.size(), 1u);
  EXPECT_EQ(clients[0]["local"], to_string(node.endpoints().clients));
  EXPECT_EQ(clients[0]["running"], 1);
  EXPECT_EQ(clients[0]["answered"], 1);
  EXPECT_EQ(clients[0]["is_open"], true);
  EXPECT_EQ(clients[0]["tls"], false);
  EXPECT_EQ(clients[0]["unsent_bytes"], 0);
  EXPECT_EQ(clients[0]["is_above_mark"], false);
  EXPECT_EQ(clients[0]["is_held_back"], false);
  EXPECT_GT(clients[0]["received_bytes"], 64);
  EXPECT_GT(clients[0]["written_bytes"], 32);
  EXPECT_NEAR(clients[0]["age_seconds"].get<double>(), 3.0, 0.1);
  EXPECT_NEAR(clients[0]["silent_seconds"].get<double>(), 3.0, 0.1);
  // The client that fetches the page is connected, too.
  EXPECT_EQ(of_side(shown, "admin").size(), 1u);
  EXPECT_THAT(page(node, "/connections").body,
              ContainsRegex("^SIDE +PEER +LOCAL .*\n(.*\n)?client +client:[0-9]+ +127.0.0.1:[0-9]+ "
                            "+- +no +0 +3\\.0[0-9]+s +3\\.0[0-9]+s +1 +1 +[0-9]+ +[0-9]+ +0\n"));
  EXPECT_TRUE(call.join(Deadline::never()));
}

TEST_F(ConnectionsPageTest, ThePeerIsAFilter) {
  test::PagedNode node(test::node_config("hub"), network_);
  node.serve(test::SlowService());
  ASSERT_TRUE(node.start());
  const auto one = test::connect(network_, node);
  const auto other = test::connect(network_, node);
  const auto clients = of_side(json(node), "client");
  ASSERT_EQ(clients.size(), 2u);
  const Json found = json(node, "&peer=" + clients[1]["peer"].get<std::string>());
  EXPECT_EQ(found["count"], 1);
  EXPECT_EQ(found["connections"][0]["peer"], clients[1]["peer"]);
  EXPECT_EQ(json(node, "&peer=nobody")["count"], 0);
  EXPECT_EQ(page(node, "/connections?peer=100%").status, 400U);
  EXPECT_EQ(page(node, "/connections?format=xml").status, 400U);
}

TEST_F(ConnectionsPageTest, TheThousandWithTheMostUnsentBytesAreShown) {
  NodeConfig config = test::node_config("hub");
  config.clients.connections_max = 4'000;  // One address may have half of them.
  test::PagedNode node(config, network_);
  node.serve(test::SlowService());
  ASSERT_TRUE(node.start());
  std::vector<std::unique_ptr<rpc::Client>> clients;
  for (int i = 0; i < 1'100; ++i) clients.push_back(test::connect(network_, node));
  const Json shown = json(node);
  EXPECT_EQ(shown["count"], 1'101);
  EXPECT_EQ(shown["connections"].size(), 1'000u);
  EXPECT_THAT(page(node, "/connections").body,
              HasSubstr("\n1101 connections, the 1000 with the most unsent shown\n"));
}

TEST_F(ConnectionsPageTest, OtherNodesAreDistinguishedFromClients) {
  LocalDirectory table(1'000);
  const auto store = std::make_shared<MemoryStore>();
  const auto make = [&](const std::string& name) {
    auto node = std::make_unique<test::PagedNode>(
        test::node_config(name), network_, Log(LogLevel::error, [](std::string_view) {}),
        Node::Parts{.store = store,
                    .directory = std::make_shared<test::FaultyDirectory>(table),
                    .clock = now});
    node->host<test::Counter>();
    const auto started = node->start();
    EXPECT_TRUE(started) << started;
    return node;
  };
  const auto a = make("a");
  const auto b = make("b");
  ASSERT_TRUE(coroutine::sleep_for(5s));
  for (int i = 0; i < 16; ++i) {
    ASSERT_TRUE(test::CounterClient(a->router(), std::to_string(i)).get({}));
  }
  const auto outgoing = of_side(json(*a), "to node");
  ASSERT_EQ(outgoing.size(), 1u);
  EXPECT_EQ(outgoing[0]["identity"], "b");
  EXPECT_GT(outgoing[0]["answered"], 0);
  const auto incoming = of_side(json(*b), "node");
  ASSERT_EQ(incoming.size(), 1u);
  EXPECT_EQ(incoming[0]["answered"], outgoing[0]["answered"]);
  EXPECT_EQ(incoming[0]["received_bytes"], outgoing[0]["written_bytes"]);
}

}  // namespace
}  // namespace corolane::framework::detail
