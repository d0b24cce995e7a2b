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
