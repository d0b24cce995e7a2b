// SPDX-License-Identifier: MIT
// The page of the hosted object types and the members of the cluster.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "coroutine/task.h"
#include "framework/directory/local_directory.h"
#include "framework/node/node.h"
#include "framework/node/node_parts.h"
#include "framework/store/memory_store.h"
#include "net/testing/network.h"
#include "test/framework/counter.h"
#include "test/framework/directory/faulty_directory.h"
#include "test/framework/pages/pages.h"
#include "test/framework/room.h"
#include "test/framework/test_node.h"

namespace corolane::framework::detail {
namespace {

using namespace std::chrono_literals;
using test::add_request;
using test::Counter;
using test::CounterClient;
using test::FaultyDirectory;
using testing::ContainsRegex;
using testing::EndsWith;
using Json = nlohmann::json;

class ObjectsPageTest : public testing::Test {
 protected:
  std::string text_page(const Node& node) {
    return test::fetch(network_, node.endpoints().admin, "/objects").body;
  }
  Json json_page(const Node& node) {
    return test::json_page(network_, node.endpoints().admin, "/objects?format=json");
  }

  sim::SimulatedNetwork network_;
};

TEST_F(ObjectsPageTest, ANodeWithoutObjectsSaysSo) {
  test::PagedNode node(test::node_config("plain"), network_);
  ASSERT_TRUE(node.start());
  EXPECT_EQ(text_page(node), "no objects\n\nno cluster\n");
  const Json page = json_page(node);
  EXPECT_EQ(page["types"], Json::array());
  EXPECT_EQ(page["cluster"], nullptr);
  EXPECT_EQ(test::fetch(network_, node.endpoints().admin, "/objects?format=xml").status, 400U);
}

TEST_F(ObjectsPageTest, CountsOperationsOnTheObjectsOfEachType) {
  test::PagedNode node(test::node_config("alone"), network_);
  node.host<Counter>();
  ASSERT_TRUE(node.start());
  for (const char* id : {"a", "b", "c"}) {
    ASSERT_TRUE(CounterClient(node.router(), id).add_for_good(add_request(1)));
  }
  ASSERT_TRUE(CounterClient(node.router(), "a").add(add_request(1)));

  const Json page = json_page(node);
  ASSERT_EQ(page["types"].size(), 1U);
  const Json& type = page["types"][0];
  EXPECT_EQ(type["type"], "corolane.test.Counter");
  EXPECT_EQ(type["active"], 3);
  EXPECT_GT(type["memory_bytes"], 0);
  EXPECT_EQ(type["unsaved"], 1);
  EXPECT_EQ(type["calls"], 4);
  EXPECT_EQ(type["activations"], 3);
  EXPECT_EQ(type["saves"], 3);
  for (const char* key : {"refused", "moved", "deactivations", "failed_saves"}) {
    EXPECT_EQ(type[key], 0) << key;
  }
  EXPECT_EQ(type["partitions"], 1024);
  EXPECT_THAT(text_page(node),
              ContainsRegex("^TYPE +ACTIVE +BYTES +UNSAVED +CALLS +REFUSED +MOVED +ACTIVATED "
                            "+DEACTIVATED +SAVED +SAVES FAILED +PARTITIONS\n"
                            "corolane.test.Counter +3 +[0-9]+ +1 +4 +0 +0 +3 +0 +3 +0 +1024\n"));
}

TEST_F(ObjectsPageTest, ANodeThatIsAloneOwnsEverythingAndHasNoFence) {
  test::PagedNode node(test::node_config("alone"), network_);
  node.host<Counter>();
  ASSERT_TRUE(node.start());
  const Json cluster = json_page(node)["cluster"];
  EXPECT_EQ(cluster["name"], "alone");
  EXPECT_GT(cluster["epoch"], 0);
  EXPECT_EQ(cluster["incarnation"].get<std::string>().size(), 12U);
  EXPECT_EQ(cluster["fence_seconds"], nullptr);
  ASSERT_EQ(cluster["members"].size(), 1U);
  EXPECT_EQ(cluster["members"][0]["incarnation"], cluster["incarnation"]);
  EXPECT_EQ(cluster["members"][0]["owns"],
            Json::parse(R"([{"zone": "", "role": "", "partitions": 1024}])"));
  EXPECT_EQ(cluster["nobody_owns"], Json::array());
  EXPECT_THAT(text_page(node),
              ContainsRegex("\n\nnode alone, epoch [0-9]+, incarnation [0-9a-f]+, fence never\n\n"
                            "MEMBER +EPOCH +INCARNATION +VERSION +SHARDS +WEIGHT +STATE "
                            "+PARTITIONS\n"
                            "alone +[0-9]+ +[0-9a-f]+ +[0-9.]+ +1 +100 +serving +1024\n$"));
}

class ClusterPageTest : public ObjectsPageTest {
 protected:
  struct Member {
    std::shared_ptr<FaultyDirectory> directory;
    std::unique_ptr<test::PagedNode> node;
  };

  Member make(const std::string& name, const Placement& placement = {}) {
    NodeConfig config = test::node_config(name);
    config.cluster.zone = placement.zone;
    config.clients.public_methods_only = false;
    Member member{.directory = std::make_shared<FaultyDirectory>(table_), .node = nullptr};
    member.node = std::make_unique<test::PagedNode>(
        config, network_, Log(LogLevel::error, [](std::string_view) {}),
        Node::Parts{.store = store_, .directory = member.directory, .clock = now});
    // A type has one placement.
    if (placement == Placement()) {
      member.node->host<Counter>();
    } else {
      member.node->host<test::Room>({.placement = placement});
    }
    const auto started = member.node->start();
    EXPECT_TRUE(started) << started;
    return member;
  }

