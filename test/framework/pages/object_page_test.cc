// SPDX-License-Identifier: MIT
// The pages for an operator about one object, and about all active objects.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "coroutine/task.h"
#include "coroutine/task_group.h"
#include "framework/directory/local_directory.h"
#include "framework/node/node.h"
#include "framework/node/node_parts.h"
#include "framework/objects/detail/object_history.h"
#include "framework/store/memory_store.h"
#include "net/testing/network.h"
#include "test/framework/counter.h"
#include "test/framework/directory/faulty_directory.h"
#include "test/framework/pages/pages.h"
#include "test/framework/store/faulty_store.h"
#include "test/framework/test_node.h"

namespace corolane::framework::detail {
namespace {

using namespace std::chrono_literals;
using test::add_request;
using test::AddRequest;
using test::Counter;
using test::CounterClient;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::StartsWith;
using Json = nlohmann::json;

class ObjectPageTest : public testing::Test {
 protected:
  net::HttpResponse page(const Node& node, const std::string& target) {
    return test::fetch(network_, node.endpoints().admin, target);
  }
  Json json_page(const Node& node, const std::string& target) {
    return test::json_page(network_, node.endpoints().admin, target);
  }

  sim::SimulatedNetwork network_;
};

class LonelyObjectPageTest : public ObjectPageTest {
 protected:
  LonelyObjectPageTest() {
    node_.host<Counter>();
    const auto started = node_.start();
    EXPECT_TRUE(started) << started;
  }

  CounterClient counter(const std::string& id) { return CounterClient(node_.router(), id); }
  std::string text(const std::string& id) { return page(node_, "/objects/Counter/" + id).body; }
  Json json(const std::string& id) {
    return json_page(node_, "/objects/corolane.test.Counter/" + id + "?format=json");
  }

