// SPDX-License-Identifier: MIT
// Subscriptions over several threads of a node, on the real loop.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <list>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "coroutine/task.h"
#include "coroutine/task_group.h"
#include "coroutine/testing/matchers.h"
#include "framework/node/node.h"
#include "framework/objects/detail/object_host.h"
#include "rpc/call_scope.h"
#include "test/fixtures/real_loop.h"
#include "test/framework/room.h"
#include "test/framework/room_mirror.h"
#include "test/framework/telemetry/fake_collector.h"
#include "test/framework/test_node.h"

namespace corolane::framework {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using test::RoomClient;
using test::RoomMirror;
using test::say_request;
using test::SayRequest;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::size_t shard_count = 3;

// Runs `body` with a node of three shards that has rooms and listeners.
template <typename F>
void with_rooms(F&& body) {
  test::run_on_real_loop([&](test::RealLoop& real) {
    NodeConfig config = test::node_config("several");
    config.shards = shard_count;
    Node node(config, real.network, Log(LogLevel::error));
    node.host<test::Room>();
    node.host<test::Listener>();
    node.serve([](Shard& shard) { return std::make_unique<test::WatchService>(shard.router()); });
    const auto started = node.start();
    ASSERT_TRUE(started) << started;
    body(node, real.network);
    const auto stopped = node.stop(Deadline::after(5s));
    EXPECT_TRUE(stopped) << stopped;
  });
}

TEST(ShardSubscriptionsTest, RoomsOfAllShardsAreHeardOnEach) {
  with_rooms([](Node& node, net::Network&) {
    // Each shard says something in each room, and hears all of it.
    constexpr std::uint64_t times = 50;
    constexpr int room_count = 30;
    const auto talked = node.on_each_shard([](Shard& shard) -> Result<void> {
      std::list<RoomMirror> mirrors;
      for (int i = 0; i < room_count; ++i) {
        auto& mirror = mirrors.emplace_back(shard.router(), std::to_string(i));
        if (auto begun = mirror.follow(test::soon()); !begun) return begun;
      }
      coroutine::TaskGroup group;
      for (int i = 0; i < room_count; ++i) {
        auto spawned = group.spawn("talk", [&shard, i]() -> Result<void> {
          for (std::uint64_t j = 0; j < times; ++j) {
            auto said = RoomClient(shard.router(), std::to_string(i)).say(say_request("hello"));
            if (!said) return said.error();
          }
          return {};
        });
        if (!spawned) return spawned.error();
      }
      for (RoomMirror& mirror : mirrors) {
        while (mirror.said_count < shard_count * times) {
          if (auto followed = mirror.follow(test::soon()); !followed) return followed;
        }
        if (!mirror.failures.empty()) return Error(Code::internal, mirror.failures[0]);
        if (mirror.behind_count > 0) return Error(Code::internal, "behind");
      }
      return group.join(test::soon());
    });
    EXPECT_TRUE(talked) << talked;
  });
}

TEST(ShardSubscriptionsTest, SubscribersMayComeAndGoDuringPublication) {
  with_rooms([](Node& node, net::Network&) {
    const auto talked = node.on_each_shard([](Shard& shard) -> Result<void> {
      for (int i = 0; i < 300; ++i) {
        const std::string id = std::to_string(i % 7);
        RoomMirror mirror(shard.router(), id);
        // Some end before they have read anything.
        if (i % 3 == 0) continue;
        if (auto begun = mirror.follow(test::soon()); !begun) return begun;
        for (int j = 0; j < 5; ++j) {
          if (auto said = RoomClient(shard.router(), id).say(say_request("hello")); !said) {
            return said.error();
          }
        }
        for (int j = 0; j < 5; ++j) {
          if (auto followed = mirror.follow(test::soon()); !followed) return followed;
        }
        if (!mirror.failures.empty()) return Error(Code::internal, mirror.failures[0]);
      }
      return {};
    });
    EXPECT_TRUE(talked) << talked;
  });
}

TEST(ShardSubscriptionsTest, ABusyShardGetsAGapForMissedPublications) {
  with_rooms([](Node& node, net::Network&) {
    // A room on another shard than the first.
    std::string id;
    for (int i = 0; id.empty(); ++i) {
      ASSERT_TRUE(RoomClient(node.router(), std::to_string(i)).look({}));
      const auto* const type = node.shard().host()->find_type("corolane.test.Room");
      if (type->find(std::to_string(i)) == nullptr) id = std::to_string(i);
    }
    RoomMirror mirror(node.router(), id);
    ASSERT_TRUE(mirror.follow(test::soon()));
    SayRequest request = say_request(std::string(1'000, 'x'));
    request.set_times(10'000);
    ASSERT_TRUE(RoomClient(node.router(), id).say(request));
    while (mirror.said_count < 10'000) ASSERT_TRUE(mirror.follow(test::soon()));
    EXPECT_GT(mirror.behind_count, 0U);
    EXPECT_LT(mirror.event_count, 5'000U);
    EXPECT_THAT(mirror.failures, IsEmpty());
  });
}

TEST(ShardSubscriptionsTest, ATraceHasThePublicationAndTheShardsThatHearIt) {
  test::run_on_real_loop([&](test::RealLoop& real) {
    test::FakeCollector collector(real.network, {"127.0.0.1", 0});
    NodeConfig config = test::node_config("traced");
    config.shards = 2;
    config.otlp.endpoint = "127.0.0.1:" + std::to_string(collector.endpoint().port);
    config.tracing.sample_ratio = 0;
    Node node(config, real.network, Log(LogLevel::error));
    node.host<test::Room>();
    node.serve([](Shard& shard) { return std::make_unique<test::WatchService>(shard.router()); });
    ASSERT_TRUE(node.start());
    std::atomic<std::size_t> following_count = 0;
    const auto heard = node.on_each_shard([&](Shard& shard) -> Result<void> {
      RoomMirror mirror(shard.router(), "1");
      if (auto begun = mirror.follow(test::soon()); !begun) return begun;
      ++following_count;
      if (shard.index() == 0) {
        while (following_count < config.shards) {
          if (auto slept = coroutine::sleep_for(1ms); !slept) return slept;
        }
        rpc::CallScope::enter(
            {.trace = {.trace_id = {std::byte{7}}, .span_id = 9, .is_sampled = true}});
        auto said = RoomClient(shard.router(), "1").say(say_request("hello"));
        if (!said) return said.error();
      }
      return mirror.follow(test::soon());
    });
    EXPECT_TRUE(heard) << heard;
    EXPECT_TRUE(node.stop(Deadline::after(5s)));
    std::vector<json> published;
    std::vector<json> received;
    for (const std::string& text : collector.spans()) {
      const json span = json::parse(text);
      EXPECT_EQ(span["traceId"], "07000000000000000000000000000000");
      if (span["name"] == "publish corolane.test.RoomEvent") published.push_back(span["spanId"]);
      if (span["name"] == "receive corolane.test.RoomEvent") {
        received.push_back(span["parentSpanId"]);
      }
    }
    ASSERT_EQ(published.size(), 1U);
    EXPECT_THAT(received, ElementsAre(published[0], published[0]));
  });
}

TEST(ShardSubscriptionsTest, ANodeStopsDespiteItsSubscribers) {
  with_rooms([](Node& node, net::Network& network) {
    for (int i = 0; i < 10; ++i) {
      test::ListenRequest request;
      request.set_room(std::to_string(i));
      ASSERT_TRUE(test::ListenerClient(node.router(), "l" + std::to_string(i % 3)).listen(request));
    }
    const auto client = test::connect(network, node);
    std::list<rpc::Reader<test::RoomNews>> readers;
    for (int i = 0; i < 10; ++i) {
      test::WatchRequest request;
      request.set_room(std::to_string(i));
      auto& reader = readers.emplace_back(
          test::WatchClient(*client).watch(request, {.deadline = Deadline::never()}));
      test::RoomNews news;
      ASSERT_TRUE(reader.read(news));
    }
    for (int i = 0; i < 10; ++i) {
      ASSERT_TRUE(RoomClient(node.router(), std::to_string(i)).say(say_request("hello")));
    }
  });
}

}  // namespace
}  // namespace corolane::framework
