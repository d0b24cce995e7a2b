// SPDX-License-Identifier: MIT
// The destruction of a StopSignal; run_main_test.cc covers the signals, in processes of their own.
#include "framework/node/detail/stop_signal.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <chrono>
#include <csignal>

#include "coroutine/scheduler.h"
#include "framework/telemetry/log.h"

namespace corolane::framework::detail {
namespace {

using namespace std::chrono_literals;

bool is_blocked(int signal) {
  sigset_t blocked;
  pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
  return sigismember(&blocked, signal) == 1;
}

TEST(StopSignalTest, BlocksItsSignalsUntilItIsDestroyed) {
  Log log(LogLevel::error);
  {
    const StopSignal stop_signal(coroutine::Scheduler::current(), 1h, log);
    EXPECT_TRUE(is_blocked(SIGINT));
    EXPECT_TRUE(is_blocked(SIGTERM));
  }
  EXPECT_FALSE(is_blocked(SIGINT));
  EXPECT_FALSE(is_blocked(SIGTERM));
}

TEST(StopSignalTest, AnUnhandledSignalIsDiscardedAtItsEnd) {
  Log log(LogLevel::error);
  {
    const StopSignal stop_signal(coroutine::Scheduler::current(), 1h, log);
    // Sent to this thread: the thread of `stop_signal` does not get it.
    pthread_kill(pthread_self(), SIGTERM);  // NOLINT(bugprone-bad-signal-to-kill-thread)
    pthread_kill(pthread_self(), SIGINT);
  }
  EXPECT_FALSE(is_blocked(SIGTERM));  // Otherwise it would have ended the process.
}

}  // namespace
}  // namespace corolane::framework::detail
