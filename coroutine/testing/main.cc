// SPDX-License-Identifier: MIT
// Runs all tests inside one task, in virtual time.
//
// A test therefore suspends wherever the code under test does, and a sleep of an hour costs
// nothing. GoogleTest's macros work as usual: all tasks share its one thread.
//
// With --corolane_seed=N ready tasks run in an arbitrary order that follows from N, and calls that
// may suspend do so now and then although they need not: a test that passes with every N does not
// depend on the order, nor does the code under test.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <span>
#include <string_view>

#include "coroutine/inspect/deadlock_stacks.h"
#include "coroutine/scheduler.h"
#include "coroutine/testing/leak_checks.h"
#include "coroutine/testing/virtual_time.h"
#include "coroutine/testing/watchdog.h"

namespace corolane::test {

coroutine::VirtualTime& virtual_time() {
  static coroutine::VirtualTime time;
  return time;
}

namespace {

constexpr std::string_view seed_option = "--corolane_seed=";

// 0 when no seed is given. Nothing when the seed is not a number.
std::optional<std::uint64_t> read_seed(std::span<char* const> arguments) {
  std::uint64_t seed = 0;
  for (const std::string_view argument : arguments) {
    if (!argument.starts_with(seed_option)) continue;
    const std::string_view number = argument.substr(seed_option.size());
    const char* const end = number.data() + number.size();
    const auto read = std::from_chars(number.data(), end, seed);
    if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
  }
  return seed;
}

int run_all_tests(std::uint64_t shuffle_seed) {
  coroutine::Scheduler scheduler(
      virtual_time(), {.main_stack_size_bytes = 1024 * 1024, .shuffle_seed = shuffle_seed});
  Watchdog watchdog(scheduler);
  auto& listeners = testing::UnitTest::GetInstance()->listeners();
  listeners.Append(&watchdog);
  listeners.Append(new LeakListener);

  coroutine::show_stacks_of_deadlocks();
  int status = EXIT_FAILURE;
  const auto ran = scheduler.run("tests", [&] {
    status = RUN_ALL_TESTS();
    // The remains of a failed test would abort the orderly shutdown below, after its report.
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
  // A plain fork of a process that has threads, such as the watchdog's, may hang.
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  testing::InitGoogleMock(&argc, argv);
  const auto seed =
      corolane::test::read_seed(std::span(argv, static_cast<std::size_t>(argc)).subspan(1));
  if (!seed) {
    std::cerr << "--corolane_seed=N: N is a number; 0 is the order in which tasks become ready\n";
    return EXIT_FAILURE;
  }
  return corolane::test::run_all_tests(*seed);
}
