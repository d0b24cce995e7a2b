// SPDX-License-Identifier: MIT
// The consumption that a meter reports to its task.
#include "coroutine/task_meter.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "coroutine/base/allocations.h"
#include "coroutine/base/cycle_clock.h"
#include "coroutine/scheduler.h"
#include "coroutine/task.h"
#include "coroutine/task_group.h"

namespace corolane::coroutine {
namespace {

using namespace std::chrono_literals;

// Computes for this much real time; the test's clock is simulated.
void compute(Duration time) {
  const auto cycles =
      static_cast<std::uint64_t>(static_cast<double>(time.count()) * cycles_per_ns());
  for (const std::uint64_t begin = cycle_count(); cycle_count() - begin < cycles;) {
  }
}

// Keeps the compiler from optimising unused memory away.
std::unique_ptr<char[]> allocate(std::size_t size_bytes) {
  auto memory = std::make_unique<char[]>(size_bytes);
  asm volatile("" : : "r"(memory.get()) : "memory");
  return memory;
}

TEST(TaskMeterTest, CountsTimeOnlyWhileItsTaskRuns) {
  std::uint64_t others_cycles = 0;
  TaskGroup others;
  ASSERT_TRUE(others.spawn("other", [&] {
    for (int i = 0; i < 5; ++i) {
      const std::uint64_t begin = cycle_count();
      compute(10ms);
      others_cycles += cycle_count() - begin;
      EXPECT_TRUE(yield());
    }
  }));
  const std::uint64_t begin = cycle_count();
  TaskMeter meter;
  for (int i = 0; i < 5; ++i) {
    compute(200us);
    EXPECT_TRUE(yield());
  }
  EXPECT_TRUE(others.join(Deadline::never()));
  const auto cost = meter.end();
  const std::uint64_t cycles = cycle_count() - begin;
  ASSERT_TRUE(cost);
  EXPECT_GE(cost->cpu, 1ms);
  EXPECT_LE(static_cast<double>(cost->cpu.count()) * cycles_per_ns(),
            static_cast<double>(cycles - others_cycles));
  EXPECT_GE(cost->suspension_count, 6u);
}

TEST(TaskMeterTest, ChargesTheComputingTaskWhenBothAreMeasured) {
  std::optional<TaskCost> busy;
  std::optional<TaskCost> idle;
  TaskGroup group;
  ASSERT_TRUE(group.spawn("busy", [&] {
    TaskMeter meter;
    for (int i = 0; i < 20; ++i) {
      compute(1ms);
      EXPECT_TRUE(yield());
    }
    busy = meter.end();
  }));
  ASSERT_TRUE(group.spawn("idle", [&] {
    TaskMeter meter;
    for (int i = 0; i < 20; ++i) EXPECT_TRUE(yield());
    idle = meter.end();
  }));
  EXPECT_TRUE(group.join(Deadline::never()));
  ASSERT_TRUE(busy && idle);
  EXPECT_GE(busy->cpu, 20ms);
  EXPECT_LT(idle->cpu, busy->cpu);
  EXPECT_EQ(busy->suspension_count, 20u);
  EXPECT_EQ(idle->suspension_count, 20u);
}

TEST(TaskMeterTest, CountsOnlyTheAllocationsOfItsTask) {
  const auto before = allocations();
  static_cast<void>(allocate(1));
  if (allocations().count == before.count) GTEST_SKIP() << "operator new is not ours";
  auto other = spawn("other", [] {
    for (int i = 0; i < 10; ++i) {
      const auto memory = allocate(1000);
      EXPECT_TRUE(yield());
    }
  });
  TaskMeter meter;
  for (int i = 0; i < 3; ++i) {
    const auto memory = allocate(100);
    EXPECT_TRUE(yield());
  }
  const auto cost = meter.end();
  ASSERT_TRUE(cost);
  EXPECT_EQ(cost->allocations.count, 3u);
  EXPECT_EQ(cost->allocations.bytes, 300u);
  EXPECT_TRUE(other.join(Deadline::never()));
}

TEST(TaskMeterTest, ATaskHasOneMeterAtATime) {
  TaskMeter meter;
  {
    TaskMeter second;
    EXPECT_FALSE(second.end());
  }
  EXPECT_TRUE(meter.end());
  EXPECT_FALSE(meter.end());
  TaskMeter third;
  EXPECT_TRUE(third.end());
}

TEST(TaskMeterTest, AMeterDoesNotChangeTheCountOfSwitches) {
  Scheduler& scheduler = Scheduler::current();
  auto other = spawn("other", [] {
    while (yield()) {
    }
  });
  EXPECT_TRUE(yield());
  const std::uint64_t before = scheduler.switch_count();
  {
    TaskMeter meter;
    for (int i = 0; i < 1000; ++i) EXPECT_TRUE(yield());
  }
  EXPECT_EQ(scheduler.switch_count() - before, 2000u);
  EXPECT_EQ(scheduler.statistics().switch_count, scheduler.switch_count());
}

TEST(TaskMeterTest, AForgottenMeterEndsWithItsScope) {
  auto task = spawn("forgets", [] { TaskMeter meter; });
  EXPECT_TRUE(task.join(Deadline::never()));
  TaskMeter meter;
  EXPECT_TRUE(meter.end());
}

}  // namespace
}  // namespace corolane::coroutine
