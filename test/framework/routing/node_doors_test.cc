// SPDX-License-Identifier: MIT
// At which door a node calls another one, whose shards it knows from the directory.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "coroutine/task.h"
#include "coroutine/task_group.h"
#include "framework/cluster/cluster.h"
#include "framework/directory/local_directory.h"
#include "framework/node/node.h"
#include "framework/node/node_parts.h"
#include "framework/store/memory_store.h"
#include "framework/wire/partition.h"
#include "net/testing/network.h"
#include "test/framework/counter.h"
#include "test/framework/directory/faulty_directory.h"
#include "test/framework/test_node.h"

namespace corolane::framework {
namespace {

using namespace std::chrono_literals;

// A node calls objects of "other", a node of two shards that accepts connections and answers
// nothing.
class NodeDoorsTest : public testing::Test {
 protected:
  NodeDoorsTest() {
    for (std::size_t shard = 0; shard < doors_.size(); ++shard) {
      auto door = network_.listen({.address = "127.0.0.1", .port = 0});
      EXPECT_TRUE(door);
      doors_[shard] = *std::move(door);
      EXPECT_TRUE(accepting_.spawn("accept", [this, shard] {
        while (auto stream = doors_[shard]->accept(Deadline::never())) {
          ++accepted_[shard];
          streams_.push_back(*std::move(stream));
        }
      }));
    }
  }
  ~NodeDoorsTest() override { accepting_.cancel_and_join(); }

  // `capability` is the end of the entry by which the other node describes itself.
  void call_objects_of_other(const std::string& capability) {
    LocalDirectory table(1'000);
    const auto put = [&](std::string key, std::string value) {
      const auto done = table.commit({.puts = {{.key = std::move(key), .value = std::move(value)}}},
                                     Deadline::never());
      EXPECT_TRUE(done);
      return done->revision;
    };
    const auto door = [&](std::size_t shard) { return to_string(doors_[shard]->local_endpoint()); };
    const auto epoch =
        put("nodes/other.1", R"({"shards": [")" + door(0) + R"(", ")" + door(1) +
                                 R"("], "placement_rule": 3, "hosts": [{"placement": "", )"
                                 R"("types": ["corolane.test.Counter"]}])" +
                                 capability + "}");
    for (Partition partition = 0; partition < partition_count_min; ++partition) {
      put(Cluster::owner_key({}, partition), "other.1 " + std::to_string(epoch));
    }
    Node node(test::node_config("caller"), network_, Log(LogLevel::error),
              Node::Parts{.store = std::make_shared<MemoryStore>(),
                          .directory = std::make_shared<test::FaultyDirectory>(table),
                          .clock = now});
    node.host<test::Counter>();
    ASSERT_TRUE(node.start());
    coroutine::TaskGroup calls;
    for (int i = 0; i < 20; ++i) {
      ASSERT_TRUE(calls.spawn("call", [&node, i] {
        static_cast<void>(test::CounterClient(node.router(), std::to_string(i))
                              .add(test::add_request(1), {.deadline = Deadline::after(200ms)}));
      }));
    }
    EXPECT_TRUE(calls.join(Deadline::never()));
  }

  std::array<int, 2> accepted_{};

 private:
  sim::SimulatedNetwork network_;
  std::array<std::unique_ptr<net::Listener>, 2> doors_;
  std::vector<std::unique_ptr<net::Stream>> streams_;
  coroutine::TaskGroup accepting_;
};

TEST_F(NodeDoorsTest, AShardCallsOneDoorOfANodeThatForwards) {
  call_objects_of_other(R"(, "forwards": true)");
  EXPECT_GT(accepted_[0], 0);
  EXPECT_EQ(accepted_[1], 0);
}

TEST_F(NodeDoorsTest, ANodeOfAFormerBuildIsCalledAtTheDoorsOfAllItsShards) {
  call_objects_of_other("");
  EXPECT_GT(accepted_[0], 0);
  EXPECT_GT(accepted_[1], 0);
}

}  // namespace
}  // namespace corolane::framework
