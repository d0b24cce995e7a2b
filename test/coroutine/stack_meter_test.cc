// SPDX-License-Identifier: MIT
// The stack use that a meter reports to its task.
#include "coroutine/stack_meter.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "coroutine/scheduler.h"
#include "coroutine/stack/detail/sanitizer.h"
#include "coroutine/task.h"
#include "coroutine/task_info.h"
#include "coroutine/virtual_time.h"

namespace corolane::coroutine {
namespace {

constexpr TaskOptions large = {.stack_size_bytes = 256 * 1024};

// Runs `body` in a task of a scheduler that measures no stacks itself.
template <typename F>
void run_in_task(F body) {
  VirtualTime time;
  Scheduler scheduler(time, {.stack_sample_interval = 0});
  EXPECT_TRUE(scheduler.run(
      "main", [&] { EXPECT_TRUE(spawn("measured", body, large).join(Deadline::never())); }));
}

template <std::size_t size>
[[gnu::noinline]] void use_stack() {
  std::array<char, size> room;
  room.fill(1);
  asm volatile("" : : "r"(room.data()) : "memory");
}

TEST(StackMeterTest, ReportsTheDeepestUseWithinIt) {
  run_in_task([] {
    use_stack<150'000>();  // Before the meter: does not count.
    StackMeter meter;
    use_stack<40'000>();
    use_stack<10'000>();
    const auto use = meter.end();
    ASSERT_TRUE(use);
    EXPECT_GE(use->used_bytes, 40'000u);
    EXPECT_LT(use->used_bytes, 120'000u);
    EXPECT_GE(use->size_bytes, large.stack_size_bytes);
  });
}

// The names of the tasks that are reported while `body` runs in one with a stack of 256 KiB.
template <typename F>
std::vector<std::string> deep_tasks_of(F body) {
  std::vector<std::string> names;
  VirtualTime time;
  Scheduler scheduler(time, {.stack_sample_interval = 0, .on_deep_stack = [&](const auto& deep) {
                               EXPECT_TRUE(is_deep(deep.used_bytes, deep.size_bytes));
                               names.emplace_back(deep.task_name);
                             }});
  EXPECT_TRUE(scheduler.run(
      "main", [&] { EXPECT_TRUE(spawn("measured", body, large).join(Deadline::never())); }));
  EXPECT_EQ(scheduler.statistics().deep_stack_count, names.size());
  return names;
}

TEST(StackMeterTest, ATaskThatComesCloseToTheEndIsReported) {
  constexpr std::size_t nearly_all = 240 * 1024 * detail::stack_size_factor;
  EXPECT_EQ(deep_tasks_of([] {
              StackMeter meter;
              use_stack<nearly_all>();
            }),
            std::vector<std::string>{"measured"});
  EXPECT_TRUE(deep_tasks_of([] {
                StackMeter meter;
                use_stack<nearly_all / 2>();
              }).empty());
}

TEST(DeepStackTest, ARareDeepUseIsFoundOnTheIdleStackOnce) {
  std::vector<std::string> names;
  VirtualTime time;
  Scheduler scheduler(time, {.stack_sample_interval = 0, .on_deep_stack = [&](const auto& deep) {
                               EXPECT_FALSE(deep.is_measured);
                               EXPECT_GE(deep.used_bytes, deep.size_bytes - deep.size_bytes / 10);
                               names.emplace_back(deep.task_name);
                             }});
  EXPECT_TRUE(scheduler.run("main", [&] {
    for (int i = 0; i < 100; ++i) {
      EXPECT_TRUE(spawn("shallow", [] { use_stack<1'000>(); }, large).join(Deadline::never()));
    }
    scheduler.look_for_deep_stacks();
    EXPECT_TRUE(names.empty());
    constexpr std::size_t nearly_all = 240 * 1024 * detail::stack_size_factor;
    EXPECT_TRUE(spawn("rare", [] { use_stack<nearly_all>(); }, large).join(Deadline::never()));
    scheduler.look_for_deep_stacks();
    EXPECT_EQ(names, std::vector<std::string>{"rare"});
    scheduler.look_for_deep_stacks();
    EXPECT_EQ(names.size(), 1u);
  }));
}

TEST(StackMeterTest, TheFramesAboveStayIntact) {
  run_in_task([] {
    std::array<char, 10'000> mine;
    mine.fill(7);
    StackMeter meter;
    use_stack<1'000>();
    EXPECT_TRUE(meter.end());
    for (const char c : mine) ASSERT_EQ(c, 7);
  });
}

TEST(StackMeterTest, ATaskHasOneMeterAtATime) {
  run_in_task([] {
    StackMeter first;
    StackMeter second;
    EXPECT_FALSE(second.end());
    EXPECT_TRUE(first.end());
    EXPECT_FALSE(first.end());
    StackMeter third;
    EXPECT_TRUE(third.end());
  });
}

}  // namespace
}  // namespace corolane::coroutine
