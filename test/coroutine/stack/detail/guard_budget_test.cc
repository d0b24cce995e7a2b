// SPDX-License-Identifier: MIT
#include "coroutine/stack/detail/guard_budget.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <memory>
#include <thread>

namespace corolane::coroutine::detail {
namespace {

using Member = GuardBudget::Member;

TEST(GuardBudgetTest, AloneAMemberMayTakeEverything) {
  GuardBudget budget(100);
  Member only(budget, 1'000);
  EXPECT_EQ(only.share(), 100u);
  EXPECT_EQ(only.take(16), 16u);
  EXPECT_EQ(only.take(1'000), 84u);
  EXPECT_EQ(only.take(1), 0u);
  only.give_back(30);
  EXPECT_EQ(only.take(31), 30u);
}

TEST(GuardBudgetTest, MembersShareEqually) {
  GuardBudget budget(100);
  Member one(budget, 1'000);
  Member two(budget, 2'000);
  Member three(budget, 3'000);
  Member four(budget, 4'000);
  for (Member* member : {&one, &two, &three, &four}) {
    EXPECT_EQ(member->share(), 25u);
    EXPECT_EQ(member->take(26), 25u);
  }
  EXPECT_EQ(budget.statistics().taken_count, 100u);
  EXPECT_EQ(budget.statistics().member_count, 4u);
}

TEST(GuardBudgetTest, TheOthersShareGuardsThatOneDoesNotWant) {
  GuardBudget budget(100);
  Member large(budget, 90);
  Member small(budget, 10);
  Member other(budget, 90);
  EXPECT_EQ(small.share(), 10u);
  EXPECT_EQ(large.share(), 45u);
  EXPECT_EQ(other.share(), 45u);
}

TEST(GuardBudgetTest, TheShareOfAMemberThatEndsGoesToTheOthers) {
  GuardBudget budget(100);
  Member stays(budget, 100);
  auto leaves = std::make_unique<Member>(budget, 100);
  EXPECT_EQ(leaves->take(50), 50u);
  EXPECT_EQ(stays.take(100), 50u);
  leaves.reset();
  EXPECT_EQ(stays.take(100), 50u);
  EXPECT_EQ(budget.statistics().taken_count, 100u);
}

TEST(GuardBudgetTest, GuardsBeyondTheShareOfAMemberAreMissingUntilItGivesThemBack) {
  GuardBudget budget(100);
  Member first(budget, 100);
  EXPECT_EQ(first.take(90), 90u);
  Member second(budget, 100);
  EXPECT_EQ(first.share(), 50u);
  EXPECT_EQ(second.take(50), 10u);
  EXPECT_EQ(first.take(1), 0u);
  first.give_back(40);
  EXPECT_EQ(second.take(50), 40u);
  EXPECT_EQ(first.take(1), 0u);
}

TEST(GuardBudgetTest, ThreadsNeverTakeMoreThanThereIs) {
  constexpr std::size_t count_max = 1'000;
  GuardBudget budget(count_max);
  std::atomic<std::size_t> held_count = 0;
  std::array<std::thread, 4> threads;
  for (std::thread& thread : threads) {
    thread = std::thread([&] {
      for (int round = 0; round < 100; ++round) {
        Member member(budget, count_max);
        const std::size_t taken_count = member.take(300);
        EXPECT_LE(held_count += taken_count, count_max);
        held_count -= taken_count;
        member.give_back(taken_count / 2);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(budget.statistics().taken_count, 0u);
  EXPECT_EQ(budget.statistics().member_count, 0u);
}

}  // namespace
}  // namespace corolane::coroutine::detail
