// SPDX-License-Identifier: MIT
#include "framework/cluster/detail/partition_keeper.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "coroutine/task.h"
#include "framework/cluster/placement.h"
#include "framework/directory/local_directory.h"
#include "test/framework/cluster/members.h"
#include "test/framework/directory/faulty_directory.h"

namespace corolane::framework::detail {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using Progress = PartitionKeeper::Progress;

// The objects of a node, which leave as the test says.
class ScriptedTenants final : public Tenants {
 public:
  std::vector<Partition> release(const Placement& /*placement*/,
                                 std::span<const Partition> partitions,
                                 Deadline deadline) override {
    released_at = now();
    releases.emplace_back(partitions.begin(), partitions.end());
    release_times.push_back(deadline.remaining());
    held.insert(partitions.begin(), partitions.end());
    if (on_release != nullptr) on_release();
    std::vector<Partition> kept;
    std::ranges::copy_if(partitions, std::back_inserter(kept),
                         [this](Partition partition) { return busy.contains(partition); });
    return kept;
  }
  void resume(const Placement& /*placement*/, std::span<const Partition> partitions) override {
    for (const Partition partition : partitions) held.erase(partition);
    if (on_resume != nullptr) on_resume();
  }

  std::set<Partition> busy;
  std::function<void()> on_release = nullptr;
  std::function<void()> on_resume = nullptr;
  TimePoint released_at{};
  std::vector<std::vector<Partition>> releases;
  std::vector<Duration> release_times;
  // Released and not resumed: calls of their objects wait.
  std::set<Partition> held;
};

// A node that reads the directory and acts on it only when the test says so.
class KeeperNode {
 public:
  // Enters the directory and reads it.
  KeeperNode(Directory& shared, std::string name, const Placement& placement = {},
             const PartitionKeeper::Options& options = {})
      : directory(shared), self(test::player_node(std::move(name), placement)) {
    test::enter(shared, self);
    keeper = std::make_unique<PartitionKeeper>(
        directory, table, self,
        std::vector<PartitionKeeper::Group>{{.placement = placement, .ownership = &ownership}},
        tenants, log_, options);
    fence_.set(TimePoint::max());
    read();
  }

  void read() {
    table.load(test::read_all(directory));
    keeper->adopt();
  }
  bool owns(Partition partition) const { return ownership.epoch(partition) != 0; }
  std::size_t owned_count() const { return keeper->owned_count(); }
  // Claims, then gives, as the two tasks of a node do at the same time.
  Progress step() {
    const bool is_all_claimed = keeper->claim_due();
    const Progress given = keeper->give_due();
    return given == Progress::all_done && !is_all_claimed ? Progress::stuck : given;
  }
  // Steps as long as there is more to do.
  Progress run() {
    for (;;) {
      const Progress progress = step();
      if (progress != Progress::more_to_do) return progress;
    }
  }

  test::FaultyDirectory directory;
  Member self;
  ClusterTable table;
  ScriptedTenants tenants;

 private:
  Log log_{LogLevel::error, [](std::string_view) {}};
  Fence fence_{now};

 public:
  Ownership ownership{fence_};
  std::unique_ptr<PartitionKeeper> keeper;
};

class PartitionKeeperTest : public testing::Test {
 protected:
  Directory::Entry entry(Partition partition, const Placement& placement = {}) const {
    return table_.find(ClusterTable::partition_key(placement, partition))
        .value_or(Directory::Entry());
  }
  static std::string value_of(const KeeperNode& node) {
    return ClusterTable::owner_value(ClusterTable::name_of(node.self), node.self.epoch);
  }
  // Writes an owner as another node does.
  void assign(Partition partition, const KeeperNode& node) {
    ASSERT_TRUE(table_.commit(
        {.puts = {{.key = ClusterTable::partition_key({}, partition), .value = value_of(node)}}},
        Deadline::never()));
  }
  std::size_t entry_count(const KeeperNode& node) {
    const auto snapshot = test::read_all(table_, "partitions/");
    return static_cast<std::size_t>(
        std::ranges::count(snapshot.entries, value_of(node), &Directory::Entry::value));
  }
  // "a" owns everything, and has read that "b" has come.
  void begin_move(const PartitionKeeper::Options& options = {}) {
    a_.emplace(table_, "a", Placement{}, options);
    ASSERT_EQ(a_->run(), Progress::all_done);
    b_.emplace(table_, "b");
    a_->read();
  }

