// Runs all tests inside one task, in virtual time.
//
// So a test suspends wherever the code it tests does, and a sleep of an hour costs nothing.
// GoogleTest's macros work as usual: all tasks share its one thread.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>

#include "coroutine/scheduler.h"
#include "test/support/leak_checks.h"
#include "test/support/virtual_time.h"
#include "test/support/watchdog.h"

namespace corolane::test {

coroutine::VirtualTime& virtual_time() {
  static coroutine::VirtualTime time;
  return time;
}

namespace {

int run_all_tests() {
  coroutine::Scheduler scheduler(virtual_time(), {.main_stack_size_bytes = 1024 * 1024});
  Watchdog watchdog(scheduler);
  auto& listeners = testing::UnitTest::GetInstance()->listeners();
  listeners.Append(&watchdog);
  listeners.Append(new LeakListener);

  int status = EXIT_FAILURE;
  const auto ran = scheduler.run("tests", [&] {
    status = RUN_ALL_TESTS();
    // What a failed test left behind would only abort the orderly end below, after its report.
    if (status == EXIT_SUCCESS) return;
    std::fflush(nullptr);
    std::_Exit(status);
  });
  listeners.Release(&watchdog);
  if (!ran) std::cerr << "the tests did not run: " << ran.error() << '\n';
  return status;
}

}  // namespace
}  // namespace corolane::test

int main(int argc, char** argv) {
  // A plain fork of a process with threads, such as the watchdog's, may hang.
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  testing::InitGoogleMock(&argc, argv);
  return corolane::test::run_all_tests();
}
