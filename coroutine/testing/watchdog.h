// SPDX-License-Identifier: MIT
// Ends a run in which one test takes too long.
//
//   Watchdog watchdog(scheduler);
//   testing::UnitTest::GetInstance()->listeners().Append(&watchdog);
//
// A deadlock in virtual time ends itself, with a report by the scheduler. A hang in real time does
// not: a loop without a suspension, tasks that wake one another for ever, a socket that stays
// silent. The watchdog then prints the test and its tasks and aborts, which tells more than the
// time limit of a test runner.
#pragma once

#include <gtest/gtest.h>
#include <pthread.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "coroutine/scheduler.h"

namespace corolane::test {

// Main creates one and adds it to the listeners.
class Watchdog : public testing::EmptyTestEventListener {
 public:
  // Watches the tests that run on the calling thread in `scheduler`. A test may take 60 s of real
  // time, 120 s under sanitizers or valgrind, or as long as COROTEST_TIMEOUT_SECONDS says.
  explicit Watchdog(coroutine::Scheduler& scheduler);
  ~Watchdog() override;

  void OnTestStart(const testing::TestInfo& test) override;
  void OnTestEnd(const testing::TestInfo& test) override;

 private:
  using Clock = std::chrono::steady_clock;
  struct RunningTest {
    std::string name;
    Clock::time_point deadline;
  };

  void watch();
  [[noreturn]] void give_up(const std::string& test_name);

  coroutine::Scheduler& scheduler_;
  const pthread_t test_thread_;
  const std::chrono::duration<double> patience_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<RunningTest> running_;  // Guarded by mutex_.
  bool stopped_ = false;                // Guarded by mutex_.
  std::thread thread_;
};

}  // namespace corolane::test
