// SPDX-License-Identifier: MIT
#include "framework/routing/detail/owner_news.h"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <vector>

#include "coroutine/base/deadline.h"
#include "coroutine/task.h"
#include "coroutine/task_group.h"
#include "coroutine/testing/matchers.h"

namespace corolane::framework::detail {
namespace {

using namespace std::chrono_literals;

class OwnerNewsTest : public testing::Test {
 protected:
  OwnerNews::Look look_of(Partition partition) {
    return {.owner = [this, partition] { return owners_[partition]; },
            .doubt = [this, partition] { ++doubt_counts_[partition]; }};
  }
  Result<void> wait(Partition partition, const OwnerMark& tried, Duration at_most = 1h) {
    return news_.wait({"game.Player", partition}, look_of(partition), tried, at_most);
  }
  // Calls of each of the two partitions, which wait for the owner that is there now.
  void wait_often(std::array<int, 2>& woken_counts) {
    for (int i = 0; i < 10; ++i) {
      for (const Partition partition : {Partition{0}, Partition{1}}) {
        static_cast<void>(calls_.spawn("call", [this, partition, &woken_counts] {
          if (wait(partition, owners_[partition])) ++woken_counts[partition];
        }));
      }
    }
    ASSERT_TRUE(coroutine::sleep_for(1ms));
  }

  std::array<OwnerMark, 2> owners_{};
  std::array<int, 2> doubt_counts_{};
  OwnerNews news_;
  coroutine::TaskGroup calls_;
};

TEST_F(OwnerNewsTest, ANewOwnerWakesTheCallsOfItsPartitionAlone) {
  std::array<int, 2> woken_counts{};
  wait_often(woken_counts);
  owners_[1] = {.node_epoch = 4, .partition_epoch = 9};
  news_.look_again();
  ASSERT_TRUE(coroutine::sleep_for(1ms));
  EXPECT_EQ(woken_counts, (std::array{0, 10}));
  EXPECT_EQ(news_.place_count(), 1U);
  calls_.cancel_and_join();
}

TEST_F(OwnerNewsTest, OtherNewsWakeNobody) {
  std::array<int, 2> woken_counts{};
  wait_often(woken_counts);
  for (int i = 0; i < 10; ++i) news_.look_again();
  ASSERT_TRUE(coroutine::sleep_for(10min));
  EXPECT_EQ(woken_counts, (std::array{0, 0}));
  calls_.cancel_and_join();
}

TEST_F(OwnerNewsTest, ACallThatTriedAFormerOwnerDoesNotWait) {
  owners_[0] = {.node_epoch = 4, .partition_epoch = 9};
  const TimePoint start = now();
  EXPECT_TRUE(wait(0, {.node_epoch = 3, .partition_epoch = 8}));
  EXPECT_EQ(now(), start);
  EXPECT_EQ(doubt_counts_[0], 0) << "there is no doubt";
}

TEST_F(OwnerNewsTest, AWaitEndsAfterItsTime) {
  const TimePoint start = now();
  EXPECT_TRUE(wait(0, {}, 250ms));
  EXPECT_EQ(now() - start, 250ms);
  EXPECT_EQ(news_.place_count(), 0U);
}

TEST_F(OwnerNewsTest, ManyCallsOfAPartitionAreOneDoubt) {
  std::array<int, 2> woken_counts{};
  wait_often(woken_counts);
  wait_often(woken_counts);
  EXPECT_EQ(doubt_counts_, (std::array{1, 1}));
  ASSERT_TRUE(coroutine::sleep_for(OwnerNews::doubt_interval));
  wait_often(woken_counts);
  EXPECT_EQ(doubt_counts_, (std::array{2, 2}));
  calls_.cancel_and_join();
}

TEST_F(OwnerNewsTest, ACancelledCallLeaves) {
  auto call = coroutine::spawn("call", [&] { return wait(0, {}); });
  ASSERT_TRUE(coroutine::sleep_for(1ms));
  call.cancel();
  EXPECT_THAT(call.join(Deadline::never()), test::fails_with(Code::cancelled));
  EXPECT_EQ(news_.place_count(), 0U);
}

}  // namespace
}  // namespace corolane::framework::detail
