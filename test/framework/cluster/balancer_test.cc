// SPDX-License-Identifier: MIT
#include "framework/cluster/balancer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "framework/cluster/placement.h"
#include "test/framework/cluster/members.h"

namespace corolane::framework {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

// Nodes "a", "b" and so on; after "z" other letters.
class BalancerTest : public testing::Test {
 protected:
  void add(std::size_t shard_count, std::map<Partition, double> cores) {
    Member member = test::player_node(std::string(1, static_cast<char>('a' + members_.size())));
    member.epoch = members_.size() + 1;
    member.shards.resize(shard_count, member.shards.front());
    NodeLoad& load = loads_.emplace_back(NodeLoad{.node = member.name});
    for (const auto& [partition, its] : cores) load.cores[{{}, partition}] = its;
    members_.push_back(std::move(member));
  }
  void pin(Partition partition, std::string node, bool is_by_balancer = false) {
    pins_[{}][partition] = {.node = std::move(node), .is_by_balancer = is_by_balancer};
  }
  std::vector<BalanceMove> moves(const BalanceOptions& options = {}) const {
    return choose_moves(members_, pins_, loads_, options);
  }
  // "17 a>b", or "17 a>" for a pin that goes.
  std::vector<std::string> texts(const BalanceOptions& options = {}) const {
    std::vector<std::string> texts;
    for (const auto& move : moves(options)) {
      texts.push_back(std::to_string(move.place.partition) + " " + move.from + ">" +
                      (move.pin ? move.pin->node : ""));
    }
    return texts;
  }
  // The load of the fullest shard after the moves.
  double fullest_after(const std::vector<BalanceMove>& moves) const {
    std::map<std::pair<std::string, std::size_t>, double> sums;
    const auto shard_of = [&](const std::string& node, Partition partition) {
      const auto member = std::ranges::find(members_, node, &Member::name);
      return std::pair(node, partition % member->shards.size());
    };
    for (const NodeLoad& load : loads_) {
      for (const auto& [place, cores] : load.cores) {
        sums[shard_of(load.node, place.partition)] += cores;
      }
    }
    for (const BalanceMove& move : moves) {
      sums[shard_of(move.from, move.place.partition)] -= move.cores;
      if (move.pin) sums[shard_of(move.pin->node, move.place.partition)] += move.cores;
    }
    double fullest = 0;
    for (const auto& [shard, sum] : sums) fullest = std::max(fullest, sum);
    return fullest;
  }

  // The partitions that have another owner after the moves.
  std::size_t moved_count(const std::vector<BalanceMove>& moves) const {
    Pins pins;
    for (const BalanceMove& move : moves) {
      if (move.pin) pins.insert_or_assign(move.place.partition, *move.pin);
    }
    const auto before = choose_owners(members_, {});
    const auto after = choose_owners(members_, {}, pins);
    std::size_t count = 0;
    for (std::size_t i = 0; i < before.size(); ++i) count += before[i] != after[i] ? 1 : 0;
    return count;
  }

