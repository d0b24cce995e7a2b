// SPDX-License-Identifier: MIT
// Processes that end because their node should be fenced: each in a process of its own, on the real
// clock.
#include "framework/cluster/detail/fence_watchdog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <future>
#include <string>
#include <string_view>
#include <thread>

#include "framework/cluster/ownership.h"
#include "framework/telemetry/log.h"

namespace corolane::framework::detail {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::ExitedWithCode;
using testing::HasSubstr;

constexpr int exit_status = 70;

// A loop that never turns again. The alarm ends a process that its watchdog does not end.
[[noreturn]] void hang() {
  ::alarm(10);
  for (;;) ::pause();
}

void hang_past_the_fence() {
  Fence fence;
  fence.set(fence.clock_now() - 1h);
  Log log(LogLevel::error);
  const FenceWatchdog watchdog(fence, log);
  hang();
}

TEST(FenceWatchdogTest, ALoopThatHangsPastItsFenceEndsTheProcessAndTheLogSaysWhy) {
  EXPECT_EXIT(hang_past_the_fence(), ExitedWithCode(exit_status),
              HasSubstr("the node is fenced, but its loop does not react"));
}

// The loop hangs in the log itself, as in a write to a stderr that nobody reads: it holds the lock
// that every other line waits for.
void hang_in_the_log() {
  Fence fence;
  fence.set(fence.clock_now() - 1h);
  std::promise<void> never;
  std::promise<void> is_in_sink;
  Log log(LogLevel::error, [&](std::string_view) {
    is_in_sink.set_value();
    never.get_future().wait();
  });
  const std::jthread loop([&] { log.error("the last line"); });
  is_in_sink.get_future().wait();
  const FenceWatchdog watchdog(fence, log);
  hang();
}

TEST(FenceWatchdogTest, ALogThatBlocksForEverDoesNotKeepTheProcess) {
  EXPECT_EXIT(hang_in_the_log(), ExitedWithCode(exit_status), "");
}

void hang_in_a_drop(Fence::DropStep step) {
  Fence fence;
  fence.fall();
  fence.begin_step(step);
  Log log(LogLevel::error);
  const FenceWatchdog watchdog(fence, log, {.drop_time_max = 50ms});
  hang();
}

TEST(FenceWatchdogTest, AFencedNodeThatKeepsItsObjectsEndsAndTheLogNamesTheStep) {
  EXPECT_EXIT(hang_in_a_drop(Fence::DropStep::objects), ExitedWithCode(exit_status),
              AllOf(HasSubstr("the node is fenced, but does not drop what it owned"),
                    HasSubstr("waits_for=\"the end of all objects\"")));
  EXPECT_EXIT(hang_in_a_drop(Fence::DropStep::hand_over), ExitedWithCode(exit_status),
              HasSubstr("waits_for=\"the end of a hand-over\""));
}

// The time of the tests below.
TimePoint test_time;
TimePoint test_clock() { return test_time; }

TEST(FenceWatchdogTest, AFencedNodeHasFiveSecondsToDropWhatItOwned) {
  using Verdict = FenceWatchdog::Verdict;
  const FenceWatchdog::Options options;
  test_time = TimePoint(1h);
  Fence fence(test_clock);
  fence.set(test_time + 4s);
  test_time += 4s;
  fence.fall();
  EXPECT_FALSE(fence.is_in_time());
  test_time += 4'999ms;
  fence.fall();  // It has fallen already: the time counts from the first one.
  fence.begin_step(Fence::DropStep::objects);
  EXPECT_EQ(FenceWatchdog::verdict(fence, options), Verdict::lives);
  test_time += 1ms;
  EXPECT_EQ(FenceWatchdog::verdict(fence, options), Verdict::does_not_drop);
  fence.rest();
  EXPECT_EQ(FenceWatchdog::verdict(fence, options), Verdict::lives);
  test_time += 1h;
  EXPECT_EQ(FenceWatchdog::verdict(fence, options), Verdict::lives)
      << "it may wait for its directory for as long as that takes";
}

TEST(FenceWatchdogTest, ALoopHasOneSecondToNoticeTheEndOfItsFence) {
  using Verdict = FenceWatchdog::Verdict;
  const FenceWatchdog::Options options;
  test_time = TimePoint(1h);
  Fence fence(test_clock);
  EXPECT_EQ(FenceWatchdog::verdict(fence, options), Verdict::lives);
  fence.set(test_time + 4s);
  test_time += 4'999ms;
  EXPECT_EQ(FenceWatchdog::verdict(fence, options), Verdict::lives);
  test_time += 1ms;
  EXPECT_EQ(FenceWatchdog::verdict(fence, options), Verdict::does_not_react);
}

TEST(FenceWatchdogTest, ANodeWithinItsFenceGoesOnAndItsWatchdogEndsWithIt) {
  Fence fence;
  Log log(LogLevel::error);
  for (const TimePoint end : {TimePoint::max(), TimePoint::min(), fence.clock_now() + 1h}) {
    fence.set(end);
    const FenceWatchdog watchdog(fence, log);
  }
}

}  // namespace
}  // namespace corolane::framework::detail
