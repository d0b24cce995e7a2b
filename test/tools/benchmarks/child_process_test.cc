// SPDX-License-Identifier: MIT
// Measurements succeed, fail, crash, and run in other programs.
#include "tools/benchmarks/child_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "coroutine/testing/matchers.h"

namespace corolane::bench {
namespace {

using testing::HasSubstr;

TEST(ChildProcessTest, AMeasurementIsReturnedUnchanged) {
  const auto measured = measure_in_child([]() -> Result<Measurement> {
    return Measurement{.value = 1.0 / 3, .allocations_per_op = 2};
  });
  ASSERT_TRUE(measured) << measured;
  EXPECT_EQ(measured->value, 1.0 / 3);
  EXPECT_EQ(measured->allocations_per_op, 2);
}

TEST(ChildProcessTest, TrafficIsReturnedWithTheMeasurement) {
  const Traffic traffic{.ops_per_second = 1.0 / 7, .p50_us = 2, .p99_us = 3};
  const auto measured = measure_in_child(
      [&]() -> Result<Measurement> { return Measurement{.value = 1, .traffic = traffic}; });
  ASSERT_TRUE(measured) << measured;
  EXPECT_EQ(measured->traffic, traffic);
}

TEST(ChildProcessTest, ChangesOfAMeasurementStayInItsProcess) {
  int touched = 0;
  const auto measured = measure_in_child([&]() -> Result<Measurement> {
    touched = 1;
    return Measurement{};
  });
  ASSERT_TRUE(measured) << measured;
  EXPECT_EQ(touched, 0);
}

TEST(ChildProcessTest, AFailureKeepsItsReason) {
  const auto measured = measure_in_child(
      []() -> Result<Measurement> { return Error(Code::resource_exhausted, "no such stack"); });
  ASSERT_FALSE(measured);
  EXPECT_EQ(measured.error().message(), "no such stack");
}

TEST(ChildProcessTest, ACrashIsNamed) {
  const auto measured = measure_in_child([]() -> Result<Measurement> {
    std::raise(SIGKILL);
    return Measurement{};
  });
  ASSERT_FALSE(measured);
  EXPECT_EQ(measured.error().message(), "crashed: Killed");
}

TEST(ChildProcessTest, AProgramPrintsItsValue) {
  const auto measured = measure_in_child(program_measure("/bin/echo", {"12.5"}));
  ASSERT_TRUE(measured) << measured;
  EXPECT_EQ(measured->value, 12.5);
}

TEST(ChildProcessTest, AProgramThatPrintsNoNumberHasNoValue) {
  const auto measured = measure_in_child(program_measure("/bin/echo", {"fast"}));
  ASSERT_FALSE(measured);
  EXPECT_THAT(measured.error().message(), HasSubstr("printed \"fast\n\" instead of a number"));
}

TEST(ChildProcessTest, AProgramThatIsMissingIsNamed) {
  const auto output = output_of("/nowhere/go_peer", {});
  ASSERT_FALSE(output);
  EXPECT_EQ(output.error().message(), "/nowhere/go_peer: No such file or directory");
}

}  // namespace
}  // namespace corolane::bench
