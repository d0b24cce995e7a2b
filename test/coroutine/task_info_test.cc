// SPDX-License-Identifier: MIT
#include "coroutine/task_info.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "coroutine/scheduler.h"
#include "coroutine/sync/event.h"
#include "coroutine/task.h"

namespace corolane::coroutine {
namespace {

using namespace std::chrono_literals;

std::vector<TaskInfo> infos_without_main() {
  auto infos = Scheduler::current().tasks();
  infos.erase(infos.begin());
  return infos;
}

TEST(TaskInfoTest, TasksAreListedOldestFirst) {
  auto first = spawn("first", [] {});
  auto second = spawn("second", [] {});
  const auto infos = infos_without_main();
  ASSERT_EQ(infos.size(), 2u);
  EXPECT_EQ(infos[0].name, "first");
  EXPECT_EQ(infos[1].name, "second");
  EXPECT_LT(infos[0].id, infos[1].id);
}

TEST(TaskInfoTest, TheOldestTasksAreListedUpToTheLimit) {
  auto first = spawn("first", [] {});
  auto second = spawn("second", [] {});
  const auto infos = Scheduler::current().tasks({.count_max = 2});
  ASSERT_EQ(infos.size(), 2u);
  EXPECT_EQ(infos[1].name, "first");
  EXPECT_TRUE(Scheduler::current().tasks({.count_max = 0}).empty());
}

TEST(TaskInfoTest, TheListCanBeReadInParts) {
  auto first = spawn("first", [] {});
  auto second = spawn("second", [] {});
  const auto infos = infos_without_main();
  const auto rest = Scheduler::current().tasks({.after = infos[0].id, .count_max = 5});
  ASSERT_EQ(rest.size(), 1u);
  EXPECT_EQ(rest[0].name, "second");
  EXPECT_TRUE(Scheduler::current().tasks({.after = infos[1].id}).empty());
}

TEST(TaskInfoTest, OneTaskIsFoundByItsId) {
  auto guest = spawn("guest", [] {});
  const TaskId id = infos_without_main().at(0).id;
  ASSERT_TRUE(Scheduler::current().task(id));
  EXPECT_EQ(Scheduler::current().task(id)->name, "guest");
  EXPECT_FALSE(Scheduler::current().task(id + 1));
}

TEST(TaskInfoTest, FollowsATaskThroughItsStates) {
  Event door("a door");
  EXPECT_EQ(Scheduler::current().tasks().front().state, TaskState::running);
  auto task = spawn("guest", [&] { return door.wait(Deadline::never()); });
  EXPECT_EQ(infos_without_main().at(0).state, TaskState::ready);

  EXPECT_TRUE(sleep_for(2s));
  EXPECT_EQ(infos_without_main().at(0).state, TaskState::suspended);
  EXPECT_EQ(infos_without_main().at(0).waiting_for, "a door");
  EXPECT_EQ(infos_without_main().at(0).in_state, 2s);

  door.set();
  EXPECT_EQ(infos_without_main().at(0).state, TaskState::ready);
  EXPECT_EQ(infos_without_main().at(0).waiting_for, "");
  EXPECT_TRUE(sleep_for(3s));
  EXPECT_EQ(infos_without_main().at(0).state, TaskState::ended);
  EXPECT_EQ(infos_without_main().at(0).in_state, 3s);
  EXPECT_EQ(infos_without_main().at(0).age, 5s);
  EXPECT_TRUE(task.join(Deadline::never()));
  EXPECT_TRUE(infos_without_main().empty());
}

TEST(TaskInfoTest, SaysWhereATaskWasSpawnedAndWhetherItIsCancelled) {
  auto task = spawn("guest", [] {});
  const auto line = std::source_location::current().line() - 1;
  EXPECT_FALSE(infos_without_main().at(0).cancelled);
  task.cancel();
  const TaskInfo info = infos_without_main().at(0);
  EXPECT_TRUE(info.cancelled);
  EXPECT_EQ(info.site.line(), line);
  EXPECT_NE(std::string(info.site.file_name()).find("task_info_test.cc"), std::string::npos);
}

TEST(TaskInfoTest, TextHasOneLineForEachTask) {
  const auto site = std::source_location::current();
  const std::vector<TaskInfo> infos = {
      {.id = 1,
       .name = "main",
       .state = TaskState::suspended,
       .cancelled = false,
       .waiting_for = "a door",
       .in_state = 1500ms,
       .age = 61s,
       .site = site},
      {.id = 2,
       .name = "guest",
       .state = TaskState::ready,
       .cancelled = true,
       .waiting_for = "",
       .in_state = 0s,
       .age = 2ms,
       .site = site},
  };
  const std::string place =
      std::string(site.file_name()) + ":" + std::to_string(site.line()) + "\n";
  EXPECT_EQ(to_text(infos),
            "task 1 \"main\": suspended, waits for a door for 1.500 s, age 61.000 s, spawned at " +
                place + "task 2 \"guest\": ready for 0.000 s, age 0.002 s, cancelled, spawned at " +
                place);
}

TEST(TaskInfoTest, TasksOfSeveralSchedulersHaveDistinctAddresses) {
  EXPECT_EQ(to_string(TaskAddress{.id = 17}), "17");
  EXPECT_EQ(to_string(TaskAddress{.scheduler = 1, .id = 17}), "1.17");
  EXPECT_EQ(parse_task_address("17"), (TaskAddress{.id = 17}));
  EXPECT_EQ(parse_task_address("31.17"), (TaskAddress{.scheduler = 31, .id = 17}));
  for (const char* wrong : {"", ".", "1.", ".1", "0.17", "017", "1.2.3", "-1", "+1", " 1", "1x",
                            "99999999999999999999999", "4294967296.1"}) {
    EXPECT_FALSE(parse_task_address(wrong)) << wrong;
  }
}

// Names may hold text from peers, cut to a length in bytes.
TEST(TaskInfoTest, ANameWithControlCharactersStaysOnOneLine) {
  const std::string text = to_text({{.id = 1,
                                     .name = "a\n\x1b[2J\" caf\xc3",
                                     .state = TaskState::ready,
                                     .cancelled = false,
                                     .waiting_for = "",
                                     .in_state = 0s,
                                     .age = 0s,
                                     .site = std::source_location::current()}});
  EXPECT_TRUE(text.starts_with(R"(task 1 "a\n\x1b[2J\" caf\xc3": ready)")) << text;
}

TEST(TaskInfoTest, ALongLineIsNotCut) {
  const std::string reason(2000, 'x');
  const std::string text = to_text({{.id = 1,
                                     .name = "main",
                                     .state = TaskState::suspended,
                                     .cancelled = false,
                                     .waiting_for = reason,
                                     .in_state = 0s,
                                     .age = 0s,
                                     .site = std::source_location::current()}});
  EXPECT_NE(text.find(reason), std::string::npos);
  EXPECT_EQ(text.back(), '\n');
}

}  // namespace
}  // namespace corolane::coroutine
