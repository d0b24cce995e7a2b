// SPDX-License-Identifier: MIT
#include "framework/cluster/detail/member_fit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "coroutine/testing/matchers.h"
#include "test/framework/cluster/members.h"

namespace corolane::framework::detail {
namespace {

using test::fails_with;
using test::player_node;
using testing::HasSubstr;

TEST(MemberFitTest, NodesWithTheSameTypesAndNodesWithoutObjectsFit) {
  EXPECT_TRUE(check_fits(player_node("a"), player_node("b")));
  Member gateway = player_node("gateway");
  gateway.groups.clear();
  gateway.partition_count = 4'096;
  EXPECT_TRUE(check_fits(player_node("a"), gateway));
  EXPECT_TRUE(check_fits(gateway, player_node("a")));
}

TEST(MemberFitTest, AnotherNumberOfPartitionsDoesNotFit) {
  Member wide = player_node("b");
  wide.partition_count = 4'096;
  const auto fits = check_fits(player_node("a"), wide);
  EXPECT_THAT(fits, fails_with(Code::failed_precondition));
  EXPECT_THAT(fits.error().message(), HasSubstr("of b are in 4096 partitions"));
}

TEST(MemberFitTest, AnotherAffinityDoesNotFit) {
  Member other = player_node("b");
  other.groups.front().affinities = {{"game.Player", "player"}};
  const auto fits = check_fits(player_node("a"), other);
  EXPECT_THAT(fits, fails_with(Code::failed_precondition));
  EXPECT_THAT(fits.error().message(), HasSubstr("b hosts game.Player with another affinity"));
}

TEST(MemberFitTest, AnotherPlacementDoesNotFit) {
  const auto fits = check_fits(player_node("a"), player_node("b", {.role = "room"}));
  EXPECT_THAT(fits, fails_with(Code::failed_precondition));
  EXPECT_THAT(fits.error().message(), HasSubstr("b hosts game.Player with another placement"));
}

TEST(MemberFitTest, TypesThatOnlyOneOfThemHostsFit) {
  Member other = player_node("b", {.role = "room"});
  other.groups.front().types = {"game.Room"};
  EXPECT_TRUE(check_fits(player_node("a"), other));
}

}  // namespace
}  // namespace corolane::framework::detail
