// SPDX-License-Identifier: MIT
#include "framework/cluster/detail/cluster_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "test/framework/cluster/members.h"

namespace corolane::framework::detail {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const std::string whole_node = R"({"shards": ["10.0.0.1:1"], "hosts": []})";

class ClusterTableTest : public testing::Test {
 protected:
  // One change of the directory.
  void put(std::string key, std::string value, Directory::Revision created_at,
           Directory::Revision modified_at) {
    table_.apply({.entry = {.key = std::move(key),
                            .value = std::move(value),
                            .created_at = created_at,
                            .modified_at = modified_at}});
  }
  void put(std::string key, std::string value, Directory::Revision revision) {
    put(std::move(key), std::move(value), revision, revision);
  }
  void remove(std::string key, Directory::Revision revision) {
    table_.apply({.entry = {.key = std::move(key), .modified_at = revision}, .is_removed = true});
  }
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const Member& member : table_.members()) names.push_back(ClusterTable::name_of(member));
    return names;
  }
  const ClusterTable::Ownership& owner(Partition partition, const Placement& placement = {}) const {
    return table_.ownerships(placement)[partition];
  }

  ClusterTable table_;
};

TEST_F(ClusterTableTest, AMemberIsReadAsItWasWritten) {
  Member written = test::player_node("chess-1", {.zone = "eu", .role = "room"});
  written.incarnation = "ab12";
  written.shards = {{.host = "10.0.0.1", .port = 8470}, {.host = "fd00::1", .port = 8471}};
  written.weight = 250;
  written.roles = {"room", "lobby"};
  written.groups.push_back({.placement = {}, .types = {"game.Guild", "game.Hall"}});
  written.groups.back().affinities = {{"game.Hall", "guild"}};
  written.version = "1.2.3";
  written.partition_count = 4'096;
  put("nodes/chess-1.ab12", ClusterTable::to_value(written), 17);

  const Member* const read = table_.find("chess-1.ab12");
  ASSERT_NE(read, nullptr);
  EXPECT_EQ(read->name, "chess-1");
  EXPECT_EQ(read->incarnation, "ab12");
  EXPECT_EQ(read->epoch, 17U);
  ASSERT_EQ(read->shards.size(), 2U);
  EXPECT_EQ(read->shards[0].host, "10.0.0.1");
  EXPECT_EQ(read->shards[0].port, 8470);
  EXPECT_EQ(read->shards[1].host, "fd00::1");
  EXPECT_EQ(read->shards[1].port, 8471);
  EXPECT_EQ(read->weight, 250U);
  EXPECT_EQ(read->zone, "eu");
  EXPECT_EQ(read->roles, written.roles);
  EXPECT_EQ(read->groups, written.groups);
  EXPECT_EQ(read->version, "1.2.3");
  EXPECT_EQ(read->placement_rule, 3U);
  EXPECT_TRUE(read->forwards);
  EXPECT_EQ(read->partition_count, 4'096U);
  EXPECT_FALSE(read->is_draining);
}

TEST_F(ClusterTableTest, TheNumberOfPartitionsIsThatOfANodeWithObjects) {
  EXPECT_EQ(table_.view()->partition_count(), partition_count_min);
  Member written = test::player_node("a");
  written.partition_count = 4'096;
  put("nodes/a.1", ClusterTable::to_value(written), 1);
  Member gateway = test::player_node("b");
  gateway.groups.clear();
  put("nodes/b.1", ClusterTable::to_value(gateway), 2);
  put("partitions/4095", "a.1 1", 3);
  put("partitions/4096", "a.1 1", 4);
  const auto view = table_.view();
  EXPECT_EQ(view->partition_count(), 4'096U);
  ASSERT_EQ(view->groups().size(), 1U);
  EXPECT_EQ(view->groups().front().owner(4'095).epoch, 3U);
  EXPECT_EQ(view->groups().front().owner(4'096).epoch, 0U);
}

TEST_F(ClusterTableTest, ANodeWithObjectsKeepsItsOwnNumberOfPartitions) {
  table_.set_partition_count(4'096);
  put("nodes/a.1", ClusterTable::to_value(test::player_node("a")), 1);
  EXPECT_EQ(table_.view()->partition_count(), 4'096U);
  table_.load({.revision = 2, .entries = {}});
  put("nodes/a.2", ClusterTable::to_value(test::player_node("a")), 3);
  EXPECT_EQ(table_.view()->partition_count(), 4'096U);
}

TEST_F(ClusterTableTest, ANodeOfTheFirstBuildKnowsTheFirstRuleOfPlacement) {
  put("nodes/a.1", whole_node, 1);
  EXPECT_EQ(table_.find("a.1")->placement_rule, 1U);
  EXPECT_EQ(table_.find("a.1")->partition_count, partition_count_min);
  EXPECT_FALSE(table_.find("a.1")->forwards);
}

TEST_F(ClusterTableTest, TheChangedOwnershipsAreTakenOnce) {
  put("partitions/7", "a.1 5", 5);
  put("partitions/9", "a.1 5", 6);
  put("partitions/7", "a.1 5", 4);
  const std::uint64_t before = table_.whole_change_count();
  EXPECT_THAT(table_.take_changed({}), testing::ElementsAre(7, 9)) << "the last one is older";
  EXPECT_THAT(table_.take_changed({}), testing::IsEmpty());
  EXPECT_THAT(table_.take_changed({.zone = "eu"}), testing::IsEmpty());
  put("partitions/9", "b.1 6", 7);
  EXPECT_THAT(table_.take_changed({}), testing::ElementsAre(9));
  EXPECT_EQ(table_.whole_change_count(), before);
  put("generation", "1", 8);
  EXPECT_GT(table_.whole_change_count(), before) << "all epochs have changed";
}

TEST_F(ClusterTableTest, ChangesThatNobodyTakesDoNotPileUp) {
  const std::uint64_t before = table_.whole_change_count();
  Directory::Revision revision = 1;
  for (int round = 0; round < 20; ++round) {
    for (int i = 0; i < 1'000; ++i) put("partitions/" + std::to_string(i), "a.1 5", ++revision);
  }
  EXPECT_LT(table_.take_changed({}).size(), 20'000U);
  EXPECT_GT(table_.whole_change_count(), before);
}

TEST_F(ClusterTableTest, TheNameOfANodeMayHaveDots) {
  put("nodes/eu.chess.1.ab12", whole_node, 1);
  const Member* const read = table_.find("eu.chess.1.ab12");
  ASSERT_NE(read, nullptr);
  EXPECT_EQ(read->name, "eu.chess.1");
  EXPECT_EQ(read->incarnation, "ab12");
}

// A rewritten key is that of the same process.
TEST_F(ClusterTableTest, TheEpochOfANodeIsTheRevisionThatCreatedItsKey) {
  put("nodes/a.1", whole_node, 5, 9);
  ASSERT_NE(table_.find("a.1"), nullptr);
  EXPECT_EQ(table_.find("a.1")->epoch, 5U);
  EXPECT_EQ(table_.revision(), 9U);
}

TEST_F(ClusterTableTest, TheKeyOfAPartitionNamesItsPlacement) {
  EXPECT_EQ(ClusterTable::partition_key({}, 17), "partitions/17");
  EXPECT_EQ(ClusterTable::partition_key({.zone = "eu"}, 17), "partitions/zone=eu/17");
  EXPECT_EQ(ClusterTable::partition_key({.role = "room"}, 17), "partitions/role=room/17");
  EXPECT_EQ(ClusterTable::partition_key({.zone = "eu", .role = "room"}, 17),
            "partitions/zone=eu,role=room/17");
}

TEST_F(ClusterTableTest, EachPlacementHasOwnersOfItsOwn) {
  const std::vector<Placement> placements = {
      {}, {.zone = "eu"}, {.role = "room"}, {.zone = "eu", .role = "room"}};
  for (std::size_t i = 0; i < placements.size(); ++i) {
    const std::string name = "node-" + std::to_string(i) + ".1";
    put(ClusterTable::partition_key(placements[i], 17), ClusterTable::owner_value(name, 3), 4);
  }
  for (std::size_t i = 0; i < placements.size(); ++i) {
    EXPECT_EQ(owner(17, placements[i]).owner, "node-" + std::to_string(i) + ".1");
  }
  EXPECT_EQ(owner(17, {.zone = "us"}).revision, 0U) << "a placement without entries";
}

TEST_F(ClusterTableTest, TheEpochOfAnOwnershipIsTheRevisionThatLastWroteIt) {
  put("partitions/1023", "a.1 5", 8, 12);
  EXPECT_EQ(owner(1023).owner, "a.1");
  EXPECT_EQ(owner(1023).node_epoch, 5U);
  EXPECT_EQ(owner(1023).revision, 12U);
  EXPECT_EQ(table_.epoch_of(owner(1023)), 12U);
  EXPECT_EQ(table_.epoch_of(owner(7)), 0U) << "it never had an owner";
}

TEST_F(ClusterTableTest, AnEpochOfALaterGenerationIsLaterThanAnyRevision) {
  put("nodes/a.1", ClusterTable::to_value(test::player_node("a")), 5);
  put("partitions/1023", "a.1 5", 8, 12);
  put("id", "a1b2", 1);
  put("generation", "2", 13);
  EXPECT_EQ(table_.mark(), (DirectoryMark{.id = "a1b2", .revision = 13, .generation = 2}));
  const std::uint64_t base = std::uint64_t{2} << 40;
  EXPECT_EQ(table_.generation(), 2U);
  EXPECT_EQ(table_.epoch_of(owner(1023)), base + 12);
  EXPECT_EQ(table_.epoch_of(owner(7)), 0U);
  const auto view = table_.view();
  EXPECT_EQ(view->members().front().epoch, base + 5);
  ASSERT_NE(view->find_group("game.Player"), nullptr);
  EXPECT_EQ(view->find_group("game.Player")->owners[1023].epoch, base + 12);
  EXPECT_NE(view->find_group("game.Player")->owners[1023].member, nullptr);
}

TEST_F(ClusterTableTest, AGenerationThatCannotBeReadChangesNothing) {
  put("generation", "2", 13);
  put("generation", "two", 14);
  EXPECT_EQ(table_.generation(), 2U);
  EXPECT_EQ(table_.unreadable_count(), 1U);
  put("generation", "99999999999", 15);
  EXPECT_EQ(table_.generation(), DirectoryMark::generation_max);
}

TEST_F(ClusterTableTest, AChangeThatIsOlderThanTheOwnershipIsIgnored) {
  put("partitions/7", "b.1 6", 20);
  put("partitions/7", "a.1 5", 19);
  EXPECT_EQ(owner(7).owner, "b.1");
  remove("partitions/7", 19);
  EXPECT_EQ(owner(7).owner, "b.1");
  remove("partitions/7", 21);
  EXPECT_EQ(owner(7).owner, "");
  EXPECT_EQ(owner(7).revision, 0U);
}

// A watch that lags behind a list reports the end of an earlier process of that name.
TEST_F(ClusterTableTest, ARemovalThatIsOlderThanTheNodeIsIgnored) {
  put("nodes/a.1", whole_node, 20);
  put("draining/a.1", "", 21);
  remove("nodes/a.1", 19);
  remove("draining/a.1", 19);
  ASSERT_THAT(names(), ElementsAre("a.1"));
  EXPECT_TRUE(table_.members()[0].is_draining);
  remove("draining/a.1", 22);
  EXPECT_FALSE(table_.members()[0].is_draining);
  remove("nodes/a.1", 22);
  EXPECT_THAT(names(), IsEmpty());
}

TEST_F(ClusterTableTest, AMemberIsDrainingWhicheverOfItsKeysComesFirst) {
  put("draining/b.1", "", 1);
  put("nodes/a.1", whole_node, 2);
  put("nodes/b.1", whole_node, 3);
  ASSERT_THAT(names(), ElementsAre("a.1", "b.1"));
  EXPECT_FALSE(table_.members()[0].is_draining);
  EXPECT_TRUE(table_.members()[1].is_draining);
}

TEST_F(ClusterTableTest, TheRevisionIsTheLatestThatItHasSeen) {
  EXPECT_EQ(table_.revision(), 0U);
  put("nodes/a.1", whole_node, 20);
  put("nodes/b.1", whole_node, 7);
  EXPECT_EQ(table_.revision(), 20U);
  remove("nodes/b.1", 23);
  EXPECT_EQ(table_.revision(), 23U);
  table_.load({.revision = 22});
  EXPECT_EQ(table_.revision(), 22U);
}

TEST_F(ClusterTableTest, ALoadReplacesEverything) {
  put("nodes/a.1", whole_node, 1);
  put("draining/b.1", "", 2);
  put("partitions/7", "a.1 1", 3);
  put("nodes/broken.1", "{", 4);
  table_.load({.revision = 9,
               .entries = {{.key = "nodes/b.1", .value = whole_node, .created_at = 5},
                           {.key = "partitions/8", .value = "b.1 5", .modified_at = 6}}});
  ASSERT_THAT(names(), ElementsAre("b.1"));
  EXPECT_FALSE(table_.members()[0].is_draining);
  EXPECT_EQ(owner(7).owner, "");
  EXPECT_EQ(owner(8).owner, "b.1");
  EXPECT_EQ(table_.unreadable_count(), 0U);
}

// What an answer says was so some time ago.
TEST_F(ClusterTableTest, AnOlderSnapshotBringsNothingBackAndRemovesNothingNewer) {
  put("nodes/a.1", whole_node, 8);
  put("nodes/b.1", whole_node, 5);
  put("nodes/gone.1", whole_node, 3);
  remove("nodes/b.1", 9);
  put("partitions/8", "a.1 8", 10);
  table_.merge(Directory::Snapshot{
      .revision = 7,
      .entries = {{.key = "draining/b.1", .created_at = 6},
                  {.key = "nodes/b.1", .value = whole_node, .created_at = 5},
                  {.key = "nodes/c.1", .value = whole_node, .created_at = 4},
                  {.key = "partitions/7", .value = "b.1 5", .modified_at = 6},
                  {.key = "partitions/8", .value = "b.1 5", .modified_at = 7}}});
  EXPECT_THAT(names(), ElementsAre("a.1", "c.1")) << "one came later, one has left since";
  EXPECT_EQ(owner(7).owner, "b.1");
  EXPECT_EQ(owner(8).owner, "a.1");
  EXPECT_EQ(table_.revision(), 10U);
}

TEST_F(ClusterTableTest, APinIsReadAsItWasWritten) {
  const Placement rooms{.zone = "eu", .role = "room"};
  EXPECT_EQ(ClusterTable::pin_key({}, 17), "pins/17");
  EXPECT_EQ(ClusterTable::pin_key(rooms, 17), "pins/zone=eu,role=room/17");
  const Pin by_hand{.node = "chess.eu-2"};
  const Pin by_balancer{.node = "chess-1", .is_by_balancer = true};
  const auto before = table_.placement_change_count();
  put(ClusterTable::pin_key({}, 17), ClusterTable::to_value(by_hand), 1);
  put(ClusterTable::pin_key(rooms, 18), ClusterTable::to_value(by_balancer), 2);
  EXPECT_EQ(table_.placement_change_count(), before + 2);
  EXPECT_EQ(table_.pins({}), (Pins{{17, by_hand}}));
  EXPECT_EQ(table_.pins(rooms), (Pins{{18, by_balancer}}));
  remove("pins/17", 3);
  EXPECT_THAT(table_.pins({}), IsEmpty());
  EXPECT_EQ(table_.placement_change_count(), before + 3);
}

TEST_F(ClusterTableTest, APinThatCannotBeReadIsNone) {
  put("pins/17", "a operator", 1);
  put("pins/17", "a", 2);
  put("pins/18", " operator", 3);
  put("pins/19", "a somebody", 4);
  put("pins/16384", "a operator", 5);
  EXPECT_THAT(table_.pins({}), IsEmpty());
  EXPECT_EQ(table_.unreadable_count(), 4U);
  EXPECT_TRUE(table_.merge(Directory::Recent{.revision = 5, .entry_count = 4}));
}

TEST_F(ClusterTableTest, AnOlderSnapshotBringsNoPinBack) {
  put("pins/17", "a operator", 1);
  put("pins/18", "a operator", 2);
  put("pins/19", "a operator", 3);
  remove("pins/17", 5);
  put("pins/18", "b operator", 6);
  table_.merge(Directory::Snapshot{
      .revision = 4,
      .entries = {{.key = "pins/17", .value = "a operator", .modified_at = 1},
                  {.key = "pins/18", .value = "a operator", .modified_at = 2}}});
  EXPECT_EQ(table_.pins({}), (Pins{{18, {.node = "b"}}})) << "19 was gone at that time";
  EXPECT_TRUE(table_.merge(Directory::Recent{.revision = 6, .entry_count = 1}));
  EXPECT_FALSE(table_.merge(Directory::Recent{.revision = 7, .entry_count = 0}));
}

TEST_F(ClusterTableTest, AReadOfSomeKeysSaysNothingOfOthers) {
  put("nodes/a.1", whole_node, 1);
  put("nodes/b.1", whole_node, 2);
  put("nodes/c.1", whole_node, 3);
  const std::vector<std::string> keys = {"nodes/a.1", "nodes/b.1", "partitions/7"};
  table_.merge(keys, {.revision = 9,
                      .entries = {{.key = "nodes/b.1", .value = whole_node, .created_at = 2},
                                  {.key = "partitions/7", .value = "b.1 2", .modified_at = 6}}});
  EXPECT_THAT(names(), ElementsAre("b.1", "c.1"));
  EXPECT_EQ(owner(7).owner, "b.1");
  EXPECT_EQ(table_.revision(), 9U);
}

TEST_F(ClusterTableTest, RecentChangesTellWhetherAnythingElseIsMissing) {
  put("id", "a1b2", 1);
  put("nodes/a.1", whole_node, 2);
  put("draining/a.1", "", 3);
  put("nodes/b.1", "{", 4);
  put("locks/x", "", 5);
  put("partitions/7", "a.1 2", 6);
  EXPECT_TRUE(table_.merge(Directory::Recent{.revision = 6, .entry_count = 6}));
  EXPECT_TRUE(table_.merge(
      Directory::Recent{.revision = 8,
                        .entry_count = 7,
                        .entries = {{.key = "partitions/8", .value = "a.1 2", .modified_at = 8}}}));
  EXPECT_EQ(owner(8).owner, "a.1");
  EXPECT_FALSE(table_.merge(Directory::Recent{.revision = 9, .entry_count = 6}))
      << "one was removed, and the watch did not say so";
  remove("nodes/a.1", 10);
  EXPECT_TRUE(table_.merge(Directory::Recent{.revision = 9, .entry_count = 6}))
      << "the table is newer";
  EXPECT_TRUE(table_.merge(Directory::Recent{.revision = 10, .entry_count = 5}))
      << "what drained is gone, too";
}

TEST_F(ClusterTableTest, ThePinsOfADirectoryAreCompared) {
  put("nodes/a.1", whole_node, 3);
  put("pins/7", "a operator", 4);
  put("pins/8", "not readable", 5);
  put("pins/9", "a operator", 6);
  remove("pins/9", 7);
  const auto pin = [](std::string key, Directory::Revision modified_at) {
    return Directory::Entry{.key = std::move(key), .modified_at = modified_at};
  };
  EXPECT_TRUE(table_.has_pins({.revision = 9, .entry_count = 2}));
  EXPECT_TRUE(table_.has_pins(
      {.revision = 9, .entry_count = 2, .entries = {pin("pins/7", 4), pin("pins/8", 5)}}));
  EXPECT_FALSE(table_.has_pins({.revision = 9, .entry_count = 1})) << "one is gone";
  EXPECT_FALSE(table_.has_pins({.revision = 9, .entry_count = 2, .entries = {pin("pins/7", 9)}}))
      << "another node has it now";
  EXPECT_FALSE(table_.has_pins({.revision = 9, .entry_count = 2, .entries = {pin("pins/9", 9)}}))
      << "one is gone, and one has come back";
  EXPECT_TRUE(table_.has_pins({.revision = 6, .entry_count = 3})) << "the table is the newer one";
}

TEST_F(ClusterTableTest, TheNodesOfADirectoryAreCompared) {
  put("nodes/a.1", whole_node, 3);
  put("nodes/b.1", "not readable", 4);
  put("partitions/~/7", "a.1 3", 5);
  const auto node = [](std::string key, Directory::Revision created_at) {
    return Directory::Entry{
        .key = std::move(key), .value = "", .created_at = created_at, .modified_at = created_at};
  };
  EXPECT_TRUE(table_.has_nodes({.revision = 9, .entry_count = 2}));
  EXPECT_TRUE(table_.has_nodes(
      {.revision = 9, .entry_count = 2, .entries = {node("nodes/a.1", 3), node("nodes/b.1", 4)}}));
  EXPECT_FALSE(table_.has_nodes({.revision = 9, .entry_count = 1})) << "one has left";
  EXPECT_FALSE(
      table_.has_nodes({.revision = 9, .entry_count = 3, .entries = {node("nodes/c.1", 9)}}));
  EXPECT_FALSE(
      table_.has_nodes({.revision = 9, .entry_count = 2, .entries = {node("nodes/c.1", 9)}}))
      << "one has come, and one has left";
  EXPECT_FALSE(
      table_.has_nodes({.revision = 9, .entry_count = 2, .entries = {node("nodes/a.1", 9)}}))
      << "another process of that name";
  EXPECT_TRUE(table_.has_nodes({.revision = 4, .entry_count = 1})) << "the table is the newer one";
}

TEST_F(ClusterTableTest, TheDrainingNodesOfADirectoryAreCompared) {
  put("nodes/a.1", whole_node, 3);
  put("draining/a.1", "", 4);
  const auto mark = [](std::string key) {
    return Directory::Entry{.key = std::move(key), .value = "", .created_at = 9, .modified_at = 9};
  };
  EXPECT_TRUE(table_.has_draining({.revision = 9, .entry_count = 1}));
  EXPECT_TRUE(
      table_.has_draining({.revision = 9, .entry_count = 1, .entries = {mark("draining/a.1")}}));
  EXPECT_FALSE(table_.has_draining({.revision = 9, .entry_count = 0})) << "one has gone";
  EXPECT_FALSE(
      table_.has_draining({.revision = 9, .entry_count = 1, .entries = {mark("draining/b.1")}}))
      << "one has come, and one has gone";
  EXPECT_TRUE(table_.has_draining({.revision = 3, .entry_count = 0})) << "the table is newer";
}

TEST_F(ClusterTableTest, AWatchBeginsBeforeTheFirstChangeThatMayBeMissing) {
  EXPECT_EQ(table_.next_to_watch(), 1U);
  table_.load({.revision = 20});
  EXPECT_EQ(table_.next_to_watch(), 21U);
  // Our own change is known at once, those before it are not.
  put("partitions/7", "a.1 2", 30);
  EXPECT_EQ(table_.next_to_watch(), 21U);
  table_.follow({.entry = {.key = "nodes/a.1", .value = whole_node, .modified_at = 25}});
  EXPECT_EQ(table_.next_to_watch(), 25U) << "more changes of that revision may follow";
  EXPECT_TRUE(table_.merge(Directory::Recent{.revision = 40, .entry_count = 2}));
  EXPECT_EQ(table_.next_to_watch(), 41U);
}

TEST_F(ClusterTableTest, OnlyNewsCountAsAChange) {
  put("nodes/a.1", whole_node, 1);
  put("partitions/7", "a.1 1", 2);
  const auto before = table_.change_count();
  put("nodes/a.1", whole_node, 1);
  put("partitions/7", "a.1 1", 2);
  remove("nodes/b.1", 3);
  remove("partitions/8", 3);
  put("locks/x", "", 4);
  EXPECT_EQ(table_.change_count(), before);
  put("draining/a.1", "", 5);
  EXPECT_GT(table_.change_count(), before);
}

TEST_F(ClusterTableTest, UnreadableNodesAreSkippedAndCounted) {
  const std::vector<std::pair<std::string, std::string>> entries = {
      {"nodes/nameless", whole_node},
      {"nodes/a.1", ""},
      {"nodes/a.1", "[]"},
      {"nodes/a.1", R"({"hosts": []})"},
      {"nodes/a.1", R"({"shards": [], "hosts": []})"},
      {"nodes/a.1", R"({"shards": [7], "hosts": []})"},
      {"nodes/a.1", R"({"shards": ["no port"], "hosts": []})"},
      {"nodes/a.1", R"({"shards": ["10.0.0.1:1"]})"},
      {"nodes/a.1", R"({"shards": ["10.0.0.1:1"], "hosts": [{"placement": ""}]})"},
      {"nodes/a.1", R"({"shards": ["10.0.0.1:1"], "hosts": [], "weight": "heavy"})"}};
  for (std::size_t i = 0; i < entries.size(); ++i) {
    put(entries[i].first, entries[i].second, i + 1);
    EXPECT_EQ(table_.unreadable_count(), i + 1) << entries[i].first << ": " << entries[i].second;
  }
  EXPECT_THAT(names(), IsEmpty());
  EXPECT_EQ(table_.revision(), entries.size()) << "it has seen them";
}

TEST_F(ClusterTableTest, UnreadableOwnershipsAreSkippedAndCounted) {
  const std::vector<std::pair<std::string, std::string>> entries = {
      {"partitions/16384", "a.1 5"}, {"partitions/-1", "a.1 5"}, {"partitions/7x", "a.1 5"},
      {"partitions/", "a.1 5"},      {"partitions/7", ""},       {"partitions/7", "a.1"},
      {"partitions/7", "a.1 "},      {"partitions/7", "a.1 5x"}};
  for (std::size_t i = 0; i < entries.size(); ++i) {
    put(entries[i].first, entries[i].second, i + 1);
    EXPECT_EQ(table_.unreadable_count(), i + 1) << entries[i].first << ": " << entries[i].second;
  }
  EXPECT_EQ(owner(7).revision, 0U);
}

TEST_F(ClusterTableTest, KeysOfOthersAreNotItsConcern) {
  put("locks/a.1", "{", 1);
  remove("locks/a.1", 2);
  remove("partitions/9999", 3);
  EXPECT_EQ(table_.unreadable_count(), 0U);
  EXPECT_THAT(names(), IsEmpty());
}

TEST_F(ClusterTableTest, AViewNamesTheLiveOwners) {
  put("nodes/a.1", whole_node, 5);
  put("partitions/1", "a.1 5", 6);
  put("partitions/2", "a.1 4", 7);     // An earlier process under the same name.
  put("partitions/3", "gone.1 5", 8);  // A node that has left.
  const auto view = table_.view();
  ASSERT_EQ(view->groups().size(), 1U);
  const ClusterView::Owners& owners = view->groups()[0].owners;
  ASSERT_EQ(view->members().size(), 1U);
  EXPECT_EQ(owners[1].member, &view->members()[0]);
  EXPECT_EQ(owners[1].epoch, 6U);
  EXPECT_EQ(owners[2].member, nullptr);
  EXPECT_EQ(owners[2].epoch, 7U);
  EXPECT_EQ(owners[3].member, nullptr);
  EXPECT_EQ(owners[4].member, nullptr);
  EXPECT_EQ(owners[4].epoch, 0U);
  EXPECT_EQ(view->find_member(5), &view->members()[0]);
  EXPECT_THAT(view->groups()[0].pins, IsEmpty());
  EXPECT_EQ(view->find_member(4), nullptr);
}

TEST_F(ClusterTableTest, AViewDoesNotChangeWithTheTable) {
  put("nodes/a.1", whole_node, 5);
  put("partitions/1", "a.1 5", 6);
  const auto view = table_.view();
  put("partitions/1", "b.1 7", 8);
  remove("nodes/a.1", 9);
  ASSERT_EQ(view->members().size(), 1U);
  EXPECT_EQ(view->groups().at(0).owners[1].member, &view->members()[0]);
}

TEST_F(ClusterTableTest, AViewFindsTheGroupOfAType) {
  Member member = test::player_node("a", {.zone = "eu"});
  member.groups.push_back({.placement = {}, .types = {"game.Guild", "game.Hall"}});
  put("nodes/a.1", ClusterTable::to_value(member), 1);
  put(ClusterTable::partition_key({}, 0), "a.1 1", 2);
  put(ClusterTable::partition_key({.zone = "eu"}, 0), "a.1 1", 3);
  const auto view = table_.view();
  ASSERT_NE(view->find_group("game.Player"), nullptr);
  EXPECT_EQ(view->find_group("game.Player")->placement, (Placement{.zone = "eu"}));
  ASSERT_NE(view->find_group("game.Hall"), nullptr);
  EXPECT_EQ(view->find_group("game.Hall")->placement, Placement{});
  EXPECT_EQ(view->find_group("game.Lobby"), nullptr);
}

}  // namespace
}  // namespace corolane::framework::detail