  std::vector<Member> members_;
  std::map<Placement, Pins> pins_;
  std::vector<NodeLoad> loads_;
};

TEST_F(BalancerTest, AFullShardGivesAPartitionToAnEmptyOne) {
  add(1, {{1, 0.5}, {2, 0.4}});
  add(1, {});
  EXPECT_THAT(moves(), SizeIs(1));
  EXPECT_LE(fullest_after(moves()), 0.5);
  EXPECT_TRUE(moves()[0].pin->is_by_balancer);
}

TEST_F(BalancerTest, ABusyPartitionIsLeftAloneAndTheOthersGo) {
  add(1, {{1, 0.95}, {2, 0.15}, {3, 0.15}});
  add(1, {{4, 0.3}});
  EXPECT_THAT(texts(), testing::UnorderedElementsAre("2 a>b", "3 a>b"));
}

TEST_F(BalancerTest, APartitionThatFillsAShardOnItsOwnStays) {
  add(1, {{1, 0.95}});
  add(1, {{2, 0.1}});
  EXPECT_THAT(texts(), IsEmpty()) << "there would be just as full";
}

TEST_F(BalancerTest, NothingMovesThatCouldMoveBack) {
  add(1, {{1, 0.3}, {2, 0.3}});
  add(1, {{3, 0.25}, {4, 0.25}});
  EXPECT_THAT(texts(), IsEmpty());
}

TEST_F(BalancerTest, ShardsThatHaveRoomGiveNothing) {
  add(1, {{1, 0.2}, {2, 0.2}});
  add(1, {});
  EXPECT_THAT(texts(), IsEmpty());
}

TEST_F(BalancerTest, AShardIsFullWhateverItsNeighboursDo) {
  // Of four shards of node a the second one has all to do.
  add(4, {{1, 0.4}, {5, 0.4}});
  add(4, {{13, 0.01}, {2, 0.9}});
  add(4, {{9, 0.3}});
  EXPECT_THAT(texts(), testing::ElementsAre(testing::EndsWith("a>b")))
      << "the shard there is idle, though the node is not";
}

TEST_F(BalancerTest, NodesMayHaveDifferentNumbersOfShards) {
  add(1, {{1, 0.4}, {2, 0.4}, {3, 0.2}});
  add(2, {{1, 0.02}, {5, 0.5}});
  const auto chosen = moves();
  EXPECT_LE(fullest_after(chosen), 0.61);
  ASSERT_THAT(chosen, SizeIs(1));
  EXPECT_EQ(chosen[0].place.partition, 2) << "only the first shard of b has room";
}

TEST_F(BalancerTest, PinsOfOperatorsStay) {
  add(1, {{1, 0.5}, {2, 0.5}});
  add(1, {});
  pin(1, "a");
  EXPECT_THAT(texts(), testing::ElementsAre("2 a>b"));
  pin(2, "a");
  EXPECT_THAT(texts(), IsEmpty());
}

TEST_F(BalancerTest, PinsOfItsOwnGoWhenTheirPartitionsAreIdle) {
  add(1, {{1, 0.3}, {3, 0.005}});
  add(1, {});
  for (Partition partition = 1; partition <= 3; ++partition) {
    pin(partition, "a", /*is_by_balancer=*/true);
  }
  pin(4, "a");
  EXPECT_THAT(texts(), testing::ElementsAre("2 a>", "3 a>"));
}

TEST_F(BalancerTest, PinsOfItsOwnGoWithTheirNode) {
  add(1, {{1, 0.3}});
  add(1, {});
  pin(1, "gone", /*is_by_balancer=*/true);
  pin(2, "gone");
  EXPECT_THAT(texts(), testing::ElementsAre("1 gone>"));
}

TEST_F(BalancerTest, APinStaysWhileTheFormerNodeHasNotHandedThePartitionOver) {
  add(1, {{1, 0.3}});
  add(1, {});
  pin(1, "b", /*is_by_balancer=*/true);
  EXPECT_THAT(texts(), IsEmpty());
}

TEST_F(BalancerTest, NothingMovesWhileAMemberKnowsNoPins) {
  add(1, {{1, 0.5}, {2, 0.4}});
  add(1, {});
  members_[1].placement_rule = rule_with_pins - 1;
  EXPECT_THAT(texts(), IsEmpty());
}

TEST_F(BalancerTest, ANodeThatMayNotOwnThePartitionGetsNothing) {
  add(1, {{1, 0.5}, {2, 0.5}});
  add(1, {});
  members_[1].is_draining = true;
  EXPECT_THAT(texts(), IsEmpty());
}

TEST_F(BalancerTest, ANodeThatHasNotToldItsLoadTakesNoPart) {
  add(1, {{1, 0.5}, {2, 0.5}});
  add(1, {});
  loads_.pop_back();
  EXPECT_THAT(texts(), IsEmpty());
}

TEST_F(BalancerTest, ARunMovesNoMoreThanItMay) {
  std::map<Partition, double> many;
  for (Partition partition = 0; partition < 100; ++partition) many[partition] = 0.125;
  add(1, many);
  for (int i = 0; i < 9; ++i) add(1, {});
  EXPECT_THAT(moves(), SizeIs(testing::Gt(7U)));
  EXPECT_LE(moved_count(moves()), partition_count_min / 20);
  const auto seven = moves({.move_count_max = 7});
  EXPECT_THAT(seven, testing::Not(IsEmpty()));
  EXPECT_LE(moved_count(seven), 7U);
  const auto all = moves({.move_count_max = 1'000});
  EXPECT_LE(fullest_after(all), 1.5);
}

// Half of a hundred nodes have as many partitions as they may.
TEST_F(BalancerTest, PartitionsThatGiveWayCountAsMoved) {
  std::map<Partition, double> many;
  for (Partition partition = 0; partition < 100; ++partition) many[partition] = 0.125;
  add(1, many);
  for (int i = 0; i < 99; ++i) add(1, {});
  EXPECT_THAT(moves(), testing::Not(IsEmpty()));
  EXPECT_LE(moved_count(moves()), partition_count_min / 20);
}

TEST_F(BalancerTest, ABalancedClusterIsLeftAlone) {
  std::map<Partition, double> many;
  for (Partition partition = 0; partition < 100; ++partition) many[partition] = 0.125;
  add(1, many);
  for (int i = 0; i < 4; ++i) add(1, {});
  const auto first = moves({.move_count_max = 1'000});
  for (const BalanceMove& move : first) {
    loads_[0].cores.erase(move.place);
    const auto to = std::ranges::find(loads_, move.pin->node, &NodeLoad::node);
    to->cores[move.place] = move.cores;
    pins_[move.place.placement][move.place.partition] = *move.pin;
  }
  EXPECT_FALSE(first.empty());
  EXPECT_THAT(texts(), IsEmpty());
}

}  // namespace
}  // namespace corolane::framework
