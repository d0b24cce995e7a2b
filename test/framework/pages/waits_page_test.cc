// SPDX-License-Identifier: MIT
// The waits among the objects of two nodes, as the page of either node shows them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "coroutine/task.h"
#include "coroutine/task_group.h"
#include "framework/directory/local_directory.h"
#include "framework/node/node.h"
#include "framework/node/node_parts.h"
#include "framework/objects/detail/object_host.h"
#include "framework/store/memory_store.h"
#include "net/testing/network.h"
#include "test/framework/counter.h"
#include "test/framework/directory/faulty_directory.h"
#include "test/framework/pages/pages.h"
#include "test/framework/test_node.h"

namespace corolane::framework {
namespace {

using namespace std::chrono_literals;
using test::Counter;
using test::CounterClient;
using testing::ContainsRegex;
using testing::HasSubstr;
using Json = nlohmann::json;

class WaitsPageTest : public testing::Test {
 protected:
  std::unique_ptr<test::PagedNode> make(
      const std::string& name, std::shared_ptr<test::FaultyDirectory> directory = nullptr) {
    if (directory == nullptr) directory = std::make_shared<test::FaultyDirectory>(table_);
    auto node = std::make_unique<test::PagedNode>(
        test::node_config(name), network_, Log(LogLevel::error, [](std::string_view) {}),
        Node::Parts{.store = store_, .directory = std::move(directory), .clock = now});
    node->host<Counter>();
    const auto started = node->start();
    EXPECT_TRUE(started) << started;
    return node;
  }

  // The id of a counter that is active on that node.
  std::string id_on(Node& node, const std::string& prefix = "") {
    for (int i = 0; i < 1'000; ++i) {
      const std::string id = prefix + node.config().name + std::to_string(i);
      EXPECT_TRUE(CounterClient(node.router(), id).add(test::add_request(0)));
      const auto* const type = node.shard().host()->find_type("corolane.test.Counter");
      if (type->find(id) != nullptr) return id;
    }
    ADD_FAILURE() << "every counter is active elsewhere";
    return {};
  }

  net::HttpResponse page(const Node& node, const std::string& target) {
    return test::fetch(network_, node.endpoints().admin, target);
  }
  Json json_page(const Node& node, const std::string& target) {
    return test::json_page(network_, node.endpoints().admin, target);
  }

