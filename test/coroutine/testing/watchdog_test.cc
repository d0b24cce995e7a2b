// SPDX-License-Identifier: MIT
// Runs fixture tests that hang on purpose and reads their output.
#include "coroutine/testing/watchdog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/coroutine/testing/fixture_run.h"

namespace corolane::test {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(WatchdogTest, ATestThatNeverEndsIsNamedWithItsTasksAndAborted) {
  const FixtureRun run =
      run_fixture("WatchdogFixture.SleepsForEver", "COROTEST_TIMEOUT_SECONDS=0.1");
  EXPECT_TRUE(run.aborted);
  EXPECT_THAT(run.output, HasSubstr("the test WatchdogFixture.SleepsForEver takes longer than"));
  EXPECT_THAT(run.output, HasSubstr("\"tests\": suspended, waits for end of a task"));
  EXPECT_THAT(run.output, HasSubstr("\"sleeper\""));
  EXPECT_THAT(run.output, Not(HasSubstr("interrupted")));
}

TEST(WatchdogTest, ATaskThatBlocksItsThreadIsInterruptedForItsTasks) {
  const FixtureRun run =
      run_fixture("WatchdogFixture.BlocksItsThread", "COROTEST_TIMEOUT_SECONDS=0.1");
  EXPECT_TRUE(run.aborted);
  EXPECT_THAT(run.output, HasSubstr("interrupted"));
  EXPECT_THAT(run.output, HasSubstr("\"tests\": running"));
}

TEST(WatchdogTest, TheTasksOfASchedulerInsideTheTestAreShown) {
  const FixtureRun run =
      run_fixture("WatchdogFixture.WaitsInASchedulerOfItsOwn", "COROTEST_TIMEOUT_SECONDS=0.1");
  EXPECT_TRUE(run.aborted);
  EXPECT_THAT(run.output, HasSubstr("\"inner\": suspended, waits for sleep"));
}

TEST(WatchdogTest, ATimeoutThatIsNotANumberIsRefused) {
  const FixtureRun run = run_fixture("LeakFixture.LeavesNothing", "COROTEST_TIMEOUT_SECONDS=soon");
  EXPECT_EQ(run.exit_status, 2);
  EXPECT_THAT(run.output, HasSubstr("COROTEST_TIMEOUT_SECONDS=soon is no number"));
}

}  // namespace
}  // namespace corolane::test
