// SPDX-License-Identifier: MIT
// The balancer of a cluster of two nodes, whose objects pretend to compute.
#include "framework/node/detail/balancing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "coroutine/task.h"
#include "framework/cluster/cluster.h"
#include "framework/directory/local_directory.h"
#include "framework/node/node.h"
#include "framework/node/node_parts.h"
#include "framework/objects/detail/object_host.h"
#include "framework/store/memory_store.h"
#include "net/testing/network.h"
#include "test/framework/counter.h"
#include "test/framework/directory/faulty_directory.h"
#include "test/framework/test_node.h"

namespace corolane::framework::detail {
namespace {

using namespace std::chrono_literals;

class BalancingTest : public testing::Test {
 protected:
  struct Member {
    std::shared_ptr<test::FaultyDirectory> directory;
    std::unique_ptr<Node> node;
  };

  Member make(const std::string& name, bool balances) {
    NodeConfig config = test::node_config(name);
    config.cluster.balance = balances;
    Member member{.directory = std::make_shared<test::FaultyDirectory>(table_), .node = nullptr};
    member.node = std::make_unique<Node>(
        config, network_, Log(LogLevel::error, [](std::string_view) {}),
        Node::Parts{.store = store_, .directory = member.directory, .clock = now});
    member.node->host<test::Counter>();
    const auto started = member.node->start();
    EXPECT_TRUE(started) << started;
    return member;
  }
  static std::string owner_of(const Node& node, Partition partition) {
    const auto* const owner = node.cluster()->view()->groups()[0].owners[partition].member;
    return owner == nullptr ? "" : owner->name;
  }
  static std::vector<Partition> owned_by(const Node& node, std::size_t count) {
    std::vector<Partition> owned;
    for (Partition partition = 0; owned.size() < count; ++partition) {
      if (owner_of(node, partition) == node.config().name) owned.push_back(partition);
    }
    return owned;
  }
  // They compute on whichever node has them.
  void compute(const std::vector<Partition>& partitions, Duration each,
               std::initializer_list<Member*> members, Duration time) {
    for (Duration passed{}; passed < time; passed += 1s) {
      for (Member* const member : members) {
        const auto charge = [&](Shard& shard) -> Result<void> {
          auto* const type = shard.host()->find_type("corolane.test.Counter");
          for (const Partition partition : partitions) {
            if (owner_of(*member->node, partition) != member->node->config().name) continue;
            type->loads.charge(partition, static_cast<std::uint64_t>(each.count()));
          }
          return {};
        };
        ASSERT_TRUE(member->node->on_each_shard(charge));
      }
      ASSERT_TRUE(coroutine::sleep_for(1s));
    }
  }
  static std::size_t count_on(const Node& node, const std::vector<Partition>& partitions) {
    return static_cast<std::size_t>(std::ranges::count_if(partitions, [&](Partition partition) {
      return owner_of(node, partition) == node.config().name;
    }));
  }

  LocalDirectory table_{1'000};
  std::shared_ptr<MemoryStore> store_ = std::make_shared<MemoryStore>();
  sim::SimulatedNetwork network_;
};

TEST_F(BalancingTest, BusyPartitionsSpreadOverTheNodesAndGoBackOnceTheyAreIdle) {
  auto a = make("a", true);
  auto b = make("b", true);
  ASSERT_TRUE(coroutine::sleep_for(20s));
  const auto busy = owned_by(*b.node, 4);
  compute(busy, 240ms, {&a, &b}, 3min);
  EXPECT_EQ(count_on(*a.node, busy), 2U);
  EXPECT_EQ(count_on(*b.node, busy), 2U);
  EXPECT_EQ(a.node->balancing()->move_count(), 2U) << "it joined first, and moves no more";
  EXPECT_EQ(b.node->balancing()->move_count(), 0U);
  ASSERT_TRUE(coroutine::sleep_for(3min));
  EXPECT_EQ(count_on(*b.node, busy), 4U);
  EXPECT_TRUE(a.node->cluster()->view()->groups()[0].pins.empty());
  for (Member* member : {&a, &b}) EXPECT_TRUE(member->node->stop(Deadline::after(5s)));
}

TEST_F(BalancingTest, NothingMovesUnlessTheOldestNodeBalances) {
  auto a = make("a", false);
  auto b = make("b", true);
  ASSERT_TRUE(coroutine::sleep_for(20s));
  const auto busy = owned_by(*b.node, 4);
  compute(busy, 240ms, {&a, &b}, 3min);
  EXPECT_EQ(count_on(*b.node, busy), 4U);
  // The next one takes over.
  EXPECT_TRUE(a.node->stop(Deadline::after(5s)));
  auto c = make("c", false);
  ASSERT_TRUE(coroutine::sleep_for(20s));
  const auto now_busy = owned_by(*b.node, 4);
  compute(now_busy, 240ms, {&b, &c}, 3min);
  EXPECT_EQ(b.node->balancing()->move_count(), 2U);
  for (Member* member : {&b, &c}) EXPECT_TRUE(member->node->stop(Deadline::after(5s)));
}

}  // namespace
}  // namespace corolane::framework::detail
