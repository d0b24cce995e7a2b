// SPDX-License-Identifier: MIT
#include "coroutine/inspect/stack_group.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "coroutine/scheduler.h"
#include "coroutine/sync/event.h"
#include "coroutine/task_group.h"

namespace corolane::coroutine {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

// The groups of all tasks except the caller.
std::vector<StackGroup> groups_of_tasks() {
  auto tasks = Scheduler::current().tasks({.traces = true});
  tasks.erase(tasks.begin());
  Symbols symbols;
  return group_by_stack(tasks, symbols);
}

TEST(StackGroupTest, TasksWithTheSameWaitAndPlaceAreOneGroup) {
  Event door("a door");
  TaskGroup crowd;
  for (int i = 0; i < 2000; ++i) {  // Enough for switches of every kind.
    ASSERT_TRUE(crowd.spawn("guest", [&] { EXPECT_TRUE(door.wait(Deadline::never())); }));
  }
  EXPECT_TRUE(sleep_for(2s));
  const auto groups = groups_of_tasks();
  ASSERT_EQ(groups.size(), 1u) << to_text(groups);
  EXPECT_EQ(groups[0].count, 2000u);
  EXPECT_EQ(groups[0].state, TaskState::suspended);
  EXPECT_EQ(groups[0].waiting_for, "a door");
  EXPECT_EQ(groups[0].longest, 2s);
  EXPECT_THAT(groups[0].names, ElementsAre("guest"));
  EXPECT_FALSE(groups[0].has_more_names);
  EXPECT_FALSE(groups[0].frames.empty());
  door.set();
  EXPECT_TRUE(crowd.join(Deadline::never()));
}

TEST(StackGroupTest, DifferentPlacesAreDifferentGroupsTheLargestFirst) {
  Event door("a door");
  TaskGroup crowd;
  ASSERT_TRUE(crowd.spawn("back", [&] {
    EXPECT_TRUE(door.wait(Deadline::never()));
    EXPECT_TRUE(yield());
  }));
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(crowd.spawn("front", [&] { EXPECT_TRUE(door.wait(Deadline::never())); }));
  }
  EXPECT_TRUE(yield());
  const auto groups = groups_of_tasks();
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_THAT(groups[0].names, ElementsAre("front"));
  EXPECT_THAT(groups[1].names, ElementsAre("back"));
  EXPECT_NE(groups[0].frames, groups[1].frames);
  door.set();
  EXPECT_TRUE(crowd.join(Deadline::never()));
}

TaskInfo task(TaskId id, std::string name, Duration in_state) {
  return {.id = id,
          .name = std::move(name),
          .state = TaskState::suspended,
          .cancelled = false,
          .waiting_for = "a door",
          .in_state = in_state,
          .age = in_state,
          .site = std::source_location::current()};
}

TEST(StackGroupTest, AGroupNamesSomeOfItsTasksAndTheLongestWaiter) {
  Symbols symbols;
  const auto groups = group_by_stack(
      {task(1, "a", 1s), task(2, "b", 3s), task(3, "a", 2s), task(4, "c", 1s), task(5, "d", 1s)},
      symbols);
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_THAT(groups[0].names, ElementsAre("a", "b", "c", "d"));
  EXPECT_FALSE(groups[0].has_more_names);
  EXPECT_EQ(groups[0].longest, 3s);
  EXPECT_EQ(groups[0].longest_task, (TaskAddress{.id = 2}));
  EXPECT_THAT(group_by_stack({}, symbols), IsEmpty());
}

TEST(StackGroupTest, EqualGroupsAreOrderedByTheirLongestWait) {
  Symbols symbols;
  auto late = task(2, "late", 2s);
  late.waiting_for = "a window";
  const auto groups = group_by_stack({task(1, "early", 1s), late}, symbols);
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].waiting_for, "a window");
}

TEST(StackGroupTest, GroupsOfSeveralSchedulersAreMerged) {
  StackGroups first;
  for (const char* name : {"a", "b", "c"}) first.add(task(1, name, 1s));
  StackGroups second;
  auto far = task(1, "d", 2s);
  far.scheduler = 1;
  second.add(far);
  far.name = "e";
  second.add(far);
  far.waiting_for = "a window";
  second.add(far);
  first.add(second);
  EXPECT_EQ(first.task_count(), 6u);

  Symbols symbols;
  const auto groups = first.named(symbols);
  ASSERT_EQ(groups.size(), 2u) << to_text(groups);
  EXPECT_EQ(groups[0].count, 5u);
  EXPECT_THAT(groups[0].names, ElementsAre("a", "b", "c", "d"));
  EXPECT_TRUE(groups[0].has_more_names);
  EXPECT_EQ(groups[0].longest_task, (TaskAddress{.scheduler = 1, .id = 1}));
  EXPECT_EQ(groups[1].waiting_for, "a window");
}

TEST(StackGroupTest, TextHasALineAndTheStackForEachGroup) {
  const std::vector<StackGroup> groups = {
      {.frames = {{.function = "guard", .file = "gate.cc", .line = 7}},
       .state = TaskState::suspended,
       .waiting_for = "a door",
       .count = 12,
       .names = {"guest", "cut\xc3"},
       .has_more_names = true,
       .longest_task = {.scheduler = 2, .id = 3},
       .longest = 1500ms},
      {.frames = {}, .state = TaskState::ready, .waiting_for = "", .count = 1, .names = {"new"}}};
  EXPECT_EQ(to_text(groups),
            "12 tasks suspended, waits for a door, for up to 1.500 s (task 2.3): \"guest\", "
            "\"cut\\xc3\", ...\n"
            "    at guard (gate.cc:7)\n"
            "1 task ready, for up to 0.000 s (task 0): \"new\"\n");
}

}  // namespace
}  // namespace corolane::coroutine
