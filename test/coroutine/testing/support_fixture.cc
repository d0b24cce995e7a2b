// SPDX-License-Identifier: MIT
// Tests that leak, hang and need missing programs on purpose: the leak checks, the watchdog and
// COROLANE_NEEDS must catch them.
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <thread>

#include "coroutine/scheduler.h"
#include "coroutine/task.h"
#include "coroutine/testing/leak_checks.h"
#include "coroutine/testing/programs.h"
#include "coroutine/timer_wheel.h"
#include "coroutine/virtual_time.h"

namespace corolane::test {
namespace {

using namespace std::chrono_literals;
using coroutine::Scheduler;
using coroutine::Task;
using coroutine::Timer;
using coroutine::VirtualTime;

std::size_t door_count = 0;
const bool doors_checked = add_leak_check("open doors", [] { return door_count; });

TEST(LeakFixture, LeavesATask) {
  [[maybe_unused]] static auto* const left =
      new Task<void>(coroutine::spawn("forgotten", [] { return coroutine::sleep_for(24h); }));
  EXPECT_TRUE(coroutine::yield());
}

TEST(LeakFixture, LeavesATimer) {
  static auto* const left = new Timer([](Timer&) {});
  Scheduler::current().timers().arm(*left, Deadline::after(24h));
}

TEST(LeakFixture, LeavesADoorOpen) { ++door_count; }

// Comes last: leaks of other tests are not its fault.
TEST(LeakFixture, LeavesNothing) {
  ASSERT_TRUE(doors_checked);
  auto task = coroutine::spawn("short", [] { return coroutine::sleep_for(1s); });
  EXPECT_TRUE(task.join(Deadline::never()));
}

TEST(WatchdogFixture, SleepsForEver) {
  auto sleeper = coroutine::spawn("sleeper", [] {
    while (coroutine::sleep_for(1s)) {
    }
  });
  EXPECT_TRUE(sleeper.join(Deadline::never()));
}

TEST(WatchdogFixture, BlocksItsThread) { std::this_thread::sleep_for(1h); }

TEST(WatchdogFixture, WaitsInASchedulerOfItsOwn) {
  VirtualTime time;
  const VirtualTime::Outside nobody(time);
  Scheduler inner(time);
  EXPECT_TRUE(inner.run("inner", [] { EXPECT_TRUE(coroutine::sleep_for(1s)); }));
}

TEST(ProgramsFixture, NeedsAShell) {
  COROLANE_NEEDS(missing_program("sh"));
  std::puts("it has run");
}

TEST(ProgramsFixture, NeedsNoSuchProgram) {
  COROLANE_NEEDS(missing_program("no-such-program"));
  std::puts("it has run");
}

class ProgramsSetUpFixture : public testing::Test {
 protected:
  void SetUp() override { COROLANE_NEEDS(missing_program("no-such-program")); }
};

TEST_F(ProgramsSetUpFixture, Runs) { std::puts("it has run"); }

}  // namespace
}  // namespace corolane::test
