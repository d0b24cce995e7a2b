// SPDX-License-Identifier: MIT
// The samples of a profile: which task computed, and where.
#include "coroutine/cpu_profile.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "coroutine/base/cycle_clock.h"
#include "coroutine/inspect/symbols.h"
#include "coroutine/scheduler.h"
#include "coroutine/stack/detail/valgrind.h"
#include "coroutine/task.h"
#include "coroutine/task_group.h"

namespace corolane::coroutine {
namespace {

using namespace std::chrono_literals;

// Ends after `sample_count` samples, or when that takes far too long.
[[gnu::noinline]] void compute_in_a_profile(const CpuProfile& profile, std::size_t sample_count) {
  const std::uint64_t begin = cycle_count();
  const double cycles_max = 20e9 * cycles_per_ns();
  while (profile.samples().size() + profile.lost_count() < sample_count &&
         static_cast<double>(cycle_count() - begin) < cycles_max) {
    asm volatile("" : : : "memory");
  }
}

// Signals then come one after another, and hit the code that handles them.
constexpr auto valgrind_is_too_slow = "under valgrind a sample takes as long as its interval";

class CpuProfileTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!scheduler_.statistics().measures_cpu) GTEST_SKIP() << "signals come too late";
  }

  Scheduler& scheduler_ = Scheduler::current();
};

TEST_F(CpuProfileTest, RecordsTheComputingTaskWithItsStack) {
  if (detail::Valgrind::is_running()) GTEST_SKIP() << valgrind_is_too_slow;
  CpuProfile profile(1'000);
  {
    const auto recording = scheduler_.record(profile);
    ASSERT_TRUE(recording);
    auto task = spawn("busy", [&] { compute_in_a_profile(profile, 10); });
    EXPECT_TRUE(task.join(Deadline::never()));
  }
  ASSERT_GE(profile.samples().size(), 10u);
  Duration cpu{};
  int count = 0;
  Symbols symbols;
  for (const CpuProfile::Sample& sample : profile.samples()) {
    cpu += sample.cpu();
    if (sample.task_name() != "busy") continue;
    const auto addresses = sample.addresses();
    const auto frames = symbols.frames({{addresses.begin(), addresses.end()}});
    for (const SourceFrame& frame : frames) {
      if (frame.function.contains("compute_in_a_profile")) {
        ++count;
        break;
      }
    }
  }
  EXPECT_GE(cpu, 10ms);
  // The first sample may have been due earlier.
  EXPECT_GE(count, 8);
}

TEST_F(CpuProfileTest, SamplesWithoutRoomAreCounted) {
  CpuProfile profile(3);
  {
    const auto recording = scheduler_.record(profile);
    ASSERT_TRUE(recording);
    compute_in_a_profile(profile, 6);
  }
  EXPECT_EQ(profile.samples().size(), 3u);
  EXPECT_GE(profile.lost_count(), 3u);
}

TEST_F(CpuProfileTest, OnlyOneProfileRunsAtATime) {
  CpuProfile first(1);
  CpuProfile second(1);
  {
    const auto recording = scheduler_.record(first);
    ASSERT_TRUE(recording);
    EXPECT_FALSE(scheduler_.record(second));
  }
  EXPECT_TRUE(scheduler_.record(second));
}

TEST_F(CpuProfileTest, ATaskThatReturnsEarlyEndsItsProfile) {
  CpuProfile profile(100);
  auto task = spawn("returns early", [&]() -> Result<void> {
    const auto recording = scheduler_.record(profile);
    return Error(Code::aborted, "early");
  });
  EXPECT_FALSE(task.join(Deadline::never()));
  CpuProfile next(1);
  EXPECT_TRUE(scheduler_.record(next));
}

// The signal may hit any instruction, also in the middle of a switch.
TEST_F(CpuProfileTest, TasksThatSwitchAllTheTimeAreWalkedSafely) {
  if (detail::Valgrind::is_running()) GTEST_SKIP() << valgrind_is_too_slow;
  CpuProfile profile(100'000);
  const auto recording = scheduler_.record(profile);
  ASSERT_TRUE(recording);
  TaskGroup group;
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(group.spawn("switching", [&] {
      const std::uint64_t begin = cycle_count();
      const double cycles_max = 20e9 * cycles_per_ns();
      while (profile.samples().size() < 100 &&
             static_cast<double>(cycle_count() - begin) < cycles_max) {
        for (int j = 0; j < 100; ++j) EXPECT_TRUE(yield());
        auto child = spawn("short", [] {});
        EXPECT_TRUE(child.join(Deadline::never()));
      }
    }));
  }
  EXPECT_TRUE(group.join(Deadline::never()));
  EXPECT_GE(profile.samples().size(), 100u);
}

}  // namespace
}  // namespace corolane::coroutine
