// SPDX-License-Identifier: MIT
#include "framework/cluster/placement.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace corolane::framework {
namespace {

Member member(std::string name, std::uint64_t epoch, std::uint32_t weight = 100) {
  return {.name = std::move(name),
          .incarnation = std::to_string(epoch),
          .epoch = epoch,
          .shards = {},
          .weight = weight,
          .groups = {{.placement = {}, .types = {"game.Player"}}}};
}

std::vector<Member> many(std::size_t count) {
  std::vector<Member> members;
  for (std::size_t i = 0; i < count; ++i) {
    members.push_back(member("node-" + std::to_string(i), i + 1));
  }
  return members;
}

std::vector<std::string> names(const std::vector<Member>& members,
                               const Placement& placement = {}) {
  std::vector<std::string> names;
  for (const Member* owner : choose_owners(members, placement)) {
    names.push_back(owner == nullptr ? "" : owner->name);
  }
  return names;
}

std::map<std::string, int> shares(const std::vector<Member>& members,
                                  const Placement& placement = {}) {
  std::map<std::string, int> counts;
  for (const std::string& name : names(members, placement)) ++counts[name];
  return counts;
}

std::size_t moved_count(const std::vector<Member>& before, const std::vector<Member>& after) {
  const auto was = names(before);
  const auto is = names(after);
  std::size_t count = 0;
  for (std::size_t i = 0; i < partition_count_min; ++i) count += was[i] == is[i] ? 0 : 1;
  return count;
}

TEST(PlacementTest, SharesEvenly) {
  for (const auto& [name, count] : shares({member("a", 1), member("b", 2), member("c", 3)})) {
    EXPECT_NEAR(count, 341, 60) << name;
  }
}

TEST(PlacementTest, NoShareIsATenthLargerThanTheMean) {
  for (const std::size_t count : {2, 3, 10, 30, 100}) {
    const double mean = static_cast<double>(partition_count_min) / static_cast<double>(count);
    for (const auto& [name, share] : shares(many(count))) {
      EXPECT_LE(share, 1.1 * mean) << name << " of " << count;
    }
  }
}

// A share is a whole number.
TEST(PlacementTest, MoreNodesThanPartitionsOwnOneEachAtMost) {
  for (const auto& [name, share] : shares(many(partition_count_min + 100)))
    EXPECT_EQ(share, 1) << name;
}

TEST(PlacementTest, SharesByWeight) {
  auto counts = shares({member("a", 1, 100), member("b", 2, 300)});
  EXPECT_NEAR(counts["a"], 256, 60);
  EXPECT_NEAR(counts["b"], 768, 60);
  std::vector<Member> members = many(30);
  for (std::size_t i = 0; i < 10; ++i) members[i].weight = 200;
  for (const auto& [name, share] : shares(members)) {
    const bool is_heavy = name.size() == 6 && name < "node-:";
    EXPECT_LE(share, is_heavy ? 56 : 28) << name << ": a tenth more than 51.2 and 25.6";
  }
}

TEST(PlacementTest, OnlyTheShareOfANewMemberMoves) {
  const auto before = names({member("a", 1), member("b", 2)});
  const auto after = names({member("a", 1), member("b", 2), member("c", 3)});
  for (std::size_t i = 0; i < partition_count_min; ++i) {
    EXPECT_TRUE(after[i] == "c" || after[i] == before[i]) << i;
  }
}

TEST(PlacementTest, FewOtherPartitionsMoveWhenTheLoadsAreBounded) {
  for (const std::size_t count : {10, 30, 100}) {
    std::vector<Member> more = many(count + 1);
    const std::size_t share = partition_count_min / count;
    EXPECT_LE(moved_count(many(count), more), 3 * share) << "the last of " << count << " comes";
    more.erase(more.begin() + 3);
    EXPECT_LE(moved_count(many(count + 1), more), 3 * share) << "one of " << count << " goes";
  }
}

TEST(PlacementTest, ManyPartitionsAreSharedAsEvenlyAndMoveAsRarely) {
  for (const std::size_t count : {3, 30, 100}) {
    std::vector<Member> members = many(count + 1);
    for (Member& each : members) each.partition_count = partition_count_max;
    const auto after = choose_owners(members, {});
    ASSERT_EQ(after.size(), partition_count_max);
    const std::string last = members.back().name;
    const auto before = choose_owners(std::span<const Member>(members).first(count), {});
    const double mean = static_cast<double>(partition_count_max) / static_cast<double>(count);
    std::map<std::string, int> shares;
    std::size_t moved = 0;
    for (std::size_t i = 0; i < partition_count_max; ++i) {
      ++shares[before[i]->name];
      moved += before[i]->name == after[i]->name ? 0 : 1;
    }
    ASSERT_EQ(shares.size(), count);
    for (const auto& [name, share] : shares) {
      EXPECT_LE(share, 1.1 * mean) << name << " of " << count;
      EXPECT_GE(share, 0.7 * mean) << name << " of " << count;
    }
    EXPECT_LE(static_cast<double>(moved), 1.6 * mean) << count;
  }
}

TEST(PlacementTest, TheOrderOfTheMembersDoesNotMatter) {
  std::vector<Member> members = many(30);
  for (std::size_t i = 0; i < 10; ++i) members[i].weight = 250;
  const auto expected = names(members);
  std::ranges::reverse(members);
  EXPECT_EQ(names(members), expected);
  std::ranges::rotate(members, members.begin() + 7);
  EXPECT_EQ(names(members), expected);
}

// Otherwise the two would hand partitions back and forth during a rolling upgrade.
TEST(PlacementTest, AllApplyTheLatestRuleThatEveryMemberKnows) {
  std::vector<Member> members = many(30);
  const auto bounded = names(members);
  for (Member& each : members) each.placement_rule = 1;
  const auto unbounded = names(members);
  EXPECT_NE(unbounded, bounded);
  std::size_t moved = 0;
  for (std::size_t i = 0; i < partition_count_min; ++i) moved += bounded[i] == unbounded[i] ? 0 : 1;
  EXPECT_LT(moved, partition_count_min / 10) << "when the last node of a former build goes";
  int largest = 0;
  for (const auto& [name, share] : shares(members)) largest = std::max(largest, share);
  EXPECT_GT(largest, 40) << "of 34 in the mean";
  for (std::size_t i = 1; i < members.size(); ++i) members[i].placement_rule = 2;
  EXPECT_EQ(names(members), unbounded);
  members[0].placement_rule = 3;
  EXPECT_EQ(names(members), bounded);
}

TEST(PlacementTest, APinPutsItsPartitionOnItsNodeAndMovesFewOthers) {
  const std::vector<Member> members = many(10);
  const auto before = names(members);
  const Pins pins = {{17, {.node = "node-3"}}, {500, {.node = "node-3", .is_by_balancer = true}}};
  const auto owners = choose_owners(members, {}, pins);
  EXPECT_EQ(owners[17]->name, "node-3");
  EXPECT_EQ(owners[500]->name, "node-3");
  std::size_t moved = 0;
  for (std::size_t i = 0; i < partition_count_min; ++i)
    moved += owners[i]->name == before[i] ? 0 : 1;
  EXPECT_LE(moved, 2 * pins.size() + 2);
}

TEST(PlacementTest, APinToANodeThatMayNotOwnItsPartitionHasNoEffect) {
  std::vector<Member> members = many(4);
  members[1].is_draining = true;
  const Pins pins = {{17, {.node = "node-1"}}, {18, {.node = "gone"}}};
  EXPECT_EQ(choose_owners(members, {}, pins), choose_owners(members, {}));
}

TEST(PlacementTest, PinsGiveNoNodeMoreThanItsBound) {
  const std::vector<Member> members = many(4);
  Pins pins;
  for (Partition partition = 0; partition < partition_count_min; ++partition) {
    pins[partition] = {.node = "node-2"};
  }
  const auto owners = choose_owners(members, {}, pins);
  const auto share = std::ranges::count(owners, "node-2", &Member::name);
  EXPECT_EQ(share, 281) << "a tenth more than a fourth";
}

// Otherwise the two would hand the partition back and forth.
TEST(PlacementTest, PinsWaitUntilAllMembersKnowThem) {
  std::vector<Member> members = many(4);
  const Pins pins = {{17, {.node = "node-1"}}, {18, {.node = "node-2"}}};
  members[0].placement_rule = 2;
  EXPECT_EQ(choose_owners(members, {}, pins), choose_owners(members, {}));
}

// `count` members, of which the first `new_count` host a type more.
std::vector<Member> mixed(std::size_t count, std::size_t new_count) {
  std::vector<Member> members = many(count);
  for (std::size_t i = 0; i < new_count; ++i)
    members[i].groups[0].types = {"game.Guild", "game.Player"};
  return members;
}

TEST(PlacementTest, ATypeThatFewMembersHostMovesNothing) {
  for (const std::size_t new_count : {1, 4, 5}) {
    EXPECT_EQ(names(mixed(10, new_count)), names(many(10))) << new_count;
  }
}

TEST(PlacementTest, OnceMostMembersHostATypeTheOthersOwnNothing) {
  for (const std::size_t new_count : {6, 9}) {
    const auto counts = shares(mixed(10, new_count));
    EXPECT_EQ(counts.size(), new_count);
    for (std::size_t i = 0; i < new_count; ++i) {
      EXPECT_TRUE(counts.contains("node-" + std::to_string(i)));
    }
  }
  EXPECT_EQ(names(mixed(10, 10)), names(many(10)));
}

TEST(PlacementTest, MostMembersAreThoseWithMostOfTheWeight) {
  std::vector<Member> members = mixed(10, 2);
  for (std::size_t i = 0; i < 2; ++i) members[i].weight = 500;
  EXPECT_EQ(shares(members).size(), 2U);
}

// A build with a new type and without a former one.
TEST(PlacementTest, AFormerTypeBindsUntilMostMembersHaveDroppedIt) {
  std::vector<Member> members = many(10);
  for (std::size_t i = 0; i < 4; ++i) members[i].groups[0].types = {"game.Guild"};
  EXPECT_EQ(shares(members).size(), 6U);
  for (std::size_t i = 4; i < 6; ++i) members[i].groups[0].types = {"game.Guild"};
  EXPECT_EQ(shares(members).size(), 6U);
  EXPECT_TRUE(shares(members).contains("node-0"));
  members[5].groups[0].types = {"game.Player"};
  EXPECT_EQ(shares(members).size(), 10U) << "neither has the most";
}

TEST(PlacementTest, WhenNoMemberHostsAllTypesAllMayOwn) {
  std::vector<Member> members = many(3);
  members[0].groups[0].types = {"game.Guild", "game.Hall"};
  members[1].groups[0].types = {"game.Guild", "game.Player"};
  members[2].groups[0].types = {"game.Hall", "game.Player"};
  EXPECT_EQ(shares(members).size(), 3U);
}

// Computed by the first build: nodes of that build may be in the cluster.
TEST(PlacementTest, TheFirstRuleNeverChanges) {
  std::vector<Member> members = {member("a", 1), member("b", 2, 300), member("c", 3)};
  for (Member& each : members) each.placement_rule = 1;
  std::string owners;
  for (const std::string& name : names(members)) owners += name;
  EXPECT_EQ(owners.substr(0, 40), "abbbbbbbbcbbcbcacbcabbacabbbabcacaabbabb");
}

TEST(PlacementTest, DrainingMembersTakeNothing) {
  std::vector<Member> members = {member("a", 1), member("b", 2)};
  members[0].is_draining = true;
  EXPECT_EQ(shares(members), (std::map<std::string, int>{{"b", 1024}}));
}

TEST(PlacementTest, ARestartedMemberKeepsItsShareAndTheOldOneHasNone) {
  EXPECT_EQ(shares({member("a", 1), member("b", 2)}), shares({member("a", 9), member("b", 2)}));
  const std::vector<Member> members = {member("a", 1), member("a", 9), member("b", 2)};
  for (const Member* owner : choose_owners(members, {})) EXPECT_NE(owner->epoch, 1U);
}

TEST(PlacementTest, LabelsDecideWhichMembersMayHost) {
  std::vector<Member> members = {member("a", 1), member("b", 2), member("c", 3)};
  const Placement rooms{.zone = "eu", .role = "room"};
  for (Member& each : members) each.groups.push_back({.placement = rooms, .types = {"game.Room"}});
  EXPECT_EQ(shares(members, rooms), (std::map<std::string, int>{{"", 1024}}));
  members[1].zone = "eu";
  members[1].roles = {"gateway", "room"};
  EXPECT_EQ(shares(members, rooms), (std::map<std::string, int>{{"b", 1024}}));
}

TEST(PlacementTest, AMemberWithoutAPlacementOwnsNothingOfIt) {
  std::vector<Member> members = {member("a", 1), member("b", 2)};
  members[0].groups.clear();
  EXPECT_EQ(shares(members), (std::map<std::string, int>{{"b", 1024}}));
}

}  // namespace
}  // namespace corolane::framework
