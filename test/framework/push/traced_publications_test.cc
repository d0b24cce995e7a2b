// SPDX-License-Identifier: MIT
// The spans of publications, over two nodes in one thread and virtual time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <list>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "coroutine/task.h"
#include "coroutine/testing/matchers.h"
#include "framework/directory/local_directory.h"
#include "framework/node/node.h"
#include "framework/node/node_parts.h"
#include "framework/objects/detail/object_host.h"
#include "framework/store/memory_store.h"
#include "net/testing/network.h"
#include "rpc/call_scope.h"
#include "test/framework/directory/faulty_directory.h"
#include "test/framework/room.h"
#include "test/framework/telemetry/fake_collector.h"
#include "test/framework/test_node.h"

namespace corolane::framework {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using test::FaultyDirectory;
using test::ListenerClient;
using test::RoomClient;
using test::say_request;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

constexpr const char* publish_name = "publish corolane.test.RoomEvent";
constexpr const char* receive_name = "receive corolane.test.RoomEvent";
constexpr const char* handle_name = "handle corolane.test.RoomEvent";

class TracedPublicationsTest : public testing::Test {
 protected:
  // Begins no trace; with a collector it records those of others.
  std::unique_ptr<Node> make(const std::string& name, bool has_collector = true) {
    NodeConfig config = test::node_config(name);
    if (has_collector) config.otlp.endpoint = "collector:4318";
    config.tracing.sample_ratio = 0;
    auto node = std::make_unique<Node>(
        config, network_, Log(LogLevel::error, [](std::string_view) {}),
        Node::Parts{
            .store = store_, .directory = std::make_shared<FaultyDirectory>(table_), .clock = now});
    node->host<test::Room>();
    node->host<test::Listener>();
    node->serve([](Shard& shard) { return std::make_unique<test::WatchService>(shard.router()); });
    const auto started = node->start();
    EXPECT_TRUE(started) << started;
    return node;
  }
  static std::string object_on(Node& node, std::string_view type,
                               const std::function<bool(const std::string& id)>& call) {
    for (int i = 0; i < 1'000; ++i) {
      const std::string id = std::to_string(i);
      EXPECT_TRUE(call(id));
      if (node.shard().host()->find_type(type)->find(id) != nullptr) return id;
    }
    ADD_FAILURE() << "no such object is active there";
    return "";
  }
  static std::string room_on(Node& node) {
    return object_on(node, "corolane.test.Room", [&](const std::string& id) {
      return RoomClient(node.router(), id).look({}).has_value();
    });
  }
  static std::string listener_on(Node& node) {
    return object_on(node, "corolane.test.Listener", [&](const std::string& id) {
      return ListenerClient(node.router(), id).heard({}).has_value();
    });
  }
  static void listen(Node& node, const std::string& listener, const std::string& room,
                     const std::string& echoes_to = "") {
    test::ListenRequest request;
    request.set_room(room);
    request.set_echoes_to(echoes_to);
    EXPECT_TRUE(ListenerClient(node.router(), listener).listen(request));
    EXPECT_TRUE(coroutine::sleep_for(100ms));
  }
  // Says something in a trace, and waits until all has arrived.
  static void say(Node& node, const std::string& room, bool is_sampled, bool is_durable = false) {
    auto task = coroutine::spawn("caller", [&] {
      rpc::CallScope::enter(
          {.trace = {.trace_id = {std::byte{7}}, .span_id = 9, .is_sampled = is_sampled}});
      RoomClient client(node.router(), room);
      EXPECT_TRUE(is_durable ? client.say_for_good(say_request("hello"))
                             : client.say(say_request("hello")));
    });
    EXPECT_TRUE(task.join(Deadline::never()));
    EXPECT_TRUE(coroutine::sleep_for(10s));
  }
  static std::vector<std::string> heard(Node& node, const std::string& listener) {
    const auto reply = ListenerClient(node.router(), listener).heard({});
    EXPECT_TRUE(reply) << reply;
    return {reply->texts().begin(), reply->texts().end()};
  }

  // The spans with that name; all belong to the one trace.
  std::vector<json> spans(std::string_view name) const {
    std::vector<json> found;
    for (const std::string& text : collector_.spans()) {
      json span = json::parse(text);
      EXPECT_EQ(span["traceId"], "07000000000000000000000000000000");
      if (span["name"] == name) found.push_back(std::move(span));
    }
    return found;
  }
  static json attribute(const json& span, std::string_view key) {
    for (const json& one : span["attributes"]) {
      if (one["key"] == key) return one["value"].begin().value();
    }
    return nullptr;
  }