  test::PagedNode node_{test::node_config("alone"), network_};
};

TEST_F(LonelyObjectPageTest, AnObjectThatWasNeverCalledIsNotActive) {
  const Json object = json("nobody");
  EXPECT_EQ(object["type"], "corolane.test.Counter");
  EXPECT_EQ(object["id"], "nobody");
  EXPECT_EQ(object["verdict"], "not active: the next call loads it");
  EXPECT_EQ(object["owner"]["is_here"], true);
  EXPECT_EQ(object["owner"]["node"], "alone");
  EXPECT_EQ(object["is_active"], false);
  EXPECT_EQ(object["active"], nullptr);
  EXPECT_THAT(text("nobody"),
              ContainsRegex("^corolane.test.Counter \"nobody\": not active: the next call loads it"
                            "\n\nowner  this node \\(alone\\), shard 0, partition [0-9]+, epoch "));
}

TEST_F(LonelyObjectPageTest, AStuckObjectShowsItsRunningAndWaitingCalls) {
  coroutine::TaskGroup group;
  const auto add = [&](std::chrono::milliseconds pause) {
    ASSERT_TRUE(group.spawn("caller", [this, pause] {
      static_cast<void>(
          counter("stuck").add(add_request(1, pause), {.deadline = Deadline::after(10s)}));
    }));
  };
  add(8s);
  ASSERT_TRUE(coroutine::sleep_for(1s));
  add(0ms);
  ASSERT_TRUE(coroutine::sleep_for(1s));
  add(0ms);
  ASSERT_TRUE(coroutine::sleep_for(1s));

  const Json object = json("stuck");
  EXPECT_THAT(object["verdict"].get<std::string>(),
              ContainsRegex(
                  "^corolane.test.Counter/Add runs for 3.0[0-9]+s, waits for .*; "
                  "2 wait for a turn\\. It ends with the end of the sleep in [45].[0-9]+s, at the "
                  "latest at a deadline in 7.0s\\.$"));
  ASSERT_EQ(object["running"].size(), 1u);
  const Json& running = object["running"][0];
  EXPECT_EQ(running["method"], "corolane.test.Counter/Add");
  EXPECT_NEAR(running["seconds"].get<double>(), 3.0, 0.1);
  EXPECT_NEAR(running["deadline_seconds"].get<double>(), 7.0, 0.1);
  EXPECT_FALSE(running["stack"].empty());
  EXPECT_EQ(page(node_, "/tasks/" + running["task"].dump()).status, 200U);
  EXPECT_EQ(object["waiting_count"], 2);
  ASSERT_EQ(object["waiting"].size(), 2u);
  EXPECT_NEAR(object["waiting"][0]["seconds"].get<double>(), 2.0, 0.1);
  EXPECT_NEAR(object["waiting"][1]["seconds"].get<double>(), 1.0, 0.1);

  const std::string shown = text("stuck");
  EXPECT_THAT(shown, ContainsRegex("\nRUNS +TASK +SINCE +TIME LEFT +WAITS FOR +CALLER\n"
                                   "corolane.test.Counter/Add +[0-9]+ +3\\.0[0-9]+s +6\\.9"));
  EXPECT_THAT(shown, ContainsRegex("\n    at corolane::test::Counter::pause.*counter.h:"));
  EXPECT_THAT(shown, ContainsRegex("\nWAITS .*\n.*Counter/Add +[0-9]+ +2\\.0[0-9]+s .* its turn +"
                                   "this node\n.*Counter/Add +[0-9]+ +1\\.0"));
  group.cancel_and_join();
}

TEST_F(LonelyObjectPageTest, AnObjectWithManyCallsShowsTheFirstHundredThatWait) {
  coroutine::TaskGroup group;
  for (int i = 0; i < 151; ++i) {
    ASSERT_TRUE(group.spawn(
        "caller", [this] { static_cast<void>(counter("busy").add(add_request(1, 1h))); }));
  }
  ASSERT_TRUE(coroutine::sleep_for(10ms));
  const Json object = json("busy");
  EXPECT_EQ(object["waiting_count"], 150);
  EXPECT_EQ(object["waiting"].size(), 100u);
  EXPECT_THAT(text("busy"), HasSubstr("\n150 in all, the first 100 shown\n"));
  group.cancel_and_join();
}

TEST_F(LonelyObjectPageTest, CallersAreNamedAlongTheChain) {
  coroutine::TaskGroup group;
  ASSERT_TRUE(
      group.spawn("blocker", [&] { static_cast<void>(counter("last").add(add_request(1, 1h))); }));
  ASSERT_TRUE(group.spawn("chain", [&] {
    test::AddAlongRequest request;
    request.add_ids("middle");
    request.add_ids("last");
    static_cast<void>(counter("first").add_along(request));
  }));
  ASSERT_TRUE(coroutine::sleep_for(10ms));
  const Json waiting = json("last")["waiting"];
  ASSERT_EQ(waiting.size(), 1u);
  const Json chain = {R"(corolane.test.Counter/AddAlong("first"))",
                      R"(corolane.test.Counter/AddAlong("middle"))"};
  EXPECT_EQ(waiting[0]["callers"], chain);
  EXPECT_THAT(
      text("last"),
      HasSubstr("Counter/AddAlong(\"first\") > corolane.test.Counter/AddAlong(\"middle\")"));
  group.cancel_and_join();
}

TEST_F(LonelyObjectPageTest, ACallThatWaitsForAnEventHasNoTurn) {
  auto waiter = coroutine::spawn("waiter", [&] {
    test::WaitUntilRequest request;
    request.set_value(1);
    return counter("slow").await(request);
  });
  ASSERT_TRUE(coroutine::sleep_for(1s));
  const Json object = json("slow");
  ASSERT_EQ(object["running"].size(), 1u);
  EXPECT_EQ(object["running"][0]["method"], "corolane.test.Counter/Await");
  EXPECT_EQ(object["running"][0]["waiting_for"], "an event, without a turn");
  ASSERT_TRUE(counter("slow").add(add_request(1)));
  ASSERT_TRUE(waiter.join(Deadline::never()));
}

TEST_F(LonelyObjectPageTest, TheLastCallsAreShownWithTheirErrors) {
  for (int i = 0; i < 9; ++i) ASSERT_TRUE(counter("c").get({}));
  AddRequest request = add_request(1, 20ms);
  request.set_then_fail(true);
  ASSERT_FALSE(counter("c").add(request));
  ASSERT_TRUE(coroutine::sleep_for(2s));
  const Json object = json("c");
  EXPECT_THAT(object["verdict"].get<std::string>(), StartsWith("idle for "));
  ASSERT_EQ(object["last_calls"].size(), ObjectHistory::call_count_max);
  const Json& last = object["last_calls"][0];
  EXPECT_EQ(last["method"], "corolane.test.Counter/Add");
  EXPECT_EQ(last["outcome"], "failed_precondition");
  EXPECT_NEAR(last["seconds_ago"].get<double>(), 2.0, 0.1);
  EXPECT_NEAR(last["took_seconds"].get<double>(), 0.02, 0.005);
  EXPECT_EQ(object["last_calls"][1]["outcome"], "ok");
  ASSERT_EQ(object["last_errors"].size(), 1u);
  EXPECT_EQ(object["last_errors"][0]["error"], "as was asked for");
  EXPECT_NEAR(object["active"]["idle_seconds"].get<double>(), 1.5, 1.0);
  EXPECT_THAT(text("c"), ContainsRegex("\nLAST ERRORS +AGO +ERROR\ncorolane.test.Counter/Add +2\\."
                                       "0[0-9]+s +failed_precondition: as was asked for\n"));
}

TEST_F(LonelyObjectPageTest, AnUnsavedChangeIsShownUntilItIsStored) {
  ASSERT_TRUE(counter("c").add(add_request(1)));
  ASSERT_TRUE(coroutine::sleep_for(100ms));
  const Json before = json("c")["active"];
  EXPECT_NEAR(before["unsaved_seconds"].get<double>(), 0.1, 0.05);
  EXPECT_EQ(before["version"], 0);
  EXPECT_EQ(before["state_bytes"], 2);
  EXPECT_GT(before["memory_bytes"], 100);
  ASSERT_TRUE(coroutine::sleep_for(2s));
  const Json after = json("c")["active"];
  EXPECT_EQ(after["unsaved_seconds"], nullptr);
  EXPECT_EQ(after["version"], 1);
  EXPECT_EQ(after["last_save_error"], nullptr);
}

TEST_F(LonelyObjectPageTest, IdsArePercentEncoded) {
  ASSERT_TRUE(counter("J/ü 100%").add(add_request(1)));
  EXPECT_EQ(json("J%2F%C3%BC%20100%25")["is_active"], true);
  EXPECT_EQ(page(node_, "/objects/Counter/100%").status, 400U);
}

TEST_F(LonelyObjectPageTest, AnUnknownTypeGetsTheListOfKnownTypes) {
  const auto response = page(node_, "/objects/Player/7");
  EXPECT_EQ(response.status, 404U);
  EXPECT_EQ(response.body,
            "object type \"Player\" is unknown here; known types: corolane.test.Counter\n");
  EXPECT_EQ(page(node_, "/objects?type=Player").status, 404U);
  EXPECT_EQ(page(node_, "/objects/Counter/7?format=xml").status, 400U);
}

TEST_F(LonelyObjectPageTest, TheListStartsWithTheMostWaitingCalls) {
  coroutine::TaskGroup group;
  for (const auto& [id, count] : {std::pair("few", 2), {"many", 4}, {"quiet", 0}}) {
    ASSERT_TRUE(counter(id).get({}));
    for (int i = 0; i < count; ++i) {
      ASSERT_TRUE(group.spawn(
          "caller", [this, id] { static_cast<void>(counter(id).add(add_request(1, 1h))); }));
    }
  }
  ASSERT_TRUE(coroutine::sleep_for(10ms));
  const Json list = json_page(node_, "/objects?type=Counter&format=json");
  EXPECT_EQ(list["type"], "corolane.test.Counter");
  EXPECT_EQ(list["count"], 3);
  ASSERT_EQ(list["objects"].size(), 3u);
  EXPECT_EQ(list["objects"][0]["id"], "many");
  EXPECT_EQ(list["objects"][0]["waiting"], 3);
  EXPECT_EQ(list["objects"][0]["running"], "corolane.test.Counter/Add");
  EXPECT_EQ(list["objects"][1]["id"], "few");
  EXPECT_EQ(list["objects"][2]["id"], "quiet");
  EXPECT_EQ(list["objects"][2]["task"], nullptr);
  EXPECT_THAT(page(node_, "/objects?type=Counter").body,
              ContainsRegex("^ID +WAITING +RUNS +TASK +ACTIVE FOR +BYTES +CPU\n"
                            "many +3 +corolane.test.Counter/Add +[0-9]+ +0\\.0[0-9]+s +[0-9]+ "
                            "+0\\.[0-9]+s\n"));
  group.cancel_and_join();
}

TEST_F(LonelyObjectPageTest, AtMostAThousandObjectsAreShown) {
  for (int i = 0; i < 2'500; ++i) ASSERT_TRUE(counter(std::to_string(i)).get({}));
  auto busy = coroutine::spawn("busy", [&] {
    return counter("2499").add(add_request(1, 10s), {.deadline = Deadline::after(1min)});
  });
  ASSERT_TRUE(coroutine::sleep_for(10ms));
  auto waits = coroutine::spawn("waits", [&] {
    return counter("2499").add(add_request(1), {.deadline = Deadline::after(1min)});
  });
  ASSERT_TRUE(coroutine::sleep_for(10ms));
  const Json list = json_page(node_, "/objects?type=Counter&format=json");
  EXPECT_EQ(list["count"], 2'500);
  EXPECT_EQ(list["objects"].size(), 1'000u);
  EXPECT_EQ(list["objects"][0]["id"], "2499");
  EXPECT_THAT(page(node_, "/objects?type=Counter").body,
              HasSubstr("\n2500 objects, the 1000 with the most calls waiting shown\n"));
  EXPECT_TRUE(busy.join(Deadline::never()));
  EXPECT_TRUE(waits.join(Deadline::never()));
}

TEST_F(ObjectPageTest, AFailedSaveIsShownWithItsReason) {
  MemoryStore table;
  const auto store = std::make_shared<test::FaultyStore>(table);
  test::PagedNode node(test::node_config("a"), network_,
                       Log(LogLevel::error, [](std::string_view) {}), Node::Parts{.store = store});
  node.host<Counter>();
  ASSERT_TRUE(node.start());
  ASSERT_TRUE(CounterClient(node.router(), "c").get({}));
  store->cut();
  EXPECT_FALSE(CounterClient(node.router(), "c").add_for_good(add_request(1)));
  const Json object = json_page(node, "/objects/Counter/c?format=json");
  EXPECT_EQ(object["active"]["last_save_error"], "unavailable: the store is not available");
  EXPECT_THAT(object["verdict"].get<std::string>(),
              HasSubstr("; a change is withheld until it is stored, and storing it has failed"));
  EXPECT_THAT(page(node, "/objects/Counter/c").body,
              ContainsRegex("\nsave failed +[0-9.]+s ago: "
                            "unavailable: the store is not available\n"));
  store->mend();
}

TEST_F(ObjectPageTest, AnObjectOfAnotherNodeNamesItsOwner) {
  LocalDirectory table(1'000);
  const auto store = std::make_shared<MemoryStore>();
  const auto make = [&](const std::string& name) {
    auto node = std::make_unique<test::PagedNode>(
        test::node_config(name), network_, Log(LogLevel::error, [](std::string_view) {}),
        Node::Parts{.store = store,
                    .directory = std::make_shared<test::FaultyDirectory>(table),
                    .clock = now});
    node->host<Counter>();
    const auto started = node->start();
    EXPECT_TRUE(started) << started;
    return node;
  };
  const auto a = make("a");
  const auto b = make("b");
  ASSERT_TRUE(coroutine::sleep_for(5s));
  int of_b = 0;
  for (int i = 0; i < 16; ++i) {
    const std::string target = "/objects/Counter/" + std::to_string(i);
    const Json seen_by_a = json_page(*a, target + "?format=json");
    const Json seen_by_b = json_page(*b, target + "?format=json");
    EXPECT_EQ(seen_by_a["owner"]["node"], seen_by_b["owner"]["node"]);
    EXPECT_EQ(seen_by_a["owner"]["partition_epoch"], seen_by_b["owner"]["partition_epoch"]);
    EXPECT_NE(seen_by_a["owner"]["is_here"], seen_by_b["owner"]["is_here"]);
    if (seen_by_a["owner"]["is_here"] == true) continue;
    ++of_b;
    EXPECT_EQ(seen_by_a["verdict"], "not active: the next call loads it");
    EXPECT_THAT(page(*a, target).body,
                ContainsRegex("\nowner +node b, shard 0, partition [0-9]+, epoch "));
  }
  EXPECT_GT(of_b, 0);
}

}  // namespace
}  // namespace corolane::framework::detail
