// SPDX-License-Identifier: MIT
// Which handlers are measured, and how the measurements add up.
#include "rpc/observe/method_cost.h"

#include <gtest/gtest.h>

#include <chrono>

#include "coroutine/scheduler.h"
#include "coroutine/task.h"
#include "coroutine/virtual_time.h"

namespace corolane::rpc {
namespace {

using namespace std::chrono_literals;

void measure_many() {
  MethodMeter meter;
  const auto measured_count = [&] { return meter.cost().timed_count + meter.cost().stack_count; };
  for (std::uint32_t i = 1; i <= MethodMeter::first_count; ++i) {
    meter.run([] {});
    EXPECT_EQ(measured_count(), i);
  }
  EXPECT_EQ(meter.cost().timed_count, meter.cost().stack_count);
  for (std::uint32_t i = 0; i < 4 * MethodMeter::interval; ++i) meter.run([] {});
  EXPECT_EQ(measured_count(), MethodMeter::first_count + 4);
}

TEST(MethodMeterTest, MeasuresTheFirstCallsAndThenOnePerInterval) {
  // A scheduler that measures no stacks itself.
  coroutine::VirtualTime time;
  coroutine::Scheduler scheduler(time, {.stack_sample_interval = 0});
  EXPECT_TRUE(scheduler.run("main", [] { measure_many(); }));
}

TEST(MethodMeterTest, ReturnsTheResultOfTheHandler) {
  MethodMeter meter;
  for (int i = 0; i < 100; ++i) EXPECT_EQ(meter.run([&] { return i; }), i);
}

TEST(MethodMeterTest, RunTimeIncludesWaiting) {
  MethodMeter meter;
  for (int i = 0; i < 2; ++i) {
    meter.run([] { static_cast<void>(coroutine::sleep_for(3s)); });
  }
  EXPECT_EQ(meter.cost().timed_count, 1u);
  EXPECT_EQ(meter.cost().run_time, 3s);
  EXPECT_GT(meter.cost().cpu, 0s);
  EXPECT_EQ(meter.cost().suspension_count, 1u);
}

TEST(MethodCostTest, SuggestsRoomForOneAndAHalfTimesTheLargestUse) {
  MethodCost cost;
  EXPECT_EQ(cost.suggested_stack_size_bytes(), 0u);
  cost.stack_count = 1;
  cost.stack_used_bytes_max = 5'000;
  EXPECT_EQ(cost.suggested_stack_size_bytes(), 16u * 1024);
  cost.stack_used_bytes_max = 11'000;
  EXPECT_EQ(cost.suggested_stack_size_bytes(), 32u * 1024);
  cost.stack_used_bytes_max = 60'000;
  EXPECT_EQ(cost.suggested_stack_size_bytes(), 128u * 1024);
}

TEST(MethodCostTest, SumsAddUpAndTheDeepestStackIsKept) {
  MethodCost one;
  one.timed_count = 2;
  one.cpu = 3s;
  one.stack_used_bytes_max = 100;
  MethodCost other;
  other.timed_count = 3;
  other.cpu = 4s;
  other.stack_used_bytes_max = 90;
  one.add(other);
  EXPECT_EQ(one.timed_count, 5u);
  EXPECT_EQ(one.cpu, 7s);
  EXPECT_EQ(one.stack_used_bytes_max, 100u);
}

}  // namespace
}  // namespace corolane::rpc