  LocalDirectory table_{1'000};
  std::optional<KeeperNode> a_;
  std::optional<KeeperNode> b_;
};

TEST_F(PartitionKeeperTest, TheOnlyMemberClaimsEverything) {
  KeeperNode a(table_, "a");
  EXPECT_EQ(a.owned_count(), 0U);
  EXPECT_EQ(a.step(), Progress::all_done);
  EXPECT_EQ(a.owned_count(), partition_count_min);
  EXPECT_EQ(a.keeper->claimed_count(), partition_count_min);
  for (std::size_t i = 0; i < partition_count_min; ++i) {
    const auto partition = static_cast<Partition>(i);
    ASSERT_EQ(entry(partition).value, value_of(a));
    ASSERT_EQ(a.ownership.epoch(partition), entry(partition).modified_at);
  }
}

TEST_F(PartitionKeeperTest, AClaimIsATransactionOfAtMostSoManyPartitions) {
  KeeperNode a(table_, "a", {}, {.claim_count_max = 100});
  const TimePoint start = now();
  const auto revision = test::read_all(table_).revision;
  ASSERT_EQ(a.step(), Progress::all_done);
  EXPECT_EQ(test::read_all(table_).revision - revision, 11U);
  EXPECT_EQ(now() - start, 11ms) << "a request for each";
}

TEST_F(PartitionKeeperTest, MembersClaimTheirSharesOnly) {
  KeeperNode a(table_, "a");
  KeeperNode b(table_, "b");
  a.read();
  EXPECT_EQ(a.step(), Progress::all_done);
  EXPECT_EQ(b.step(), Progress::all_done);
  a.read();
  const std::vector<Member> members = {a.self, b.self};
  const auto targets = choose_owners(members, {});
  for (std::size_t i = 0; i < partition_count_min; ++i) {
    const auto partition = static_cast<Partition>(i);
    const bool is_of_a = targets[i]->name == "a";
    ASSERT_EQ(a.owns(partition), is_of_a);
    ASSERT_EQ(b.owns(partition), !is_of_a);
  }
}

TEST_F(PartitionKeeperTest, APlacementIsClaimedUnderItsOwnKeysByItsNodesOnly) {
  KeeperNode eu(table_, "eu", {.zone = "eu"});
  KeeperNode us(table_, "us", {.zone = "us"});
  eu.read();
  EXPECT_EQ(eu.run(), Progress::all_done);
  EXPECT_EQ(eu.owned_count(), partition_count_min);
  EXPECT_EQ(entry(7, {.zone = "eu"}).value, value_of(eu));
  EXPECT_EQ(entry(7, {.zone = "us"}).value, "");
  EXPECT_EQ(us.run(), Progress::all_done);
  EXPECT_EQ(us.owned_count(), partition_count_min);
}

TEST_F(PartitionKeeperTest, APartitionOfALiveMemberIsNotClaimed) {
  begin_move();
  KeeperNode late(table_, "late");
  EXPECT_EQ(late.step(), Progress::all_done);
  EXPECT_EQ(late.owned_count(), 0U);
  EXPECT_EQ(entry_count(*a_), partition_count_min);
}

TEST_F(PartitionKeeperTest, PartitionsOfAMemberThatIsGoneAreClaimed) {
  begin_move();
  test::vanish(table_, a_->self);
  b_->read();
  EXPECT_EQ(b_->step(), Progress::all_done);
  EXPECT_EQ(b_->owned_count(), partition_count_min);
}

// The names are equal: the epoch of the node tells them apart.
TEST_F(PartitionKeeperTest, PartitionsOfAnEarlierProcessOfItsNameAreClaimedAgain) {
  begin_move();
  const auto former = a_->ownership.epoch(7);
  test::vanish(table_, a_->self);
  test::vanish(table_, b_->self);
  KeeperNode again(table_, "a");
  EXPECT_EQ(again.owned_count(), 0U);
  EXPECT_EQ(again.step(), Progress::all_done);
  EXPECT_GT(again.ownership.epoch(7), former);
}

TEST_F(PartitionKeeperTest, AMemberWhoseKeyIsGoneClaimsNothing) {
  KeeperNode a(table_, "a");
  test::vanish(table_, a.self);
  a.step();
  EXPECT_EQ(a.owned_count(), 0U);
  EXPECT_THAT(test::read_all(table_, "partitions/").entries, IsEmpty());
}

// The watch is late: it has not told of the other owner yet.
TEST_F(PartitionKeeperTest, AClaimByAStaleTableSparesWhatHasAnOwnerAndTakesTheRest) {
  KeeperNode a(table_, "a");
  KeeperNode b(table_, "b");
  assign(40, b);
  EXPECT_EQ(a.step(), Progress::more_to_do) << "it has read of the other member, too";
  EXPECT_FALSE(a.owns(40));
  EXPECT_EQ(entry(40).value, value_of(b));
  EXPECT_EQ(a.keeper->claimed_count(), a.owned_count() + a.keeper->given_count());
  EXPECT_GT(a.owned_count(), partition_count_min / 3) << "the other member has a share, too";
}

TEST_F(PartitionKeeperTest, AClaimIsRefusedWhileTheFormerOwnerIsThere) {
  begin_move();
  // "b" has heard by mistake that "a" is gone.
  b_->read();
  b_->table.apply({.entry = {.key = test::node_key(a_->self), .modified_at = b_->table.revision()},
                   .is_removed = true});
  b_->step();
  EXPECT_EQ(b_->owned_count(), 0U);
  EXPECT_EQ(entry_count(*a_), partition_count_min);
  EXPECT_NE(b_->table.find(ClusterTable::name_of(a_->self)), nullptr) << "it has looked again";
}

TEST_F(PartitionKeeperTest, AClaimWithoutAnAnswerIsLookedUp) {
  KeeperNode a(table_, "a");
  a.directory.loses_answers = true;
  EXPECT_EQ(a.step(), Progress::stuck);
  EXPECT_EQ(a.owned_count(), 0U);
  a.directory.loses_answers = false;
  // They are its own: nothing is left to claim once it has read them.
  a.read();
  EXPECT_EQ(a.owned_count(), partition_count_min);
  EXPECT_EQ(a.step(), Progress::all_done);
  EXPECT_EQ(a.keeper->claimed_count(), 0U);
}

TEST_F(PartitionKeeperTest, AnUnreachableDirectoryIsTriedAgain) {
  KeeperNode a(table_, "a", {}, {.claim_count_max = 100, .commit_time_max = 2s});
  a.directory.cut();
  const TimePoint start = now();
  EXPECT_EQ(a.step(), Progress::stuck);
  EXPECT_EQ(now() - start, 44s) << "eleven claims, and a look after each";
  a.directory.mend();
  EXPECT_EQ(a.step(), Progress::all_done);
}

TEST_F(PartitionKeeperTest, AnOwnershipEndsWhenTheTableNamesAnother) {
  begin_move();
  assign(40, *b_);
  EXPECT_TRUE(a_->owns(40)) << "it has not heard of that";
  a_->read();
  EXPECT_FALSE(a_->owns(40));
  EXPECT_EQ(a_->owned_count(), partition_count_min - 1);
}

TEST_F(PartitionKeeperTest, AStepHandsOverSomePartitionsOfTheNewMember) {
  begin_move({.hand_over_count_max = 16});
  const std::size_t to_give_count = a_->keeper->to_give_count();
  EXPECT_NEAR(static_cast<double>(to_give_count), 512, 60);
  EXPECT_EQ(a_->step(), Progress::more_to_do);
  EXPECT_EQ(a_->keeper->given_count(), 16U);
  EXPECT_EQ(a_->keeper->to_give_count(), to_give_count - 16);
  EXPECT_EQ(entry_count(*b_), 16U);
  ASSERT_THAT(a_->tenants.releases, ElementsAre(SizeIs(16)));
  for (const Partition partition : a_->tenants.releases[0]) {
    EXPECT_EQ(entry(partition).value, value_of(*b_));
    EXPECT_FALSE(a_->owns(partition)) << "it does not wait for the watch";
  }
  EXPECT_THAT(a_->tenants.held, IsEmpty());
}

TEST_F(PartitionKeeperTest, AllStepsTogetherHandOverTheShareOfTheNewMember) {
  begin_move();
  EXPECT_EQ(a_->run(), Progress::all_done);
  EXPECT_EQ(a_->keeper->to_give_count(), 0U);
  b_->read();
  EXPECT_EQ(b_->step(), Progress::all_done);
  const std::vector<Member> members = {a_->self, b_->self};
  const auto targets = choose_owners(members, {});
  for (std::size_t i = 0; i < partition_count_min; ++i) {
    const auto partition = static_cast<Partition>(i);
    const bool is_of_a = targets[i]->name == "a";
    ASSERT_EQ(a_->owns(partition), is_of_a);
    ASSERT_EQ(b_->owns(partition), !is_of_a);
  }
}

TEST_F(PartitionKeeperTest, ADrainingMemberHandsOverEverything) {
  begin_move();
  ASSERT_TRUE(table_.commit(
      {.puts = {{.key = ClusterTable::draining_key(ClusterTable::name_of(a_->self))}}},
      Deadline::never()));
  a_->read();
  EXPECT_EQ(a_->keeper->to_give_count(), partition_count_min);
  EXPECT_EQ(a_->run(), Progress::all_done);
  EXPECT_EQ(a_->owned_count(), 0U);
  EXPECT_EQ(entry_count(*b_), partition_count_min);
}

TEST_F(PartitionKeeperTest, PartitionsThatNoOtherNodeMayHostStay) {
  KeeperNode eu(table_, "eu", {.zone = "eu"});
  ASSERT_EQ(eu.run(), Progress::all_done);
  KeeperNode us(table_, "us", {.zone = "us"});
  ASSERT_TRUE(
      table_.commit({.puts = {{.key = ClusterTable::draining_key(ClusterTable::name_of(eu.self))}}},
                    Deadline::never()));
  eu.read();
  EXPECT_EQ(eu.keeper->to_give_count(), 0U);
  EXPECT_EQ(eu.run(), Progress::all_done);
  EXPECT_EQ(eu.owned_count(), partition_count_min);
}

TEST_F(PartitionKeeperTest, ABusyPartitionStaysAndTheOthersOfItsBatchGo) {
  begin_move({.hand_over_count_max = 16});
  a_->tenants.on_release = [&] {
    const Partition first = a_->tenants.releases.back().front();
    if (a_->tenants.busy.empty()) a_->tenants.busy.insert(first);
  };
  EXPECT_EQ(a_->step(), Progress::more_to_do);
  const Partition busy = *a_->tenants.busy.begin();
  EXPECT_TRUE(a_->owns(busy));
  EXPECT_EQ(entry(busy).value, value_of(*a_));
  EXPECT_EQ(entry_count(*b_), 15U);
  EXPECT_THAT(a_->tenants.held, IsEmpty());
}

TEST_F(PartitionKeeperTest, ABusyPartitionIsTriedAloneAndWithGrowingPatience) {
  begin_move({.hand_over_count_max = 100, .release_time_min = 20ms, .release_time_max = 100ms});
  const std::vector<Member> members = {a_->self, b_->self};
  const auto targets = choose_owners(members, {});
  const auto busy = static_cast<Partition>(
      std::ranges::find_if(targets, [](const Member* target) { return target->name == "b"; }) -
      targets.begin());
  a_->tenants.busy = {busy};
  EXPECT_EQ(a_->step(), Progress::more_to_do);
  TimePoint tried_at = a_->tenants.released_at;
  EXPECT_EQ(a_->run(), Progress::stuck) << "all others have been handed over meanwhile";
  a_->tenants.release_times.clear();
  for (const Duration pause : {20ms, 40ms, 80ms, 100ms, 100ms}) {
    const std::size_t count = a_->tenants.releases.size();
    ASSERT_TRUE(coroutine::sleep_until(Deadline::at(tried_at + pause - 1ms)));
    EXPECT_EQ(a_->step(), Progress::stuck);
    EXPECT_THAT(a_->tenants.releases, SizeIs(count)) << "it serves as long as it was blocked";
    ASSERT_TRUE(coroutine::sleep_until(Deadline::at(tried_at + pause)));
    tried_at = now();
    EXPECT_EQ(a_->step(), Progress::stuck);
    ASSERT_THAT(a_->tenants.releases, SizeIs(count + 1));
    EXPECT_THAT(a_->tenants.releases.back(), ElementsAre(busy));
  }
  EXPECT_THAT(a_->tenants.release_times, ElementsAre(40ms, 80ms, 100ms, 100ms, 100ms));
  a_->tenants.busy.clear();
  ASSERT_TRUE(coroutine::sleep_for(100ms));
  EXPECT_EQ(a_->step(), Progress::all_done);
  EXPECT_EQ(entry(busy).value, value_of(*b_));
}

TEST_F(PartitionKeeperTest, AHandOverToANodeThatHasLeftChangesNothing) {
  begin_move();
  a_->tenants.on_release = [&] { test::vanish(table_, b_->self); };
  EXPECT_EQ(a_->step(), Progress::stuck);
  EXPECT_EQ(entry_count(*a_), partition_count_min);
  EXPECT_EQ(a_->owned_count(), partition_count_min);
  EXPECT_THAT(a_->tenants.held, IsEmpty());
  EXPECT_EQ(a_->step(), Progress::all_done) << "it has read that nothing is to be given";
}

// The table may be read again while the objects leave.
TEST_F(PartitionKeeperTest, APartitionThatWasLostDuringItsReleaseIsNotHandedOver) {
  begin_move({.hand_over_count_max = 16});
  KeeperNode c(table_, "c");
  a_->tenants.on_release = [&] {
    assign(a_->tenants.releases.back().front(), c);
    a_->read();
  };
  EXPECT_EQ(a_->step(), Progress::more_to_do);
  EXPECT_EQ(entry(a_->tenants.releases.back().front()).value, value_of(c));
  EXPECT_EQ(entry_count(*b_), 15U);
  EXPECT_EQ(a_->keeper->given_count(), 15U);
}

// The watch has not told of the other owner: the transaction finds it.
TEST_F(PartitionKeeperTest, AHandOverIsRefusedWhenAPartitionHasAnotherOwner) {
  begin_move({.hand_over_count_max = 16});
  KeeperNode c(table_, "c");
  a_->tenants.on_release = [&] { assign(a_->tenants.releases.back().front(), c); };
  EXPECT_EQ(a_->step(), Progress::stuck);
  EXPECT_EQ(entry(a_->tenants.releases.back().front()).value, value_of(c));
  EXPECT_EQ(entry_count(*b_), 0U);
  EXPECT_FALSE(a_->owns(a_->tenants.releases.back().front())) << "it has looked again";
  EXPECT_THAT(a_->tenants.held, IsEmpty());
}

TEST_F(PartitionKeeperTest, AHandOverWithoutAnAnswerBlocksItsCallsUntilItIsDecided) {
  begin_move({.hand_over_count_max = 16});
  a_->tenants.on_release = [&] { a_->directory.loses_answers = true; };
  EXPECT_EQ(a_->step(), Progress::stuck);
  EXPECT_THAT(a_->tenants.held, SizeIs(16));
  EXPECT_EQ(a_->step(), Progress::stuck);
  EXPECT_THAT(a_->tenants.held, SizeIs(16));
  EXPECT_THAT(a_->tenants.releases, SizeIs(1)) << "nothing else moves meanwhile";
  a_->tenants.on_release = nullptr;
  a_->directory.loses_answers = false;
  EXPECT_EQ(a_->step(), Progress::more_to_do);
  EXPECT_THAT(a_->tenants.held, IsEmpty());
  for (const Partition partition : a_->tenants.releases[0]) {
    EXPECT_FALSE(a_->owns(partition)) << "the hand-over had been made";
    EXPECT_EQ(entry(partition).value, value_of(*b_));
  }
}

TEST_F(PartitionKeeperTest, AHandOverThatNeverArrivedIsTakenBackUnderANewEpoch) {
  begin_move({.hand_over_count_max = 16, .commit_time_max = 2s});
  a_->tenants.on_release = [&] { a_->directory.cut(); };
  EXPECT_EQ(a_->step(), Progress::stuck);
  a_->tenants.on_release = nullptr;
  const std::vector<Partition> moving = a_->tenants.releases.at(0);
  const auto former = a_->ownership.epoch(moving[0]);
  a_->directory.mend();
  EXPECT_EQ(a_->step(), Progress::more_to_do);
  EXPECT_GT(entry(moving[0]).modified_at, former);
  EXPECT_THAT(a_->tenants.held, IsEmpty());
  EXPECT_THAT(a_->tenants.releases.at(1), Contains(moving[0])) << "it is tried again at once";
}

// Otherwise this node would serve, and the late transaction make another one the owner.
TEST_F(PartitionKeeperTest, AHandOverThatArrivesAfterItsEndIsRefused) {
  begin_move({.hand_over_count_max = 16, .commit_time_max = 2s});
  a_->tenants.on_release = [&] { a_->directory.commits_late_by = 3s; };
  auto next_arrive_in_time = coroutine::spawn("faults", [&]() -> Result<void> {
    if (auto slept = coroutine::sleep_for(1s); !slept) return slept;
    a_->directory.commits_late_by = {};
    return {};
  });
  const TimePoint start = now();
  EXPECT_EQ(a_->step(), Progress::stuck);
  EXPECT_EQ(now() - start, 2'001ms);
  EXPECT_THAT(a_->tenants.held, IsEmpty()) << "the hand-over is decided";
  EXPECT_EQ(a_->owned_count(), partition_count_min);
  ASSERT_TRUE(coroutine::sleep_for(2s));
  EXPECT_EQ(entry_count(*a_), partition_count_min);
  for (const Partition partition : a_->tenants.releases.at(0)) {
    EXPECT_EQ(a_->ownership.epoch(partition), entry(partition).modified_at);
  }
  EXPECT_TRUE(next_arrive_in_time.join(Deadline::never()));
}

TEST_F(PartitionKeeperTest, ClaimsGoOnWhileAHandOverIsUnderWay) {
  begin_move({.hand_over_count_max = 16});
  ASSERT_EQ(a_->run(), Progress::all_done);
  b_->read();
  ASSERT_EQ(b_->run(), Progress::all_done);
  // "c" comes, and while "a" releases partitions for it, "b" goes.
  KeeperNode c(table_, "c");
  a_->read();
  bool is_claimed = false;
  a_->tenants.on_release = [&] {
    test::vanish(table_, b_->self);
    a_->read();
    EXPECT_TRUE(a_->keeper->claim_due());
    is_claimed = a_->keeper->claimed_count() > partition_count_min;
  };
  EXPECT_EQ(a_->keeper->give_due(), Progress::more_to_do);
  EXPECT_TRUE(is_claimed);
  EXPECT_EQ(entry_count(c), 16U) << "the hand-over went on";
  a_->tenants.on_release = nullptr;
  a_->run();
  EXPECT_EQ(entry_count(*a_) + entry_count(*b_) + entry_count(c), partition_count_min);
}

// Otherwise the calls of a partition that is ours again would go on waiting, or a hand-over that
// takes effect late would take away what has been claimed.
TEST_F(PartitionKeeperTest, APartitionOnItsWayIsNotClaimedBeforeItsHandOverIsDecided) {
  begin_move({.hand_over_count_max = 16});
  a_->tenants.on_release = [&] { a_->directory.loses_answers = true; };
  ASSERT_EQ(a_->keeper->give_due(), Progress::stuck);
  a_->tenants.on_release = nullptr;
  a_->directory.loses_answers = false;
  // It has been made, but "a" does not know that, and the new owner goes.
  ASSERT_EQ(entry_count(*b_), 16U);
  test::vanish(table_, b_->self);
  a_->read();
  EXPECT_TRUE(a_->keeper->claim_due());
  EXPECT_EQ(entry_count(*b_), 16U);
  EXPECT_THAT(a_->tenants.held, SizeIs(16));

  EXPECT_EQ(a_->keeper->give_due(), Progress::all_done);
  EXPECT_THAT(a_->tenants.held, IsEmpty());
  EXPECT_EQ(entry_count(*b_), 16U) << "it is decided, and not claimed yet";
  EXPECT_TRUE(a_->keeper->claim_due());
  EXPECT_EQ(entry_count(*a_), partition_count_min);
  EXPECT_EQ(a_->owned_count(), partition_count_min);
}

// A claim that ends meanwhile makes the table newer than what is read, and says nothing of the
// hand-over. The partitions would then be served by both nodes, until the watch tells.
TEST_F(PartitionKeeperTest, ADecisionIsReadAlsoWhenTheTableHasBecomeNewerMeanwhile) {
  begin_move({.hand_over_count_max = 16});
  a_->tenants.on_release = [&] { a_->directory.loses_answers = true; };
  ASSERT_EQ(a_->keeper->give_due(), Progress::stuck);
  a_->tenants.on_release = nullptr;
  a_->directory.loses_answers = false;
  const std::vector<Partition> given = a_->tenants.releases.at(0);
  a_->directory.delay = 10ms;
  auto meanwhile = coroutine::spawn("a claim", [&]() -> Result<void> {
    // The list of the directory, after the refused commit, is made after 15 ms.
    if (auto slept = coroutine::sleep_for(17ms); !slept) return slept;
    const auto made = table_.commit({.puts = {{.key = "draining/nobody"}}}, Deadline::never());
    a_->table.apply({.entry = {.key = "draining/nobody",
                               .created_at = made->revision,
                               .modified_at = made->revision}});
    return {};
  });
  bool is_resumed = false;
  a_->tenants.on_resume = [&] {
    if (std::exchange(is_resumed, true)) return;
    for (const Partition partition : given) {
      EXPECT_FALSE(a_->owns(partition)) << "the hand-over had been made";
    }
  };
  a_->keeper->give_due();
  EXPECT_TRUE(is_resumed);
  EXPECT_TRUE(meanwhile.join(Deadline::never()));
}

TEST_F(PartitionKeeperTest, AFencedNodeDoesNotTakeBackWhatItReleased) {
  begin_move({.hand_over_count_max = 16});
  a_->tenants.on_release = [&] { a_->directory.cut(); };
  EXPECT_EQ(a_->step(), Progress::stuck);
  a_->tenants.on_release = nullptr;
  test::vanish(table_, a_->self);
  b_->read();
  ASSERT_EQ(b_->step(), Progress::all_done);
  a_->directory.mend();
  a_->step();
  EXPECT_EQ(entry_count(*b_), partition_count_min);
  for (const Partition partition : a_->tenants.releases[0]) EXPECT_FALSE(a_->owns(partition));
  EXPECT_EQ(a_->table.find(ClusterTable::name_of(a_->self)), nullptr) << "it knows that it is out";
}

}  // namespace
}  // namespace corolane::framework::detail
