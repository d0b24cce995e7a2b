// How much of its stack a task is told that it has used.
#include "coroutine/stack_meter.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>

#include "coroutine/task.h"
#include "coroutine/task_options.h"

namespace corolane::coroutine {
namespace {

constexpr TaskOptions large = {.stack_size_bytes = 256 * 1024};

template <std::size_t size>
[[gnu::noinline]] void use_stack() {
  std::array<char, size> room;
  room.fill(1);
  asm volatile("" : : "r"(room.data()) : "memory");
}

TEST(StackMeterTest, TellsTheDeepestUseWithinIt) {
  auto task = spawn(
      "measured",
      [] {
        use_stack<150'000>();  // Before it: does not count.
        StackMeter meter;
        use_stack<40'000>();
        use_stack<10'000>();
        const auto use = meter.end();
        ASSERT_TRUE(use);
        EXPECT_GE(use->used_bytes, 40'000u);
        EXPECT_LT(use->used_bytes, 120'000u);
        EXPECT_GE(use->size_bytes, large.stack_size_bytes);
      },
      large);
  EXPECT_TRUE(task.join());
}

TEST(StackMeterTest, WhatLiesAboveStaysWhole) {
  auto task = spawn(
      "measured",
      [] {
        std::array<char, 10'000> mine;
        mine.fill(7);
        StackMeter meter;
        use_stack<1'000>();
        EXPECT_TRUE(meter.end());
        for (const char c : mine) ASSERT_EQ(c, 7);
      },
      large);
  EXPECT_TRUE(task.join());
}

TEST(StackMeterTest, ATaskHasOneAtATime) {
  auto task = spawn("measured", [] {
    StackMeter first;
    StackMeter second;
    EXPECT_FALSE(second.end());
    EXPECT_TRUE(first.end());
    EXPECT_FALSE(first.end());
    StackMeter third;
    EXPECT_TRUE(third.end());
  });
  EXPECT_TRUE(task.join());
}

}  // namespace
}  // namespace corolane::coroutine
