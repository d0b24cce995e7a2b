// SPDX-License-Identifier: MIT
// The slices that a trace records of a scheduler's switches.
#include "coroutine/switch_trace.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "coroutine/async/async.h"
#include "coroutine/scheduler.h"
#include "coroutine/task.h"
#include "coroutine/task_group.h"

namespace corolane::coroutine {
namespace {

std::vector<std::string> names_of(const SwitchTrace& trace) {
  std::vector<std::string> names;
  trace.for_each([&](const SwitchTrace::Slice& slice) { names.emplace_back(slice.name()); });
  return names;
}

// The names of the tasks, without the loop.
std::vector<std::string> tasks_of(const SwitchTrace& trace) {
  auto names = names_of(trace);
  std::erase(names, "loop");
  return names;
}

void yield_times(int count) {
  for (int i = 0; i < count; ++i) EXPECT_TRUE(yield());
}

TEST(SwitchTraceTest, RecordsEachTaskInTheOrderOfRunning) {
  Scheduler& scheduler = Scheduler::current();
  TaskGroup group;
  ASSERT_TRUE(group.spawn("a", [] { yield_times(2); }));
  ASSERT_TRUE(group.spawn("b", [] { yield_times(1); }));
  SwitchTrace trace(100);
  {
    const auto recording = scheduler.record(trace);
    ASSERT_TRUE(recording);
    EXPECT_TRUE(group.join(Deadline::never()));
  }
  auto tasks = tasks_of(trace);
  ASSERT_GE(tasks.size(), 7u);
  const std::string& self = tasks.front();
  EXPECT_EQ(tasks, (std::vector<std::string>{self, "a", "b", "a", "b", "a", self}));
}

TEST(SwitchTraceTest, TimesRise) {
  Scheduler& scheduler = Scheduler::current();
  auto other = spawn("other", [] { yield_times(20); });
  SwitchTrace trace(100);
  {
    const auto recording = scheduler.record(trace);
    ASSERT_TRUE(recording);
    yield_times(20);
  }
  std::vector<std::uint64_t> begins;
  trace.for_each([&](const SwitchTrace::Slice& slice) { begins.push_back(slice.begin); });
  EXPECT_TRUE(std::ranges::is_sorted(begins));
  EXPECT_TRUE(other.join(Deadline::never()));
}

TEST(SwitchTraceTest, TheNewestSlicesStayWhenItIsFull) {
  Scheduler& scheduler = Scheduler::current();
  auto before = spawn("before", [] { yield_times(50); });
  SwitchTrace trace(8);
  {
    const auto recording = scheduler.record(trace);
    ASSERT_TRUE(recording);
    yield_times(60);
    auto after = spawn("after", [] { yield_times(50); });
    yield_times(50);
    EXPECT_TRUE(after.join(Deadline::never()));
  }
  const auto names = names_of(trace);
  EXPECT_EQ(names.size(), 8u);
  EXPECT_GT(trace.count(), 200u);
  EXPECT_EQ(std::ranges::count(names, "before"), 0);
  EXPECT_GE(std::ranges::count(names, "after"), 3);
  EXPECT_TRUE(before.join(Deadline::never()));
}

TEST(SwitchTraceTest, OnlyOneTraceRunsAtATime) {
  Scheduler& scheduler = Scheduler::current();
  SwitchTrace first(8);
  SwitchTrace second(8);
  {
    const auto recording = scheduler.record(first);
    ASSERT_TRUE(recording);
    EXPECT_FALSE(scheduler.record(second));
  }
  EXPECT_TRUE(scheduler.record(second));
}

TEST(SwitchTraceTest, NothingIsRecordedAfterItsEnd) {
  Scheduler& scheduler = Scheduler::current();
  auto other = spawn("other", [] { yield_times(20); });
  SwitchTrace trace(100);
  {
    const auto recording = scheduler.record(trace);
    ASSERT_TRUE(recording);
    yield_times(2);
  }
  const std::uint64_t count = trace.count();
  const std::uint64_t switches = scheduler.switch_count();
  yield_times(10);
  EXPECT_EQ(trace.count(), count);
  EXPECT_EQ(scheduler.switch_count() - switches, 20u);
  EXPECT_TRUE(other.join(Deadline::never()));
}

}  // namespace
}  // namespace corolane::coroutine
