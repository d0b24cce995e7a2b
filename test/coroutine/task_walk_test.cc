// SPDX-License-Identifier: MIT
#include "coroutine/task_walk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "coroutine/scheduler.h"
#include "coroutine/task.h"
#include "coroutine/task_group.h"

namespace corolane::coroutine {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

std::vector<std::string> next_names(TaskWalk& walk, std::size_t count) {
  std::vector<std::string> names;
  for (const TaskInfo& task : walk.next({.count_max = count})) names.push_back(task.name);
  return names;
}

TEST(TaskWalkTest, PartsFollowOneAnother) {
  auto first = spawn("first", [] { return sleep_for(1s); });
  auto second = spawn("second", [] { return sleep_for(1s); });
  TaskWalk walk(Scheduler::current());
  EXPECT_EQ(next_names(walk, 1).size(), 1u);  // The task of the test.
  EXPECT_THAT(next_names(walk, 1), ElementsAre("first"));
  EXPECT_FALSE(walk.is_over());
  EXPECT_THAT(next_names(walk, 2), ElementsAre("second"));
  EXPECT_TRUE(walk.is_over());
  EXPECT_THAT(next_names(walk, 2), ElementsAre());
}

TEST(TaskWalkTest, TasksComeAndGoBetweenTheParts) {
  TaskGroup group;
  ASSERT_TRUE(group.spawn("member", [] { return sleep_for(1s); }));
  auto owned = std::make_unique<Task<void>>(spawn("owned", [] { return sleep_for(1s); }));
  auto last = spawn("last", [] { return sleep_for(1h); });
  TaskWalk of_member(Scheduler::current());
  TaskWalk of_owned(Scheduler::current());
  EXPECT_EQ(next_names(of_member, 2).back(), "member");
  EXPECT_EQ(next_names(of_owned, 3).back(), "owned");
  EXPECT_TRUE(group.join(Deadline::never()));
  owned.reset();
  auto added = spawn("added", [] { return sleep_for(1h); });
  EXPECT_EQ(next_names(of_owned, 10), (std::vector<std::string>{"last", "added"}));
  EXPECT_EQ(next_names(of_member, 10).back(), "added");
}

// The walks keep what they have listed last, and no more.
TEST(TaskWalkTest, AnEndedTaskIsGivenBackWithTheWalk) {
  const std::size_t count = Scheduler::current().statistics().task_count;
  {
    TaskWalk walk(Scheduler::current());
    auto task = spawn("ends", [] {});
    EXPECT_EQ(next_names(walk, count + 1).back(), "ends");
    EXPECT_TRUE(task.join(Deadline::never()));
    EXPECT_EQ(Scheduler::current().statistics().task_count, count + 1);
  }
  EXPECT_EQ(Scheduler::current().statistics().task_count, count);
}

TEST(TaskWalkTest, VeryManyWalksMayStandAtOneTask) {
  auto first = spawn("first", [] { return sleep_for(1s); });
  auto second = spawn("second", [] { return sleep_for(1s); });
  std::vector<std::unique_ptr<TaskWalk>> walks;
  for (int i = 0; i < 300; ++i) {
    walks.push_back(std::make_unique<TaskWalk>(Scheduler::current()));
    EXPECT_EQ(next_names(*walks.back(), 2).back(), "first");
  }
  for (auto& walk : walks) EXPECT_THAT(next_names(*walk, 2), ElementsAre("second"));
}

}  // namespace
}  // namespace corolane::coroutine
