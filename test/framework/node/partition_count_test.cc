// SPDX-License-Identifier: MIT
// The store decides how many partitions the objects are divided into. Nodes learn it when they
// start, and a node without objects from those that host some.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "coroutine/task.h"
#include "coroutine/testing/matchers.h"
#include "framework/cluster/cluster.h"
#include "framework/directory/local_directory.h"
#include "framework/node/node.h"
#include "framework/node/node_parts.h"
#include "framework/store/memory_store.h"
#include "net/testing/network.h"
#include "test/framework/counter.h"
#include "test/framework/test_node.h"

namespace corolane::framework {
namespace {

using namespace std::chrono_literals;
using test::Counter;
using test::CounterClient;

// One that its first user wanted to have that many partitions.
class WideStore final : public MemoryStore {
 public:
  explicit WideStore(std::size_t count) : count_(count) {}

  Result<std::size_t> partition_count(std::size_t, Deadline) override { return count_; }
  bool is_shared() const override { return true; }

 private:
  const std::size_t count_;
};

class PartitionCountTest : public testing::Test {
 protected:
  enum class Hosts : std::uint8_t { none, counters, counters_with_affinity };

  Result<Node*> start(const std::string& name, Hosts hosts, std::shared_ptr<Store> store) {
    nodes_.push_back(std::make_unique<Node>(
        test::node_config(name), network_, Log(LogLevel::error, [](std::string_view) {}),
        Node::Parts{.store = std::move(store), .directory = directory_, .clock = now}));
    Node& node = *nodes_.back();
    if (hosts == Hosts::counters) node.host<Counter>();
    if (hosts == Hosts::counters_with_affinity) node.host<Counter>({.affinity = "player"});
    if (auto started = node.start(); !started) return started.error();
    return &node;
  }

  static std::size_t active_count(Node& node) { return node.shard().active_object_count(); }

  sim::SimulatedNetwork network_;
  std::shared_ptr<LocalDirectory> directory_ = std::make_shared<LocalDirectory>(1'000);
  const std::shared_ptr<Store> store_ = std::make_shared<WideStore>(4'096);
  std::vector<std::unique_ptr<Node>> nodes_;
};

test::AddRequest one() {
  test::AddRequest request;
  request.set_amount(1);
  return request;
}

TEST_F(PartitionCountTest, NodesWithoutObjectsCallThoseOfManyPartitions) {
  const auto gateway = start("gateway", Hosts::none, store_);
  const auto a = start("a", Hosts::counters, store_);
  const auto b = start("b", Hosts::counters, store_);
  ASSERT_TRUE(gateway && a && b);
  ASSERT_TRUE(coroutine::sleep_for(5s));  // They share the objects then.
  for (int round = 1; round <= 2; ++round) {
    for (int i = 0; i < 100; ++i) {
      const auto added = CounterClient((*gateway)->router(), std::to_string(i)).add(one());
      ASSERT_TRUE(added) << added;
      EXPECT_EQ(added->value(), round);
    }
  }
  EXPECT_GT(active_count(**a), 20U);
  EXPECT_EQ(active_count(**a) + active_count(**b), 100U);
  const auto view = (*b)->cluster()->view();
  ASSERT_EQ(view->partition_count(), 4'096U);
  EXPECT_NEAR(static_cast<double>((*b)->cluster()->statistics().owned_count), 2'048, 210);
}

TEST_F(PartitionCountTest, NodesWithoutObjectsKnowTheAffinityOfTypes) {
  const auto gateway = start("gateway", Hosts::none, store_);
  const auto a = start("a", Hosts::counters_with_affinity, store_);
  ASSERT_TRUE(gateway && a);
  ASSERT_TRUE(coroutine::sleep_for(5s));
  const auto added = CounterClient((*gateway)->router(), "ann/sword").add(one());
  EXPECT_TRUE(added) << added;
  const auto view = (*gateway)->cluster()->view();
  const auto hash = view->partition_hash(Counter::object_type().name);
  EXPECT_EQ(hash("ann/sword"), hash("ann"));
}

TEST_F(PartitionCountTest, ANodeThatWouldFindObjectsElsewhereDoesNotStart) {
  ASSERT_TRUE(start("a", Hosts::counters, store_));
  EXPECT_THAT(start("b", Hosts::counters, std::make_shared<WideStore>(1'024)),
              test::fails_with(Code::failed_precondition));
  EXPECT_THAT(start("c", Hosts::counters_with_affinity, store_),
              test::fails_with(Code::failed_precondition));
  EXPECT_TRUE(start("d", Hosts::counters, store_));
}

TEST_F(PartitionCountTest, AnAffinityIsAName) {
  Node node(test::node_config("a"), network_, Log(LogLevel::error, [](std::string_view) {}));
  node.host<Counter>({.affinity = "two words"});
  EXPECT_THAT(node.start(), test::fails_with(Code::invalid_argument));
}

}  // namespace
}  // namespace corolane::framework
