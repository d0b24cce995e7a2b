// SPDX-License-Identifier: MIT
#include "framework/cluster/cluster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "coroutine/task.h"
#include "coroutine/testing/matchers.h"
#include "coroutine/wait_queue.h"
#include "framework/cluster/detail/fence_watchdog.h"
#include "framework/directory/local_directory.h"
#include "test/framework/cluster/members.h"
#include "test/framework/directory/faulty_directory.h"

namespace corolane::framework {
namespace {

using namespace std::chrono_literals;
using detail::FenceWatchdog;
using test::FaultyDirectory;

// A node without objects.
class TestNode final : private Cluster::Tenants {
 public:
  TestNode(Directory& table, std::string name, const Placement& placement = {})
      : TestNode(table, test::player_node(std::move(name), placement), placement) {}
  TestNode(Directory& table, Member self, const Placement& placement = {})
      : directory(table),
        cluster_(std::make_unique<Cluster>(directory, fence, std::move(self),
                                           std::vector<detail::PartitionKeeper::Group>{
                                               {.placement = placement, .ownership = &ownership}},
                                           static_cast<Cluster::Tenants&>(*this), log_,
                                           Cluster::Options{})) {}

  Cluster& cluster() { return *cluster_; }
  void start() {
    const auto started = cluster_->start(Deadline::after(5s));
    ASSERT_TRUE(started) << started;
  }
  // Simulates kill -9: the other nodes get no notice.
  void crash() {
    directory.cut();
    cluster_->stop(Deadline::passed());
    cluster_.reset();
  }

  std::size_t owned_count() const {
    std::size_t count = 0;
    for (std::size_t i = 0; i < partition_count_min; ++i) {
      if (owns(static_cast<Partition>(i))) ++count;
    }
    return count;
  }
  bool owns(Partition partition) const {
    return ownership.holds(partition, ownership.epoch(partition));
  }

  // What the other nodes have told of the directory, in place of a store.
  std::function<DirectoryMark(const DirectoryMark& mark)> noted = [](const DirectoryMark& mark) {
    return mark;
  };
  FaultyDirectory directory;
  Fence fence{now};
  Ownership ownership{fence};
  std::set<Partition> released;
  std::set<Partition> busy;  // Partitions that are not released.
  bool doubts_as_it_releases = false;
  std::size_t view_count = 0;  // Views that it has published.
  // The time that a release or a drop takes, whether or not it is cancelled.
  Duration release_lasts{};
  Duration drop_lasts{};

 private:
  std::vector<Partition> release(const Placement&, std::span<const Partition> partitions,
                                 Deadline deadline) override {
    released.insert(partitions.begin(), partitions.end());
    std::vector<Partition> kept;
    std::ranges::copy_if(partitions, std::back_inserter(kept),
                         [this](Partition partition) { return busy.contains(partition); });
    if (!kept.empty()) static_cast<void>(coroutine::sleep_until(deadline));
    if (doubts_as_it_releases) {
      cluster_->doubt({}, partitions.front());
      static_cast<void>(coroutine::sleep_for(10ms));
    }
    last_at_least(release_lasts);
    return kept;
  }
  void resume(const Placement&, std::span<const Partition> partitions) override {
    for (const Partition partition : partitions) released.erase(partition);
  }
  void drop_all() override { last_at_least(drop_lasts); }
  Result<DirectoryMark> admit(const DirectoryMark& mark, Deadline) override { return noted(mark); }
  static void last_at_least(Duration time) {
    coroutine::WaitQueue never("the end of a handler");
    const Deadline deadline = Deadline::after(time);
    while (!deadline.has_passed()) never.wait(deadline, coroutine::Cancellation::ignore);
  }
  void view_changed(const std::shared_ptr<const ClusterView>&) override { ++view_count; }

  Log log_{LogLevel::error, [](std::string_view) {}};
  std::unique_ptr<Cluster> cluster_;
};

class ClusterTest : public testing::Test {
 protected:
  std::unique_ptr<TestNode> make(std::string name) {
    auto node = std::make_unique<TestNode>(table_, std::move(name));
    node->start();
    return node;
  }

  // Whether each partition has exactly one owner among the nodes.
  template <typename... Nodes>
  static bool is_shared_out(const Nodes&... nodes) {
    for (std::size_t i = 0; i < partition_count_min; ++i) {
      if ((static_cast<int>(nodes->owns(static_cast<Partition>(i))) + ...) != 1) return false;
    }
    return true;
  }
  template <typename... Nodes>
  static void expect_shared_out_within(Duration time, const Nodes&... nodes) {
    const Deadline deadline = Deadline::after(time);
    while (!is_shared_out(nodes...) && !deadline.has_passed()) {
      ASSERT_TRUE(coroutine::sleep_for(10ms));
    }
    EXPECT_TRUE(is_shared_out(nodes...));
  }

