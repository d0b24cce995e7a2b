// SPDX-License-Identifier: MIT
#include "coroutine/stack/detail/stack_class.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <vector>

namespace corolane::coroutine::detail {
namespace {

constexpr std::size_t slot_count = 40;

// Stacks of 16 KiB whose slots share one mapping.
class StackClassTest : public testing::Test {
 protected:
  StackClassTest() {
    auto begin = memory_.reserve(size_bytes());
    EXPECT_TRUE(begin);
    begin_ = *begin;
    stacks_.use_room(room_.data());
    stacks_.add_slots(begin_, slot_count);
  }
  ~StackClassTest() override { StackMemory::give_up({begin_, size_bytes()}); }

  std::size_t size_bytes() const { return slot_count * stacks_.slot().size_bytes(); }

  std::vector<std::byte*> pop_cold(std::size_t count) {
    std::vector<std::byte*> tops;
    for (std::size_t number = 0; number < count; ++number) {
      tops.push_back(stacks_.pop_cold());
      stacks_.note_demand();
    }
    return tops;
  }
  void push(const std::vector<std::byte*>& tops) {
    for (std::byte* top : tops) stacks_.push(top);
  }

  StackMemory memory_{StackGuard::automatic};
  std::byte* begin_ = nullptr;
  std::array<std::byte*, StackClass::before_count + slot_count> room_{};
  StackClass stacks_{16 * 1024};
};

TEST_F(StackClassTest, SlotsBeginBareAndAreCutFromTheFirstOn) {
  EXPECT_EQ(stacks_.bare_count(), slot_count);
  EXPECT_EQ(stacks_.cut(memory_, 3), 3u);
  EXPECT_EQ(stacks_.bare_count(), slot_count - 3);
  EXPECT_EQ(stacks_.cold_count(), 3u);
  EXPECT_EQ(stacks_.in_use_count(), 0u);
  EXPECT_EQ(stacks_.cut(memory_, slot_count), slot_count - 3);
  EXPECT_EQ(stacks_.cut(memory_, 1), 0u);
}

TEST_F(StackClassTest, PushedStacksAreWarmAndPoppedLastInFirstOut) {
  stacks_.cut(memory_, 3);
  const auto tops = pop_cold(3);
  EXPECT_EQ(stacks_.in_use_count(), 3u);
  EXPECT_EQ(stacks_.warm_count(), 0u);
  push(tops);
  EXPECT_EQ(stacks_.warm_count(), 3u);
  EXPECT_EQ(stacks_.pop(), tops[2]);
  EXPECT_EQ(stacks_.pop(), tops[1]);
  stacks_.push(tops[2]);
  EXPECT_EQ(stacks_.pop(), tops[2]);
  push({tops[1], tops[2]});
}

TEST_F(StackClassTest, TrimMakesTheColdestWarmStacksCold) {
  stacks_.cut(memory_, 5);
  const auto tops = pop_cold(5);
  for (std::byte* top : tops) *(top - 1) = std::byte{1};
  push(tops);
  stacks_.trim(memory_, 2);
  EXPECT_EQ(stacks_.warm_count(), 3u);
  EXPECT_EQ(stacks_.cold_count(), 2u);
  EXPECT_EQ(*(tops[0] - 1), std::byte{0});
  EXPECT_EQ(*(tops[1] - 1), std::byte{0});
  EXPECT_EQ(*(tops[2] - 1), std::byte{1});
  EXPECT_EQ(stacks_.pop(), tops[4]);
  stacks_.push(tops[4]);
}

TEST_F(StackClassTest, TrimDiscardsPrimedStacksToo) {
  stacks_.cut(memory_, 20);
  stacks_.prime(memory_, 10);
  if (stacks_.primed_count() == 0) GTEST_SKIP() << "this kernel has no batches";
  EXPECT_EQ(stacks_.primed_count(), 10u);
  EXPECT_EQ(stacks_.cold_count(), 20u);
  push(pop_cold(4));
  EXPECT_EQ(stacks_.primed_count(), 6u);
  stacks_.trim(memory_, 1);
  EXPECT_EQ(stacks_.primed_count(), 0u);
  EXPECT_EQ(stacks_.warm_count(), 3u);
}

TEST_F(StackClassTest, NothingIsPrimedWhileSomeStacksAre) {
  stacks_.cut(memory_, 20);
  stacks_.prime(memory_, 10);
  const std::size_t primed_count = stacks_.primed_count();
  stacks_.prime(memory_, 10);
  EXPECT_EQ(stacks_.primed_count(), primed_count);
}

TEST_F(StackClassTest, StripTakesTheWorstFirst) {
  stacks_.cut(memory_, 3);
  const auto tops = pop_cold(2);
  push(tops);
  stacks_.strip(memory_);
  EXPECT_EQ(stacks_.cold_count(), 0u);
  EXPECT_EQ(stacks_.warm_count(), 2u);
  stacks_.strip(memory_);
  EXPECT_EQ(stacks_.warm_count(), 1u);
  EXPECT_EQ(stacks_.bare_count(), slot_count - 1);
  EXPECT_EQ(stacks_.pop(), tops[1]);
  stacks_.push(tops[1]);
  // A bare slot is as good as new once it is cut.
  EXPECT_EQ(stacks_.cut(memory_, 1), 1u);
}

TEST_F(StackClassTest, OnlyAPopThatRaisesThePeakIsNotQuick) {
  stacks_.cut(memory_, 4);
  const auto tops = pop_cold(4);
  EXPECT_FALSE(stacks_.pops_quickly());
  push(tops);
  for (int number = 0; number < 4; ++number) {
    EXPECT_TRUE(stacks_.pops_quickly());
    stacks_.pop();
  }
  EXPECT_FALSE(stacks_.pops_quickly());
  push(tops);
  stacks_.begin_bucket(1);
  EXPECT_FALSE(stacks_.pops_quickly());
  stacks_.pop();
  stacks_.note_demand();
  stacks_.push(tops[3]);
  EXPECT_TRUE(stacks_.pops_quickly());
}

TEST_F(StackClassTest, APeakCountsInFullForHalfTheWindowAndFadesInTheRest) {
  stacks_.cut(memory_, slot_count);
  push(pop_cold(slot_count));
  for (const std::size_t demand : {40u, 40u, 40u, 40u, 40u, 20u, 10u, 5u, 0u, 0u}) {
    EXPECT_EQ(stacks_.demand(), demand);
    stacks_.begin_bucket(1);
  }
}

TEST_F(StackClassTest, StacksInUseAlwaysCountAsDemand) {
  stacks_.cut(memory_, 7);
  const auto tops = pop_cold(7);
  stacks_.begin_bucket(1000);
  EXPECT_EQ(stacks_.demand(), 7u);
  push(tops);
}

TEST_F(StackClassTest, APeakDuringTimeWithoutUpkeepCountsAsOfNow) {
  stacks_.cut(memory_, slot_count);
  push(pop_cold(slot_count));
  stacks_.begin_bucket(1000);
  for (std::size_t bucket = 0; bucket <= StackClass::bucket_count / 2; ++bucket) {
    EXPECT_EQ(stacks_.demand(), slot_count);
    stacks_.begin_bucket(1);
  }
  EXPECT_EQ(stacks_.demand(), slot_count / 2);
  stacks_.begin_bucket(2);
  EXPECT_EQ(stacks_.demand(), slot_count / 8);
  stacks_.begin_bucket(2);
  EXPECT_EQ(stacks_.demand(), 0u);
}

}  // namespace
}  // namespace corolane::coroutine::detail
