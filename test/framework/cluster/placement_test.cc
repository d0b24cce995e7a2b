// SPDX-License-Identifier: MIT
#include "framework/cluster/placement.h"

#include <gtest/gtest.h>

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

std::map<std::string, int> shares(const std::vector<Member>& members,
                                  const Placement& placement = {}) {
  std::map<std::string, int> counts;
  for (std::size_t i = 0; i < partition_count; ++i) {
    const Member* const owner = choose_owner(members, placement, static_cast<Partition>(i));
    ++counts[owner == nullptr ? "" : owner->name];
  }
  return counts;
}

TEST(PlacementTest, SharesEvenly) {
  for (const auto& [name, count] : shares({member("a", 1), member("b", 2), member("c", 3)})) {
    EXPECT_NEAR(count, 341, 60) << name;
  }
}

TEST(PlacementTest, SharesByWeight) {
  auto counts = shares({member("a", 1, 100), member("b", 2, 300)});
  EXPECT_NEAR(counts["a"], 256, 60);
  EXPECT_NEAR(counts["b"], 768, 60);
}

TEST(PlacementTest, OnlyTheShareOfANewMemberMoves) {
  const std::vector<Member> before = {member("a", 1), member("b", 2)};
  const std::vector<Member> after = {member("a", 1), member("b", 2), member("c", 3)};
  for (std::size_t i = 0; i < partition_count; ++i) {
    const auto partition = static_cast<Partition>(i);
    const Member* const was = choose_owner(before, {}, partition);
    const Member* const is = choose_owner(after, {}, partition);
    if (is->name != "c") {
      EXPECT_EQ(is->name, was->name);
    }
  }
}

TEST(PlacementTest, DrainingMembersTakeNothing) {
  std::vector<Member> members = {member("a", 1), member("b", 2)};
  members[0].is_draining = true;
  EXPECT_EQ(shares(members), (std::map<std::string, int>{{"b", 1024}}));
}

TEST(PlacementTest, ARestartedMemberKeepsItsShareAndTheOldOneHasNone) {
  EXPECT_EQ(shares({member("a", 1), member("b", 2)}), shares({member("a", 9), member("b", 2)}));
  const std::vector<Member> members = {member("a", 1), member("a", 9), member("b", 2)};
  for (std::size_t i = 0; i < partition_count; ++i) {
    EXPECT_NE(choose_owner(members, {}, static_cast<Partition>(i))->epoch, 1U);
  }
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