  LocalDirectory table_{1'000};
};

TEST_F(ClusterTest, TheFirstNodeOwnsEverything) {
  auto a = make("a");
  ASSERT_TRUE(a->cluster().wait_until_settled(Deadline::after(1s)));
  EXPECT_EQ(a->owned_count(), partition_count_min);
}

// The store has heard of a change that this node's snapshot is too old to have.
TEST_F(ClusterTest, ANodeJoinsWhenAnotherOneHasSeenALaterRevisionMeanwhile) {
  auto a = make("a");
  TestNode b(table_, "b");
  b.noted = [&](DirectoryMark mark) {
    const auto put = table_.commit({.puts = {{.key = "news", .value = "1"}}}, Deadline::never());
    EXPECT_TRUE(put);
    mark.revision = put->revision;
    return mark;
  };
  b.start();
  ASSERT_TRUE(coroutine::sleep_for(2min));
  EXPECT_EQ(b.cluster().statistics().fence_count, 0U);
  EXPECT_EQ(b.cluster().statistics().refusal_count, 0U);
}

TEST_F(ClusterTest, ADirectoryBehindWhatIsNotedIsRefused) {
  TestNode node(table_, "a");
  node.noted = [](DirectoryMark mark) {
    mark.revision += 1'000;
    return mark;
  };
  EXPECT_THAT(node.cluster().start(Deadline::after(5s)),
              test::fails_with(Code::failed_precondition));
  EXPECT_EQ(node.cluster().statistics().refusal_count, 1U);
}

TEST_F(ClusterTest, ANodeOfAnotherStoreIsRefused) {
  auto a = make("a");
  Member wide = test::player_node("b");
  wide.partition_count = 4'096;
  TestNode b(table_, wide);
  const auto started = b.cluster().start(Deadline::after(5s));
  EXPECT_THAT(started, test::fails_with(Code::failed_precondition));
  EXPECT_THAT(started.error().message(), testing::HasSubstr("1024 partitions"));
  EXPECT_EQ(test::read_all(table_, "nodes/").entries.size(), 1U);
}

// The other one has looked before this one was there.
TEST_F(ClusterTest, OfTwoNodesThatJoinAtTheSameTimeAMisfitLeaves) {
  Member other = test::player_node("b");
  other.groups.front().affinities = {{"game.Player", "player"}};
  TestNode b(table_, other);
  b.directory.delay = 10ms;
  Member earlier = test::player_node("a");
  auto enters = coroutine::spawn("a enters", [&] {
    while (b.directory.list_count == 0) ASSERT_TRUE(coroutine::sleep_for(1ms));
    ASSERT_TRUE(coroutine::sleep_for(b.directory.delay));
    test::enter(table_, earlier);
  });
  const auto started = b.cluster().start(Deadline::after(5s));
  EXPECT_TRUE(enters.join(Deadline::never()));
  EXPECT_THAT(started, test::fails_with(Code::failed_precondition));
  EXPECT_EQ(test::read_all(table_, "nodes/").entries.size(), 1U) << "it has left";
  EXPECT_EQ(b.owned_count(), 0U);
}

TEST_F(ClusterTest, ANodeLeavesADirectoryThatFallsBehindWhatIsNoted) {
  auto a = make("a");
  ASSERT_TRUE(a->cluster().wait_until_settled(Deadline::after(1s)));
  a->noted = [](DirectoryMark mark) {
    mark.revision += 1'000;
    return mark;
  };
  ASSERT_TRUE(coroutine::sleep_for(1min));
  EXPECT_EQ(a->cluster().statistics().fence_count, 1U);
  EXPECT_EQ(a->owned_count(), 0U);
  EXPECT_GT(a->cluster().statistics().refusal_count, 1U);
}

TEST_F(ClusterTest, ANewNodeTakesItsShareFromTheOthers) {
  auto a = make("a");
  ASSERT_TRUE(a->cluster().wait_until_settled(Deadline::after(1s)));
  auto b = make("b");
  auto c = make("c");
  expect_shared_out_within(10s, a, b, c);
  ASSERT_TRUE(coroutine::sleep_for(5s));
  EXPECT_TRUE(is_shared_out(a, b, c));
  for (const auto* node : {a.get(), b.get(), c.get()}) {
    EXPECT_NEAR(static_cast<double>(node->owned_count()), 341, 60);
    EXPECT_TRUE(node->released.empty());
  }
}

TEST_F(ClusterTest, PartitionsOfACrashedNodeAreTakenOverWhenItsLeaseExpires) {
  auto a = make("a");
  auto b = make("b");
  ASSERT_TRUE(coroutine::sleep_for(10s));
  b->crash();
  expect_shared_out_within(8s, a);
}

TEST_F(ClusterTest, ANodeCutOffFromTheDirectoryStopsServingBeforeAnotherNodeOwns) {
  auto a = make("a");
  auto b = make("b");
  ASSERT_TRUE(coroutine::sleep_for(10s));
  ASSERT_TRUE(is_shared_out(a, b));
  b->directory.cut();
  const TimePoint cut_at = now();
  while (b->owned_count() > 0) {
    ASSERT_TRUE(coroutine::sleep_for(1ms));
    for (std::size_t i = 0; i < partition_count_min; ++i) {
      const auto partition = static_cast<Partition>(i);
      ASSERT_FALSE(a->owns(partition) && b->owns(partition));
    }
  }
  EXPECT_LE(now() - cut_at, 4600ms);
  expect_shared_out_within(4s, a);
  b->directory.mend();
  ASSERT_TRUE(coroutine::sleep_for(10s));
  EXPECT_TRUE(is_shared_out(a, b));
  EXPECT_EQ(b->cluster().statistics().join_count, 2U);
}

TEST_F(ClusterTest, AShortOutageOfTheDirectoryIsInvisible) {
  auto a = make("a");
  ASSERT_TRUE(a->cluster().wait_until_settled(Deadline::after(1s)));
  a->directory.cut();
  for (int i = 0; i < 300; ++i) {
    ASSERT_TRUE(coroutine::sleep_for(10ms));
    ASSERT_EQ(a->owned_count(), partition_count_min);
  }
  a->directory.mend();
  ASSERT_TRUE(coroutine::sleep_for(10s));
  EXPECT_EQ(a->owned_count(), partition_count_min);
  EXPECT_EQ(a->cluster().statistics().fence_count, 0U);
}

TEST_F(ClusterTest, APinnedPartitionMovesToItsNodeAlone) {
  auto a = make("a");
  auto b = make("b");
  ASSERT_TRUE(coroutine::sleep_for(20s));
  ASSERT_TRUE(is_shared_out(a, b));
  const std::size_t share = b->owned_count();
  Partition moving = 0;
  while (!a->owns(moving)) ++moving;
  // Any node may be asked.
  ASSERT_TRUE(b->cluster().pin({}, moving, Pin{.node = "b"}, Deadline::after(1s)));
  ASSERT_TRUE(coroutine::sleep_for(200ms));
  EXPECT_TRUE(b->owns(moving));
  EXPECT_TRUE(is_shared_out(a, b));
  EXPECT_EQ(b->owned_count(), share + 1);
  EXPECT_EQ(a->cluster().view()->groups()[0].pins, (Pins{{moving, {.node = "b"}}}));

  ASSERT_TRUE(a->cluster().pin({}, moving, std::nullopt, Deadline::after(1s)));
  ASSERT_TRUE(coroutine::sleep_for(200ms));
  EXPECT_TRUE(a->owns(moving));
  EXPECT_THAT(b->cluster().view()->groups()[0].pins, testing::IsEmpty());
}

TEST_F(ClusterTest, APinOutlivesTheRestartOfItsNode) {
  auto a = make("a");
  auto b = make("b");
  ASSERT_TRUE(coroutine::sleep_for(20s));
  Partition moving = 0;
  while (!a->owns(moving)) ++moving;
  ASSERT_TRUE(a->cluster().pin({}, moving, Pin{.node = "b"}, Deadline::after(1s)));
  ASSERT_TRUE(coroutine::sleep_for(200ms));
  b->crash();
  ASSERT_TRUE(coroutine::sleep_for(10s));
  EXPECT_TRUE(a->owns(moving)) << "the node is gone";
  b = make("b");
  ASSERT_TRUE(coroutine::sleep_for(20s));
  EXPECT_TRUE(b->owns(moving));
}

TEST_F(ClusterTest, ANodeOutsideTheClusterPinsNothing) {
  auto a = make("a");
  a->directory.cut();
  EXPECT_FALSE(a->cluster().pin({}, 7, Pin{.node = "a"}, Deadline::after(1s)));
  ASSERT_TRUE(coroutine::sleep_for(10s));
  a->directory.mend();
  EXPECT_EQ(a->cluster().pin({}, 7, Pin{.node = "a"}, Deadline::after(1s)).error().code(),
            Code::failed_precondition)
      << "its key is gone, and it has not joined again yet";
}

TEST_F(ClusterTest, ADrainedNodeOwnsNothing) {
  auto a = make("a");
  auto b = make("b");
  auto c = make("c");
  ASSERT_TRUE(coroutine::sleep_for(10s));
  ASSERT_TRUE(is_shared_out(a, b, c));
  std::size_t last = partition_count_min;
  const std::size_t list_count = b->directory.list_count;
  const auto drained = b->cluster().drain(Deadline::after(5s), [&](std::size_t left) {
    EXPECT_LE(left, last);
    last = left;
  });
  EXPECT_TRUE(drained) << drained;
  EXPECT_EQ(b->directory.list_count, list_count) << "it knows the rest";
  EXPECT_EQ(b->owned_count(), 0U);
  expect_shared_out_within(1s, a, c);
}

TEST_F(ClusterTest, TheLastNodeDrainsWithoutASuccessor) {
  auto a = make("a");
  ASSERT_TRUE(a->cluster().wait_until_settled(Deadline::after(1s)));
  EXPECT_TRUE(a->cluster().drain(Deadline::after(5s), [](std::size_t) {}));
  EXPECT_EQ(a->owned_count(), partition_count_min);
}

TEST_F(ClusterTest, LostAnswersLeaveEachPartitionWithExactlyOneOwner) {
  auto a = make("a");
  ASSERT_TRUE(a->cluster().wait_until_settled(Deadline::after(1s)));
  auto b = make("b");
  a->directory.loses_answers = true;
  ASSERT_TRUE(coroutine::sleep_for(1s));
  a->directory.loses_answers = false;
  for (int i = 0; i < 1'000; ++i) {
    ASSERT_TRUE(coroutine::sleep_for(10ms));
    for (std::size_t j = 0; j < partition_count_min; ++j) {
      const auto partition = static_cast<Partition>(j);
      ASSERT_FALSE(a->owns(partition) && b->owns(partition));
    }
  }
  EXPECT_TRUE(is_shared_out(a, b));
  EXPECT_TRUE(a->released.empty());
}

TEST_F(ClusterTest, ALateHandOverCommitLeavesNoPartitionWithTwoOwners) {
  auto a = make("a");
  ASSERT_TRUE(a->cluster().wait_until_settled(Deadline::after(1s)));
  a->directory.commits_late_by = 3s;
  auto b = make("b");
  ASSERT_TRUE(coroutine::sleep_for(100ms));
  a->directory.commits_late_by = {};
  a->directory.is_deaf = true;
  // Keeps it from retrying.
  for (std::size_t i = 0; i < partition_count_min; ++i) a->busy.insert(static_cast<Partition>(i));
  for (int i = 0; i < 1'000; ++i) {
    ASSERT_TRUE(coroutine::sleep_for(10ms));
    for (std::size_t j = 0; j < partition_count_min; ++j) {
      const auto partition = static_cast<Partition>(j);
      ASSERT_FALSE(a->owns(partition) && b->owns(partition)) << "after " << i << " looks";
    }
  }
  a->directory.is_deaf = false;
  a->busy.clear();
  ASSERT_TRUE(coroutine::sleep_for(40s));
  EXPECT_TRUE(is_shared_out(a, b));
  EXPECT_GT(b->owned_count(), 400U);
  EXPECT_TRUE(a->released.empty());
}

TEST_F(ClusterTest, TheOwnerMayBeReadAgainInTheMiddleOfItsHandOver) {
  auto a = make("a");
  ASSERT_TRUE(a->cluster().wait_until_settled(Deadline::after(1s)));
  a->doubts_as_it_releases = true;
  auto b = make("b");
  ASSERT_TRUE(coroutine::sleep_for(20s));
  EXPECT_TRUE(is_shared_out(a, b));
  EXPECT_GT(b->owned_count(), 400U);
  EXPECT_GT(a->cluster().statistics().look_up_count, 10U);
}

TEST_F(ClusterTest, ABusyPartitionStaysAndDelaysNoOther) {
  auto a = make("a");
  ASSERT_TRUE(a->cluster().wait_until_settled(Deadline::after(1s)));
  for (Partition partition = 0; partition < partition_count_min; partition += 50) {
    a->busy.insert(partition);
  }
  auto b = make("b");
  ASSERT_TRUE(coroutine::sleep_for(20s));
  EXPECT_TRUE(is_shared_out(a, b));
  EXPECT_NEAR(static_cast<double>(b->owned_count()), 502, 60);
  for (const Partition partition : a->busy) EXPECT_TRUE(a->owns(partition));
  // At most one busy partition at a time is being released; the others are served.
  EXPECT_LE(a->released.size(), 1U);
  const std::size_t before = b->owned_count();
  a->busy.clear();
  ASSERT_TRUE(coroutine::sleep_for(10s));
  EXPECT_TRUE(is_shared_out(a, b));
  EXPECT_GT(b->owned_count(), before);
  EXPECT_TRUE(a->released.empty());
}

TEST_F(ClusterTest, ANodeWhoseKeyIsRemovedStopsServingAndRejoins) {
  auto a = make("a");
  auto b = make("b");
  ASSERT_TRUE(coroutine::sleep_for(10s));
  test::vanish(table_, b->cluster().self());
  for (int i = 0; i < 5'000; ++i) {
    ASSERT_TRUE(coroutine::sleep_for(1ms));
    for (std::size_t j = 0; j < partition_count_min; ++j) {
      const auto partition = static_cast<Partition>(j);
      ASSERT_FALSE(a->owns(partition) && b->owns(partition));
    }
  }
  ASSERT_TRUE(coroutine::sleep_for(5s));
  EXPECT_TRUE(is_shared_out(a, b));
  EXPECT_GT(b->owned_count(), 400U);
  EXPECT_EQ(b->cluster().statistics().join_count, 2U);
}

// The watchdog of a real process would decide like this.
FenceWatchdog::Verdict verdict(const TestNode& node) {
  return FenceWatchdog::verdict(node.fence, {});
}

TEST_F(ClusterTest, ANodeThatDoesNotDropItsObjectsIsSeenByItsWatchdog) {
  auto a = make("a");
  ASSERT_TRUE(a->cluster().wait_until_settled(Deadline::after(1s)));
  a->drop_lasts = 8s;
  const TimePoint start = now();
  test::vanish(table_, a->cluster().self());
  while (!a->fence.drop()) ASSERT_TRUE(coroutine::sleep_for(1ms));
  EXPECT_LE(now() - start, 2ms) << "it counts from the fall of the fence";
  ASSERT_TRUE(coroutine::sleep_until(Deadline::at(start + 4'990ms)));
  EXPECT_EQ(a->fence.drop()->step, Fence::DropStep::objects);
  EXPECT_EQ(verdict(*a), FenceWatchdog::Verdict::lives);
  ASSERT_TRUE(coroutine::sleep_for(20ms));
  EXPECT_EQ(verdict(*a), FenceWatchdog::Verdict::does_not_drop);
  // Without a watchdog it comes back.
  ASSERT_TRUE(coroutine::sleep_for(10s));
  EXPECT_FALSE(a->fence.drop());
  EXPECT_EQ(a->owned_count(), partition_count_min);
}

TEST_F(ClusterTest, AHandOverThatOutlastsTheFenceIsSeenByTheWatchdog) {
  auto a = make("a");
  ASSERT_TRUE(a->cluster().wait_until_settled(Deadline::after(1s)));
  a->release_lasts = 60s;
  auto b = make("b");
  ASSERT_TRUE(coroutine::sleep_for(100ms));
  a->directory.cut();
  ASSERT_TRUE(coroutine::sleep_for(4'500ms));
  ASSERT_TRUE(a->fence.drop());
  EXPECT_EQ(a->fence.drop()->step, Fence::DropStep::hand_over);
  ASSERT_TRUE(coroutine::sleep_for(4'500ms));
  EXPECT_EQ(verdict(*a), FenceWatchdog::Verdict::lives);
  ASSERT_TRUE(coroutine::sleep_for(500ms));
  EXPECT_EQ(verdict(*a), FenceWatchdog::Verdict::does_not_drop);
}

TEST_F(ClusterTest, ASlowHandOverDoesNotKeepANodeFromClaiming) {
  auto a = make("a");
  auto b = make("b");
  ASSERT_TRUE(coroutine::sleep_for(10s));
  ASSERT_TRUE(is_shared_out(a, b));
  a->release_lasts = 30s;
  auto c = make("c");
  ASSERT_TRUE(coroutine::sleep_for(5s));
  ASSERT_FALSE(a->released.empty());
  const std::set<Partition> moving = a->released;
  b->cluster().stop(Deadline::after(1s));
  expect_shared_out_within(1s, a, c);
  EXPECT_EQ(a->released, moving) << "the hand-over is still under way";
  for (const Partition partition : moving) EXPECT_TRUE(a->owns(partition));
  ASSERT_TRUE(coroutine::sleep_for(30s));
  EXPECT_TRUE(is_shared_out(a, c));
  for (const Partition partition : moving) EXPECT_TRUE(c->owns(partition));
}

// The new owner of a hand-over dies while its former owner does not know what became of it.
TEST_F(ClusterTest, TheHeirOfAnUndecidedHandOverMayDie) {
  auto a = make("a");
  ASSERT_TRUE(a->cluster().wait_until_settled(Deadline::after(1s)));
  for (const Duration dies_after : {1ms, 20ms, 200ms, 2'000ms}) {
    auto b = make("b");
    ASSERT_TRUE(coroutine::sleep_for(100ms));
    a->directory.loses_answers = true;
    ASSERT_TRUE(coroutine::sleep_for(dies_after));
    b->cluster().stop(Deadline::after(1s));
    ASSERT_TRUE(coroutine::sleep_for(1s));
    a->directory.loses_answers = false;
    expect_shared_out_within(5s, a);
    ASSERT_TRUE(coroutine::sleep_for(1s));
    EXPECT_TRUE(a->released.empty());
  }
}

TEST_F(ClusterTest, ANodeThatLeavesHasNothingToDrop) {
  auto a = make("a");
  ASSERT_TRUE(a->cluster().wait_until_settled(Deadline::after(1s)));
  test::vanish(table_, a->cluster().self());
  while (!a->fence.drop()) ASSERT_TRUE(coroutine::sleep_for(1ms));
  a->cluster().stop(Deadline::after(1s));
  ASSERT_TRUE(coroutine::sleep_for(10s));
  EXPECT_EQ(verdict(*a), FenceWatchdog::Verdict::lives);
}

// The time until the node, which is fenced by the loss of its key, is a member again.
Duration time_to_rejoin(LocalDirectory& table, TestNode& node) {
  const TimePoint start = now();
  const std::uint64_t join_count = node.cluster().statistics().join_count;
  test::vanish(table, node.cluster().self());
  while (node.cluster().statistics().join_count == join_count) {
    EXPECT_TRUE(coroutine::sleep_for(1ms));
  }
  return now() - start;
}

TEST_F(ClusterTest, ANodeThatIsFencedAgainAndAgainJoinsLaterEachTime) {
  auto a = make("a");
  auto b = make("b");
  ASSERT_TRUE(coroutine::sleep_for(10s));
  // A node notices at its next keepalive.
  constexpr Duration notice = 1'600ms;
  EXPECT_LT(time_to_rejoin(table_, *b), notice);
  for (const Duration longest : {1s, 2s, 4s, 8s, 16s, 32s, 60s, 60s}) {
    ASSERT_TRUE(coroutine::sleep_for(10s));
    ASSERT_TRUE(is_shared_out(a, b));
    const Duration took = time_to_rejoin(table_, *b);
    EXPECT_GE(took, longest / 2);
    EXPECT_LE(took, longest + notice);
  }
  // It has been calm for long enough.
  ASSERT_TRUE(coroutine::sleep_for(5min));
  EXPECT_LT(time_to_rejoin(table_, *b), notice);
  ASSERT_TRUE(coroutine::sleep_for(10s));
  EXPECT_TRUE(is_shared_out(a, b));
}

TEST_F(ClusterTest, TheLastMemberJoinsAgainWithoutAPause) {
  auto a = make("a");
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(coroutine::sleep_for(5s));
    EXPECT_LT(time_to_rejoin(table_, *a), 2'700ms) << "after its first look at the cluster";
  }
}

TEST_F(ClusterTest, OutagesOfTheDirectoryForAllMembersCostNoPause) {
  auto a = make("a");
  auto b = make("b");
  auto c = make("c");
  ASSERT_TRUE(coroutine::sleep_for(10s));
  for (int i = 0; i < 8; ++i) {
    for (TestNode* node : {a.get(), b.get(), c.get()}) node->directory.cut();
    ASSERT_TRUE(coroutine::sleep_for(15s));
    EXPECT_EQ(a->owned_count() + b->owned_count() + c->owned_count(), 0U);
    for (TestNode* node : {a.get(), b.get(), c.get()}) node->directory.mend();
    expect_shared_out_within(2s, a, b, c);
    ASSERT_TRUE(coroutine::sleep_for(2s));
    EXPECT_EQ(a->cluster().view()->members().size(), 3U);
  }
}

// Its lease is gone, so a key on no lease would stay in the directory for ever.
TEST_F(ClusterTest, ANodeThatDrainsWhileItWaitsToJoinIsDoneAtOnceAndLeavesNoTrace) {
  auto a = make("a");
  auto b = make("b");
  for (int i = 0; i < 6; ++i) {
    ASSERT_TRUE(coroutine::sleep_for(10s));
    time_to_rejoin(table_, *b);
  }
  ASSERT_TRUE(coroutine::sleep_for(10s));
  test::vanish(table_, b->cluster().self());
  ASSERT_TRUE(coroutine::sleep_for(3s));
  const TimePoint start = now();
  EXPECT_TRUE(b->cluster().drain(Deadline::after(5s), [](std::size_t) {}));
  EXPECT_EQ(now(), start);
  EXPECT_THAT(test::read_all(table_, "draining/").entries, testing::IsEmpty());
  const std::uint64_t join_count = b->cluster().statistics().join_count;
  ASSERT_TRUE(coroutine::sleep_for(2min));
  EXPECT_EQ(b->cluster().statistics().join_count, join_count);
  EXPECT_EQ(a->owned_count(), partition_count_min);
}

TEST_F(ClusterTest, ANodeThatWaitsToJoinKnowsWhoOwnsWhat) {
  auto a = make("a");
  auto b = make("b");
  for (int i = 0; i < 6; ++i) {
    ASSERT_TRUE(coroutine::sleep_for(10s));
    time_to_rejoin(table_, *b);
  }
  ASSERT_TRUE(coroutine::sleep_for(10s));
  test::vanish(table_, b->cluster().self());
  ASSERT_TRUE(coroutine::sleep_for(3s));
  EXPECT_FALSE(b->fence.is_in_time());
  const auto view = b->cluster().view();
  ASSERT_EQ(view->members().size(), 1U);
  for (const ClusterView::Owner& owner : view->find_group("game.Player")->owners) {
    ASSERT_EQ(owner.member, &view->members()[0]);
  }
}

TEST_F(ClusterTest, ADrainDoesNotWaitForPartitionsThatNoOtherNodeMayOwn) {
  TestNode eu(table_, "eu", {.zone = "eu"});
  Member elsewhere = test::player_node("us", {.zone = "eu"});
  elsewhere.zone = "us";
  TestNode us(table_, elsewhere, {.zone = "eu"});
  eu.start();
  us.start();
  ASSERT_TRUE(coroutine::sleep_for(5s));
  const TimePoint start = now();
  EXPECT_TRUE(eu.cluster().drain(Deadline::after(5s), [](std::size_t) {}));
  EXPECT_LT(now() - start, 100ms);
  EXPECT_EQ(eu.owned_count(), partition_count_min);
}

TEST_F(ClusterTest, ANodeThatIsFencedWhileItDrainsDoesNotRejoin) {
  auto a = make("a");
  auto b = make("b");
  ASSERT_TRUE(coroutine::sleep_for(10s));
  for (std::size_t i = 0; i < partition_count_min; ++i) b->busy.insert(static_cast<Partition>(i));
  auto drain = coroutine::spawn(
      "drain", [&] { return b->cluster().drain(Deadline::after(1min), [](std::size_t) {}); });
  ASSERT_TRUE(coroutine::sleep_for(1s));
  b->directory.cut();
  ASSERT_TRUE(coroutine::sleep_for(10s));
  b->directory.mend();
  ASSERT_TRUE(coroutine::sleep_for(10s));
  EXPECT_TRUE(drain.join(Deadline::never()));
  EXPECT_EQ(b->owned_count(), 0U);
  EXPECT_EQ(a->owned_count(), partition_count_min);
  EXPECT_EQ(b->cluster().statistics().join_count, 1U);
}

TEST_F(ClusterTest, TheViewShowsTheOwnerOfEachPartition) {
  auto a = make("a");
  auto b = make("b");
  ASSERT_TRUE(coroutine::sleep_for(10s));
  const auto view = a->cluster().view();
  ASSERT_EQ(view->members().size(), 2U);
  const ClusterView::Group* const group = view->find_group("game.Player");
  ASSERT_NE(group, nullptr);
  for (std::size_t i = 0; i < partition_count_min; ++i) {
    const auto partition = static_cast<Partition>(i);
    const ClusterView::Owner& owner = group->owners[i];
    ASSERT_NE(owner.member, nullptr);
    const TestNode& expected = owner.member->name == "a" ? *a : *b;
    EXPECT_EQ(owner.epoch, expected.ownership.epoch(partition));
  }
  EXPECT_EQ(view->find_group("game.Guild"), nullptr);
}

TEST_F(ClusterTest, ManyDoubtsOfAPartitionAreAFewReads) {
  auto node = make("a");
  ASSERT_TRUE(node->cluster().wait_until_settled(Deadline::after(1s)));
  const auto before = node->cluster().statistics();
  for (int i = 0; i < 1'000; ++i) {
    node->cluster().doubt({}, 7);
    ASSERT_TRUE(coroutine::sleep_for(1ms));
  }
  const auto after = node->cluster().statistics();
  EXPECT_EQ(after.look_up_count - before.look_up_count, 3U) << "at once, and after two pauses";
  EXPECT_EQ(after.resync_count, before.resync_count);
}

TEST_F(ClusterTest, DoubtsOfManyPartitionsShareARead) {
  auto node = make("a");
  ASSERT_TRUE(node->cluster().wait_until_settled(Deadline::after(1s)));
  const auto before = node->cluster().statistics().look_up_count;
  for (Partition partition = 0; partition < 60; ++partition) node->cluster().doubt({}, partition);
  ASSERT_TRUE(coroutine::sleep_for(100ms));
  EXPECT_EQ(node->cluster().statistics().look_up_count, before + 1);
}

TEST_F(ClusterTest, ADoubtFindsAnOwnerThatTheWatchDidNotTell) {
  auto a = make("a");
  ASSERT_TRUE(a->cluster().wait_until_settled(Deadline::after(1s)));
  auto b = make("b");
  ASSERT_TRUE(coroutine::sleep_for(10s));
  TestNode c(table_, "c");
  a->directory.is_deaf = true;
  c.start();
  expect_shared_out_within(10s, b, &c, a);
  const auto moved = [&] {
    Partition partition = 0;
    while (!c.owns(partition)) ++partition;
    return partition;
  }();
  const auto owner = [&] {
    return a->cluster().view()->find_group("game.Player")->owners[moved].member;
  };
  EXPECT_TRUE(owner() == nullptr || owner()->name != "c");
  const std::size_t list_count = a->directory.list_count;
  a->cluster().doubt({}, moved);
  ASSERT_TRUE(coroutine::sleep_for(100ms));
  ASSERT_NE(owner(), nullptr);
  EXPECT_EQ(owner()->name, "c") << "its node was unknown, too";
  EXPECT_EQ(a->directory.list_count, list_count);
}

TEST_F(ClusterTest, ADoubtFindsANodeThatIsGoneSoItsPartitionsAreClaimed) {
  auto a = make("a");
  auto b = make("b");
  ASSERT_TRUE(coroutine::sleep_for(10s));
  a->directory.is_deaf = true;
  const auto of_b = [&] {
    Partition partition = 0;
    while (!b->owns(partition)) ++partition;
    return partition;
  }();
  b->cluster().stop(Deadline::after(1s));
  ASSERT_TRUE(coroutine::sleep_for(1s));
  EXPECT_LT(a->owned_count(), partition_count_min);
  a->cluster().doubt({}, of_b);
  expect_shared_out_within(1s, a);
}

TEST_F(ClusterTest, ANodeThatLeavesInAGapOfTheWatchIsMissedSoon) {
  auto a = make("a");
  auto b = make("b");
  ASSERT_TRUE(coroutine::sleep_for(10s));
  const std::size_t list_count = a->directory.list_count;
  a->directory.is_deaf = true;
  b->cluster().stop(Deadline::after(1s));
  ASSERT_TRUE(coroutine::sleep_for(100ms));
  a->directory.is_deaf = false;
  expect_shared_out_within(6s, a);
  EXPECT_EQ(a->directory.list_count, list_count + 1) << "a node is missing, so all is read";
}

TEST_F(ClusterTest, APinThatGoesInAGapOfTheWatchIsMissedSoon) {
  auto a = make("a");
  auto b = make("b");
  ASSERT_TRUE(coroutine::sleep_for(10s));
  ASSERT_TRUE(b->cluster().pin({}, 7, Pin{.node = "a"}, Deadline::after(1s)));
  ASSERT_TRUE(b->cluster().pin({}, 8, Pin{.node = "b"}, Deadline::after(1s)));
  ASSERT_TRUE(coroutine::sleep_for(1s));
  a->directory.is_deaf = true;
  ASSERT_TRUE(b->cluster().pin({}, 7, std::nullopt, Deadline::after(1s)));
  ASSERT_TRUE(b->cluster().pin({}, 8, Pin{.node = "a"}, Deadline::after(1s)));
  ASSERT_TRUE(coroutine::sleep_for(100ms));
  a->directory.is_deaf = false;
  ASSERT_TRUE(coroutine::sleep_for(6s));
  EXPECT_EQ(a->cluster().view()->groups()[0].pins, (Pins{{8, {.node = "a"}}}));
  expect_shared_out_within(1s, a, b);
}

TEST_F(ClusterTest, AQuietClusterIsNotListedAndPublishesNoView) {
  auto a = make("a");
  auto b = make("b");
  ASSERT_TRUE(coroutine::sleep_for(40s));
  const std::size_t list_count = a->directory.list_count;
  const std::size_t view_count = a->view_count;
  for (int i = 0; i < 100; ++i) {
    a->cluster().doubt({}, 7);
    ASSERT_TRUE(coroutine::sleep_for(3s));
  }
  EXPECT_EQ(a->directory.list_count, list_count);
  EXPECT_EQ(a->view_count, view_count);
  EXPECT_GE(a->cluster().statistics().resync_count, 10U) << "it looks for changes";
}

TEST_F(ClusterTest, AWatchThatEndsGoesOnWhereItEnded) {
  auto a = make("a");
  auto b = make("b");
  ASSERT_TRUE(coroutine::sleep_for(10s));
  const std::size_t list_count = a->directory.list_count;
  for (int i = 0; i < 5; ++i) {
    a->directory.break_watches();
    auto c = make("c");
    expect_shared_out_within(10s, a, b, c);
    a->directory.break_watches();
    c->cluster().stop(Deadline::after(1s));
    expect_shared_out_within(1s, a, b);
  }
  EXPECT_EQ(a->directory.list_count, list_count);
}

}  // namespace
}  // namespace corolane::framework
