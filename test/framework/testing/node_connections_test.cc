// SPDX-License-Identifier: MIT
// The connections between nodes of several shards, and the calls that pass on from shard to shard.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "coroutine/task_group.h"
#include "framework/node/shard.h"
#include "framework/routing/detail/object_router.h"
#include "framework/testing/cluster.h"
#include "test/framework/counter.h"
#include "test/framework/puppet.h"
#include "test/framework/room.h"

namespace corolane::sim {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t node_count = 3;
constexpr std::uint32_t shard_count = 4;
constexpr int object_count = 40;  // Some on each shard of each node.

std::vector<std::string> numbers(int count) {
  std::vector<std::string> all;
  for (int i = 0; i < count; ++i) all.push_back(std::to_string(i));
  return all;
}

class NodeConnectionsTest : public testing::Test {
 protected:
  void host(framework::Node& node) {
    node.host<test::Counter>();
    node.host<test::Room>();
    node.host<test::Listener>();
    node.host<test::Puppet>(
        [this](framework::Shard&) { return std::make_unique<test::Puppet>(strings_); });
    node.serve([this](framework::Shard& shard) {
      shards_.insert(&shard);
      return std::make_unique<test::WatchService>(shard.router());
    });
  }
  // Runs `work` in objects of all shards, one after the other.
  void run_everywhere(std::function<Result<void>(framework::Router& router)> work) {
    strings_.run = [work = std::move(work)](test::Puppet& puppet) { return work(puppet.router()); };
    EXPECT_TRUE(cluster_.run("everywhere", [&] {
      for (int i = 0; i < object_count; ++i) {
        const auto ran = test::PuppetClient(cluster_.router("client"), std::to_string(i))
                             .run(test::RunRequest());
        ASSERT_TRUE(ran) << ran;
      }
    }));
  }

  test::Puppet::Strings strings_;
  std::set<framework::Shard*> shards_;
  SimulatedCluster cluster_{
      {.seed = 1, .nodes = node_count, .shards = shard_count, .shuffles = false},
      [this](framework::Node& node) { host(node); }};
};

TEST_F(NodeConnectionsTest, EachShardHasOneToEachOtherNode) {
  std::int64_t sum = 0;
  run_everywhere([&](framework::Router& router) -> Result<void> {
    for (int i = 0; i < object_count; ++i) {
      const auto added = test::CounterClient(router, std::to_string(i)).add(test::add_request(1));
      if (!added) return added.error();
      sum += added->value();
    }
    return {};
  });
  EXPECT_EQ(sum, object_count * object_count * (object_count + 1) / 2);
  ASSERT_EQ(shards_.size(), node_count * shard_count);
  for (const auto* const shard : shards_) {
    EXPECT_EQ(shard->object_router().node_clients().count(), node_count - 1);
  }
}

TEST_F(NodeConnectionsTest, StreamsAndOneWayCallsReachAllShards) {
  run_everywhere([&](framework::Router& router) -> Result<void> {
    for (int i = 0; i < object_count; ++i) {
      test::CounterClient counter(router, std::to_string(i));
      if (auto sent = counter.add_quietly(test::add_request(1)); !sent) return sent;
      test::AddOftenRequest request;
      request.set_count(3);
      request.set_amount(1);
      auto values = counter.add_often(request);
      int count = 0;
      for (test::CounterReply value; values.read(value);) ++count;
      if (auto ended = values.finish(); !ended) return ended;
      if (count != 3) return Error(Code::internal, "the stream is not whole");
    }
    return {};
  });
  cluster_.run_for(1s);
  EXPECT_TRUE(cluster_.run("look", [&] {
    for (int i = 0; i < object_count; ++i) {
      const auto value =
          test::CounterClient(cluster_.router("look"), std::to_string(i)).get(test::GetRequest());
      ASSERT_TRUE(value) << value;
      EXPECT_EQ(value->value(), 4 * object_count);
    }
  }));
}

TEST_F(NodeConnectionsTest, CallsToObjectsOfOtherNodesArriveInTheirOrder) {
  constexpr int call_count = 50;
  EXPECT_TRUE(cluster_.run("listen", [&] {
    for (int i = 0; i < object_count; ++i) {
      test::ListenRequest request;
      request.set_room(std::to_string(i));
      const auto listening =
          test::ListenerClient(cluster_.router("listen"), std::to_string(i)).listen(request);
      ASSERT_TRUE(listening) << listening;
    }
  }));
  strings_.run = [](test::Puppet& puppet) -> Result<void> {
    coroutine::TaskGroup calls;
    for (int i = 0; i < call_count; ++i) {
      for (int room = 0; room < object_count; ++room) {
        auto spawned = calls.spawn("say", [&puppet, i, room]() -> Result<void> {
          auto said = test::RoomClient(puppet.router(), std::to_string(room))
                          .say(test::say_request(std::to_string(i)));
          return said ? Result<void>() : said.error();
        });
        if (!spawned) return spawned.error();
      }
    }
    return calls.join(Deadline::after(5s));
  };
  EXPECT_TRUE(cluster_.run("talk", [&] {
    const auto ran = test::PuppetClient(cluster_.router("talk"), "a").run(test::RunRequest());
    ASSERT_TRUE(ran) << ran;
  }));
  cluster_.run_for(1s);
  EXPECT_TRUE(cluster_.run("hear", [&] {
    for (int i = 0; i < object_count; ++i) {
      if (cluster_.owner_of("corolane.test.Room", std::to_string(i)) ==
          cluster_.owner_of("corolane.test.Puppet", "a")) {
        continue;
      }
      const auto heard = test::ListenerClient(cluster_.router("hear"), std::to_string(i)).heard({});
      ASSERT_TRUE(heard) << heard;
      EXPECT_THAT(heard->texts(), testing::ElementsAreArray(numbers(call_count))) << "room " << i;
    }
  }));
}

}  // namespace
}  // namespace corolane::sim