  LocalDirectory table_{1'000};
  std::shared_ptr<MemoryStore> store_ = std::make_shared<MemoryStore>();
};

TEST_F(ClusterPageTest, MembersAreShownWithTheirShares) {
  auto a = make("a");
  auto b = make("b");
  ASSERT_TRUE(coroutine::sleep_for(5s));
  const Json cluster = json_page(*a.node)["cluster"];
  EXPECT_GT(cluster["fence_seconds"], 0.0);
  EXPECT_LT(cluster["fence_seconds"], 5.0);
  ASSERT_EQ(cluster["members"].size(), 2U);
  int partitions = 0;
  for (const Json& member : cluster["members"]) {
    EXPECT_EQ(member["draining"], false);
    ASSERT_EQ(member["owns"].size(), 1U);
    EXPECT_NEAR(member["owns"][0]["partitions"].get<int>(), 512, 100);
    partitions += member["owns"][0]["partitions"].get<int>();
  }
  EXPECT_EQ(partitions, 1024);
  EXPECT_THAT(text_page(*b.node), ContainsRegex("\nnode b, .*, fence in [0-4]\\.[0-9]+s\n"));
}

TEST_F(ClusterPageTest, AnOperatorMovesAPartitionAndBack) {
  auto a = make("a");
  auto b = make("b");
  ASSERT_TRUE(coroutine::sleep_for(20s));
  ASSERT_TRUE(CounterClient(a.node->router(), "x").add_for_good(add_request(7)));
  const auto move = [&](const Member& asked, std::string_view query) {
    return test::fetch(network_, asked.node->endpoints().admin, "/move?" + std::string(query),
                       "POST");
  };
  const Partition partition = partition_of("corolane.test.Counter", "x");
  const auto owner = [&] {
    return b.node->cluster()->view()->find_group("corolane.test.Counter")->owners[partition];
  };
  const std::string home = owner().member->name;
  const std::string away = home == "a" ? "b" : "a";
  // Any node may be asked.
  for (const Member* asked : {&a, &b}) {
    const auto moved = move(*asked, "object=Counter/x&to=" + away);
    EXPECT_EQ(moved.status, 200U);
    EXPECT_THAT(moved.body, ContainsRegex("^partition [0-9]+, of corolane.test.Counter/x, is on " +
                                          away + ", and stays there\n$"));
    EXPECT_EQ(owner().member->name, away);
    const auto sum = CounterClient(a.node->router(), "x").add(add_request(0));
    EXPECT_EQ(sum->value(), 7);

    EXPECT_THAT(move(*asked, "object=Counter/x").body, ContainsRegex("is on " + home + "\n$"));
    EXPECT_EQ(owner().member->name, home);
  }
  EXPECT_THAT(move(a, "object=Counter/x&to=c").body,
              testing::StartsWith("to is a node that may host the object: a, b; as in POST"));
  EXPECT_EQ(move(a, "object=Counter").status, 400U);
  EXPECT_EQ(move(a, "object=Shop/x&to=a").status, 400U);
}

TEST_F(ClusterPageTest, AMemberThatHandsItsPartitionsOverIsDraining) {
  auto a = make("a");
  auto b = make("b");
  ASSERT_TRUE(coroutine::sleep_for(5s));
  auto stop = coroutine::spawn("stop", [&] { return b.node->stop(Deadline::after(5s)); });
  bool was_draining = false;
  while (json_page(*a.node)["cluster"]["members"].size() == 2U) {
    was_draining = was_draining || json_page(*a.node)["cluster"]["members"][1]["draining"] == true;
    ASSERT_TRUE(coroutine::sleep_for(1ms));
  }
  EXPECT_TRUE(was_draining);
  EXPECT_TRUE(stop.join(Deadline::never()));
  EXPECT_EQ(json_page(*a.node)["types"][0]["partitions"], 1024);
}

TEST_F(ClusterPageTest, ANodeCutOffFromTheDirectoryOwnsNothing) {
  auto a = make("a");
  a.directory->cut();
  ASSERT_TRUE(coroutine::sleep_for(10s));
  const Json page = json_page(*a.node);
  EXPECT_EQ(page["types"][0]["partitions"], 0);
  EXPECT_EQ(page["cluster"]["fence_seconds"], 0.0);
  EXPECT_THAT(text_page(*a.node), ContainsRegex(", fence in 0\\.000s\n"));
  a.directory->mend();
}

TEST_F(ClusterPageTest, SharesAreShownByPlacement) {
  auto anywhere = make("a");
  auto east = make("b", {.zone = "east"});
  ASSERT_TRUE(coroutine::sleep_for(5s));
  EXPECT_THAT(text_page(*anywhere.node), ContainsRegex(" serving +1024\n"
                                                       "b .* serving +1024 of zone east\n$"));
  east.directory->cut();
  ASSERT_TRUE(coroutine::sleep_for(10s));
  EXPECT_THAT(text_page(*anywhere.node), EndsWith("\nowned by nobody: 1024 of zone east\n"));
  EXPECT_EQ(json_page(*anywhere.node)["cluster"]["nobody_owns"],
            Json::parse(R"([{"zone": "east", "role": "", "partitions": 1024}])"));
  east.directory->mend();
}

}  // namespace
}  // namespace corolane::framework::detail