  sim::SimulatedNetwork network_;
  test::FakeCollector collector_{network_, {"collector", 4318}};
  LocalDirectory table_{1'000};
  std::shared_ptr<MemoryStore> store_ = std::make_shared<MemoryStore>();
};

TEST_F(TracedPublicationsTest, OneTraceHasThePublicationAndAllThatHearIt) {
  auto a = make("a");
  auto b = make("b");
  ASSERT_TRUE(coroutine::sleep_for(5s));
  const std::string room = room_on(*b);
  const std::string listener = listener_on(*a);
  listen(*a, listener, room);
  std::list<Subscription<test::RoomEvent>> subscriptions;
  for (int i = 0; i < 3; ++i) {
    auto& one = subscriptions.emplace_back(RoomClient(b->router(), room).subscribe());
    ASSERT_TRUE(one.next(Deadline::after(1s)));
  }
  say(*a, room, /*is_sampled=*/true);
  EXPECT_THAT(heard(*a, listener), ElementsAre("hello"));

  const auto published = spans(publish_name);
  ASSERT_EQ(published.size(), 1u);
  const json& producer = published[0];
  EXPECT_EQ(producer["kind"], 4);
  EXPECT_EQ(producer["parentSpanId"], spans("corolane.test.Room/Say").at(0)["spanId"]);
  EXPECT_EQ(attribute(producer, "messaging.system"), "corolane");
  EXPECT_EQ(attribute(producer, "messaging.operation.type"), "send");
  EXPECT_EQ(attribute(producer, "messaging.destination.name"), "corolane.test.Room/" + room);
  EXPECT_NE(attribute(producer, "corolane.position.epoch"), nullptr);

  const auto received = spans(receive_name);
  ASSERT_EQ(received.size(), 2u) << "one for each shard";
  std::vector<std::string> arrivals;
  for (const json& span : received) {
    EXPECT_EQ(span["kind"], 5);
    EXPECT_EQ(span["parentSpanId"], producer["spanId"]);
    EXPECT_EQ(attribute(span, "messaging.destination.name"), "corolane.test.Room/" + room);
    EXPECT_EQ(attribute(span, "corolane.position.sequence"),
              attribute(producer, "corolane.position.sequence"));
    arrivals.push_back(attribute(span, "corolane.subscribers").get<std::string>() +
                       (attribute(span, "corolane.from_other_node") ? " far" : " near"));
  }
  EXPECT_THAT(arrivals, UnorderedElementsAre("1 far", "3 near"));

  const auto handled = spans(handle_name);
  ASSERT_EQ(handled.size(), 1u);
  EXPECT_EQ(handled[0]["kind"], 5);
  EXPECT_EQ(handled[0]["parentSpanId"], producer["spanId"]);
  EXPECT_EQ(attribute(handled[0], "messaging.operation.type"), "process");
  EXPECT_EQ(attribute(handled[0], "corolane.object.id"), listener);
  EXPECT_EQ(attribute(handled[0], "messaging.destination.name"), "corolane.test.Room/" + room);
}

TEST_F(TracedPublicationsTest, TheCallsOfAHandlerBelongToTheTraceAndEndWithIt) {
  auto a = make("a");
  auto b = make("b");
  ASSERT_TRUE(coroutine::sleep_for(5s));
  const std::string room = room_on(*a);
  const std::string echo = room_on(*b);
  const std::string listener = listener_on(*a);
  listen(*a, listener, room, echo);
  auto echoes = RoomClient(b->router(), echo).subscribe();
  ASSERT_TRUE(echoes.next(Deadline::after(1s)));
  say(*a, room, /*is_sampled=*/true);
  const auto published = spans(publish_name);
  const auto handled = spans(handle_name);
  const auto calls = spans("corolane.test.Room/Say");
  ASSERT_EQ(published.size(), 2u);
  ASSERT_EQ(handled.size(), 1u);
  ASSERT_EQ(calls.size(), 1u) << "that of the handler, which b serves";
  EXPECT_EQ(calls[0]["parentSpanId"], handled[0]["spanId"]);
  std::vector<json> parents;
  for (const json& span : published) parents.push_back(span["parentSpanId"]);
  EXPECT_THAT(parents, UnorderedElementsAre("0000000000000009", calls[0]["spanId"]));

  const std::size_t before = collector_.spans().size();
  say(*a, room, /*is_sampled=*/false);
  EXPECT_THAT(heard(*a, listener), ElementsAre("hello", "hello"));
  EXPECT_TRUE(echoes.next(Deadline::after(1s)));
  EXPECT_TRUE(echoes.next(Deadline::after(1s))) << "the handler has called again";
  EXPECT_EQ(collector_.spans().size(), before);
}

TEST_F(TracedPublicationsTest, APublicationThatIsHeldKeepsItsTrace) {
  auto a = make("a");
  auto b = make("b");
  ASSERT_TRUE(coroutine::sleep_for(5s));
  const std::string room = room_on(*b);
  const std::string listener = listener_on(*a);
  listen(*a, listener, room);
  say(*a, room, /*is_sampled=*/true, /*is_durable=*/true);
  ASSERT_EQ(spans(publish_name).size(), 1u);
  ASSERT_EQ(spans(handle_name).size(), 1u);
  EXPECT_EQ(spans(handle_name)[0]["parentSpanId"], spans(publish_name)[0]["spanId"]);
}

TEST_F(TracedPublicationsTest, WhatIsNotSampledOrNotFollowedHasNoSpan) {
  auto a = make("a");
  auto b = make("b");
  ASSERT_TRUE(coroutine::sleep_for(5s));
  const std::string room = room_on(*b);
  say(*a, room, /*is_sampled=*/true);
  EXPECT_THAT(spans(publish_name), IsEmpty());
  const std::size_t before = collector_.spans().size();
  listen(*a, listener_on(*a), room);
  say(*a, room, /*is_sampled=*/false);
  EXPECT_EQ(collector_.spans().size(), before);
}

TEST_F(TracedPublicationsTest, ANodeWithoutACollectorPassesTheTraceOn) {
  auto a = make("a");
  auto b = make("b", /*has_collector=*/false);
  ASSERT_TRUE(coroutine::sleep_for(5s));
  const std::string room = room_on(*b);
  listen(*a, listener_on(*a), room);
  say(*b, room, /*is_sampled=*/true);
  EXPECT_THAT(spans(publish_name), IsEmpty());
  ASSERT_EQ(spans(receive_name).size(), 1u);
  EXPECT_EQ(spans(receive_name)[0]["parentSpanId"], "0000000000000009");
  ASSERT_EQ(spans(handle_name).size(), 1u);
  EXPECT_EQ(spans(handle_name)[0]["parentSpanId"], "0000000000000009");
}

}  // namespace
}  // namespace corolane::framework
