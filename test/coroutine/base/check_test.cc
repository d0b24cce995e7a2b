// SPDX-License-Identifier: MIT
#include "coroutine/base/check.h"

#include <gtest/gtest.h>

#include <csignal>
#include <thread>

#include "coroutine/task.h"

namespace corolane {
namespace {

void fail_in_task() {
  auto task = coroutine::spawn("judge", [] { check(1 + 1 == 3, "sums are right"); });
  static_cast<void>(task.join(Deadline::never()));
}

void fail_in_thread() {
  std::thread([] { check(false, "threads are fine"); }).join();
}

TEST(CheckTest, ACheckThatHoldsPasses) { check(1 + 1 == 2, "sums are right"); }

TEST(CheckDeathTest, ACheckThatFailsAborts) {
  EXPECT_EXIT(fail_in_task(), testing::KilledBySignal(SIGABRT), "");
}

TEST(CheckDeathTest, PrintsTheClaimThePlaceAndTheTask) {
  EXPECT_DEATH(fail_in_task(),
               "check failed: sums are right\n"
               "  at .*check_test.cc:[0-9]+ in .*fail_in_task.*\n"
               "  in task judge\n");
}

TEST(CheckDeathTest, NamesNoTaskWhereNoneRuns) {
  EXPECT_DEATH(fail_in_thread(), "check failed: threads are fine\n.*\n  in task \\(none\\)\n");
}

}  // namespace
}  // namespace corolane
