// SPDX-License-Identifier: MIT
// Loops that stall, on the real clock: a watchdog is another thread.
#include "framework/diagnostics/detail/stall_watchdog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "coroutine/inspect/symbols.h"
#include "coroutine/task.h"
#include "coroutine/testing/sanitizers.h"
#include "test/coroutine/emulation.h"
#include "test/fixtures/real_loop.h"
#include "test/framework/counter.h"

namespace corolane::framework::detail {
namespace {

using namespace std::chrono_literals;
using test::RealLoop;
using test::run_on_real_loop;
using testing::Ge;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

// The log lines of a watchdog, which logs from a thread of its own.
class Lines {
 public:
  Log log() {
    return Log(LogLevel::info, [this](std::string_view line) {
      const std::scoped_lock lock(mutex_);
      lines_.emplace_back(line);
    });
  }
  std::vector<std::string> all() const {
    const std::scoped_lock lock(mutex_);
    return lines_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> lines_;
};

std::chrono::steady_clock::time_point real_now() { return std::chrono::steady_clock::now(); }

// Computes for 50 ms, and longer while the watchdog has had no processor time to notice.
[[gnu::noinline]] void keep_the_loop(const StallWatchdog& watchdog) {
  const std::uint64_t count = watchdog.statistics().count;
  const auto start = real_now();
  while (real_now() - start < 50ms ||
         (watchdog.statistics().count == count && real_now() - start < 10s)) {
  }
}

void wait_for_the_end(const StallWatchdog& watchdog) {
  while (!watchdog.last_stalls().empty() && watchdog.last_stalls().front().is_going_on) {
    ASSERT_TRUE(coroutine::sleep_for(1ms));
  }
}

TEST(StallWatchdogTest, EachBusyHandlerIsNamed) {
  Lines lines;
  Log log = lines.log();
  std::vector<std::string> told;
  run_on_real_loop([&](RealLoop& real) {
    const StallWatchdog watchdog({&real.scheduler}, {.kept_count = 64}, log);
    for (int i = 0; i < 50; ++i) {
      auto handler = coroutine::spawn("a busy handler", [&] { keep_the_loop(watchdog); });
      ASSERT_TRUE(handler.join(Deadline::never()));
      wait_for_the_end(watchdog);
    }
    const auto stalls = watchdog.last_stalls();
    EXPECT_FALSE(stalls.front().is_control);
    // A busy machine may hold up the loop between two handlers, too.
    ASSERT_THAT(stalls, SizeIs(Ge(50)));
    EXPECT_GE(watchdog.statistics().time, 50 * 20ms);
    // The search for names may hold the loop for seconds, which is told, too.
    told = lines.all();
    coroutine::Symbols symbols;
    int named_count = 0;
    for (const auto& stall : stalls) {
      EXPECT_GE(stall.lasted, 20ms);
      if (!stall.doing || stall.doing->task_name != "a busy handler") continue;
      ++named_count;
      EXPECT_THAT(coroutine::to_text(symbols.frames(stall.doing->trace)),
                  HasSubstr("keep_the_loop"));
    }
    // The thread sanitizer defers signals.
    EXPECT_EQ(named_count, test::under_thread_sanitizer ? named_count : 50);
  });
  // A few stalls are logged; the next one also reports the number of those left out.
  ASSERT_THAT(told, SizeIs(5));
  EXPECT_THAT(told.front(), HasSubstr("the loop does not turn"));
  if (!test::under_thread_sanitizer) {
    EXPECT_THAT(told.front(), HasSubstr("task=\"a busy handler\""));
  }
  // A stall keeps only the innermost frames, and the sanitizers add some of their own.
  if (!test::under_sanitizer) {
    EXPECT_THAT(told.front(), HasSubstr("keep_the_loop"));
  }
}

TEST(StallWatchdogTest, AStallOfTheControlThreadIsNamedAsThat) {
  Lines lines;
  Log log = lines.log();
  run_on_real_loop([&](RealLoop& real) {
    const StallWatchdog watchdog({&real.scheduler}, {.control_is_last = true}, log);
    auto page = coroutine::spawn("a page", [&] { keep_the_loop(watchdog); });
    ASSERT_TRUE(page.join(Deadline::never()));
    EXPECT_TRUE(watchdog.last_stalls().back().is_control);
  });
  EXPECT_THAT(lines.all().front(), HasSubstr("shard=control "));
}

TEST(StallWatchdogTest, ATaskThatSleepsOrYieldsIsNotAStall) {
  Lines lines;
  Log log = lines.log();
  run_on_real_loop([&](RealLoop& real) {
    // Far longer than a busy machine preempts a thread.
    const StallWatchdog watchdog({&real.scheduler}, {.stall_time_min = 2s}, log);
    ASSERT_TRUE(coroutine::sleep_for(100ms));
    for (const auto end = real_now() + 100ms; real_now() < end;) ASSERT_TRUE(coroutine::yield());
    EXPECT_EQ(watchdog.statistics().count, 0u);
  });
  EXPECT_THAT(lines.all(), testing::IsEmpty());
}

TEST(StallWatchdogTest, AStalledLoopIsStuckUntilItTurns) {
  Lines lines;
  Log log = lines.log();
  run_on_real_loop([&](RealLoop& real) {
    const StallWatchdog watchdog({&real.scheduler}, {.stuck_time_min = 60ms}, log);
    EXPECT_FALSE(watchdog.is_stuck());
    auto handler = coroutine::spawn("stuck", [&] {
      const auto start = real_now();
      while (!watchdog.is_stuck() && real_now() - start < 10s) {
      }
      EXPECT_TRUE(watchdog.is_stuck());
    });
    ASSERT_TRUE(handler.join(Deadline::never()));
    wait_for_the_end(watchdog);
    EXPECT_FALSE(watchdog.is_stuck());
  });
}

// Sleeps without a turn of the loop, for 200 ms and until the watchdog has seen it. Returns whether
// a signal has ended a sleep early.
[[gnu::noinline]] bool block_the_loop(const StallWatchdog& watchdog) {
  bool is_ended_early = false;
  for (const auto start = real_now();
       !is_ended_early && (watchdog.statistics().count == 0 && real_now() - start < 10s);) {
    is_ended_early = ::poll(nullptr, 0, 200) != 0;
  }
  return is_ended_early;
}

TEST(StallWatchdogTest, ABlockingCallIsNamedAndNotEndedEarly) {
  if (test::is_emulated()) GTEST_SKIP() << "the kernel tells of the emulator";
  Lines lines;
  Log log = lines.log();
  run_on_real_loop([&](RealLoop& real) {
    const StallWatchdog watchdog({&real.scheduler}, {}, log);
    auto handler = coroutine::spawn("blocks", [&] { return block_the_loop(watchdog); });
    const auto is_ended_early = handler.join(Deadline::never());
    ASSERT_TRUE(is_ended_early);
    EXPECT_FALSE(*is_ended_early);
    wait_for_the_end(watchdog);
    if (test::under_thread_sanitizer) return;  // It measures no CPU time, so nothing is asked.
    const auto stall = watchdog.last_stalls().front();
    ASSERT_TRUE(stall.doing);
    EXPECT_EQ(stall.doing->task_name, "blocks");
    EXPECT_THAT(stall.doing->asleep_in, HasSubstr("poll"));
    if (test::under_sanitizer) return;
    EXPECT_THAT(coroutine::to_text(coroutine::Symbols().frames(stall.doing->trace)),
                HasSubstr("block_the_loop"));
  });
  EXPECT_THAT(lines.all().front(), HasSubstr("asleep_in="));
}

TEST(StallWatchdogTest, AStallThatGoesOnIsToldAgain) {
  Lines lines;
  Log log = lines.log();
  run_on_real_loop([&](RealLoop& real) {
    const StallWatchdog watchdog({&real.scheduler}, {.told_again_after = 30ms}, log);
    auto handler = coroutine::spawn("goes on", [&] {
      // The first line, then those after 30 and 300 ms.
      for (const auto start = real_now(); lines.all().size() < 3 && real_now() - start < 10s;) {
      }
    });
    ASSERT_TRUE(handler.join(Deadline::never()));
  });
  ASSERT_THAT(lines.all(), SizeIs(Ge(3)));
  if (test::under_thread_sanitizer) return;
  for (const std::string& line : lines.all()) EXPECT_THAT(line, HasSubstr("goes on"));
}

// Stalls of other loops follow one another meanwhile.
TEST(StallWatchdogTest, AStallThatGoesOnIsKept) {
  Lines lines;
  Log log = lines.log();
  std::atomic<coroutine::Scheduler*> other = nullptr;
  std::atomic<const StallWatchdog*> shared = nullptr;
  std::atomic<bool> is_over = false;
  std::jthread busy([&] {
    run_on_real_loop([&](RealLoop& real) {
      other = &real.scheduler;
      while (!is_over) {
        const StallWatchdog* const watchdog = shared;
        if (watchdog != nullptr) keep_the_loop(*watchdog);
        if (!coroutine::sleep_for(1ms)) break;
      }
    });
  });
  run_on_real_loop([&](RealLoop& real) {
    while (other == nullptr) ASSERT_TRUE(coroutine::sleep_for(1ms));
    const StallWatchdog watchdog({&real.scheduler, other}, {.kept_count = 1}, log);
    auto handler = coroutine::spawn("long", [&] {
      const auto start = real_now();
      while (watchdog.statistics().count == 0 && real_now() - start < 10s) {
      }
      shared = &watchdog;
      while (watchdog.statistics().count < 4 && real_now() - start < 20s) {
      }
      const auto stalls = watchdog.last_stalls();
      EXPECT_TRUE(std::ranges::any_of(stalls, [](const StallWatchdog::Stall& stall) {
        return stall.shard == 0 && stall.is_going_on;
      }));
      EXPECT_LE(stalls.size(), 3u);
      shared = nullptr;
      is_over = true;
    });
    ASSERT_TRUE(handler.join(Deadline::never()));
    busy.join();
  });
}

TEST(StallWatchdogTest, AThreadWithoutTasksIsInterruptedAsWell) {
  Lines lines;
  Log log = lines.log();
  run_on_real_loop([&](RealLoop& real) {
    const StallWatchdog watchdog({&real.scheduler}, {}, log);
    real.scheduler.post([&] { keep_the_loop(watchdog); });
    while (watchdog.statistics().count == 0) ASSERT_TRUE(coroutine::sleep_for(1ms));
    wait_for_the_end(watchdog);
    const auto stall = watchdog.last_stalls().front();
    if (test::under_thread_sanitizer) return;
    ASSERT_TRUE(stall.doing);
    EXPECT_EQ(stall.doing->task, 0u);
    EXPECT_THAT(coroutine::to_text(coroutine::Symbols().frames(stall.doing->trace)),
                HasSubstr("keep_the_loop"));
  });
}

}  // namespace
}  // namespace corolane::framework::detail