  sim::SimulatedNetwork network_;
  LocalDirectory table_{1'000};
  std::shared_ptr<MemoryStore> store_ = std::make_shared<MemoryStore>();
};

TEST_F(WaitsPageTest, WithoutWaitingCallsThePageIsEmpty) {
  const auto node = make("a");
  EXPECT_THAT(page(*node, "/waits").body, HasSubstr("0 calls of objects wait; 0 cycles\n"));
}

TEST_F(WaitsPageTest, ACallIsShownWithItsCallerAndItsAge) {
  const auto node = make("a");
  test::WaitUntilRequest request;
  request.set_value(1);
  coroutine::TaskGroup calls;
  ASSERT_TRUE(calls.spawn(
      "first", [&] { static_cast<void>(CounterClient(node->router(), "x").await(request)); }));
  ASSERT_TRUE(coroutine::sleep_for(1s));
  const auto text = page(*node, "/waits").body;
  EXPECT_THAT(text, ContainsRegex("outside +corolane.test.Counter\\(\"x\"\\) "
                                  "+corolane.test.Counter/Await +runs +1\\.0"));
  calls.cancel_and_join();
}

TEST_F(WaitsPageTest, ACallThatWaitsForATurnIsShownWithItsHolder) {
  const auto node = make("a");
  coroutine::TaskGroup calls;
  ASSERT_TRUE(calls.spawn("holder", [&] {
    static_cast<void>(CounterClient(node->router(), "held").add(test::add_request(1, 1h)));
  }));
  ASSERT_TRUE(coroutine::sleep_for(2s));
  ASSERT_TRUE(calls.spawn("waiting", [&] {
    test::AddAlongRequest request;
    request.add_ids("held");
    static_cast<void>(CounterClient(node->router(), "waiting").add_along(request));
  }));
  ASSERT_TRUE(coroutine::sleep_for(1s));

  const Json page = json_page(*node, "/waits?format=json");
  ASSERT_EQ(page["count"], 3);
  const Json& holder = page["waits"][0];
  EXPECT_EQ(holder["waiting"], nullptr);
  EXPECT_EQ(holder["for"], "corolane.test.Counter(\"held\")");
  EXPECT_EQ(holder["method"], "corolane.test.Counter/Add");
  EXPECT_EQ(holder["stage"], "runs");
  EXPECT_NEAR(holder["seconds"].get<double>(), 3.0, 0.1);
  const auto task = holder["task_there"].get<std::string>();
  EXPECT_EQ(json_page(*node, "/tasks/" + task + "?format=json")["waiting_for"], "sleep");

  const Json* waiting = nullptr;
  for (const Json& wait : page["waits"]) {
    if (wait["stage"] == "waits for its turn") waiting = &wait;
  }
  ASSERT_NE(waiting, nullptr) << page.dump(2);
  EXPECT_EQ((*waiting)["waiting"], "corolane.test.Counter(\"waiting\")");
  EXPECT_EQ((*waiting)["for"], "corolane.test.Counter(\"held\")");
  EXPECT_EQ((*waiting)["method"], "corolane.test.Counter/AddAlong");
  EXPECT_NEAR((*waiting)["seconds"].get<double>(), 1.0, 0.1);
  calls.cancel_and_join();
}

// Each of two objects is in a call that calls the other object.
// Two chains that wait for each other would be told at once.
TEST_F(WaitsPageTest, ACycleOfThreeChainsOverTwoNodesIsFoundAndDrawn) {
  const auto a = make("a");
  const auto b = make("b");
  ASSERT_TRUE(coroutine::sleep_for(5s));
  const std::string of_a = id_on(*a);
  const std::string of_b = id_on(*b);
  const std::string second_of_a = id_on(*a, "second-");
  network_.set_latency(20ms);
  coroutine::TaskGroup calls;
  const auto begin = [&](Node& node, const std::string& first, const std::string& next) {
    ASSERT_TRUE(calls.spawn("caller", [&node, first, next] {
      test::AddAlongRequest request;
      request.add_ids(next);
      const auto reply = CounterClient(node.router(), first).add_along(request);
      EXPECT_EQ(reply.error().code(), Code::deadline_exceeded) << reply.error();
    }));
  };
  begin(*a, of_a, of_b);
  begin(*b, of_b, second_of_a);
  begin(*a, second_of_a, of_a);
  ASSERT_TRUE(coroutine::sleep_for(1s));

  const std::string cycle = "cycle: corolane.test.Counter(\"" + of_a +
                            "\") -> corolane.test.Counter(\"" + of_b +
                            "\") -> corolane.test.Counter(\"" + second_of_a +
                            "\") -> corolane.test.Counter(\"" + of_a + "\")\n";
  EXPECT_THAT(page(*a, "/waits").body, HasSubstr(cycle));
  EXPECT_THAT(page(*b, "/waits").body, HasSubstr(cycle));
  const Json json = json_page(*a, "/waits?format=json");
  EXPECT_EQ(json["cycles"].size(), 1u);
  EXPECT_EQ(json["count"], 6);
  EXPECT_EQ(json["nodes_without_answer"].size(), 0u);
  const auto svg = page(*b, "/waits?format=svg");
  EXPECT_EQ(svg.content_type, "image/svg+xml");
  EXPECT_THAT(svg.body, HasSubstr("<path class=\"arrow cycle\""));
  EXPECT_TRUE(calls.join(Deadline::never()));
  EXPECT_THAT(page(*a, "/waits").body, HasSubstr("0 calls of objects wait; 0 cycles\n"));
}

TEST_F(WaitsPageTest, ANodeThatDoesNotAnswerIsReported) {
  const auto deaf = std::make_shared<test::FaultyDirectory>(table_);
  const auto a = make("a", deaf);
  auto b = make("b");
  ASSERT_TRUE(coroutine::sleep_for(5s));
  deaf->is_deaf = true;
  b.reset();
  EXPECT_THAT(page(*a, "/waits").body, HasSubstr("no answer from node b, shard 0: "));
}

}  // namespace
}  // namespace corolane::framework
