// SPDX-License-Identifier: MIT
// Runs fixture tests that leak on purpose and reads their output.
#include "coroutine/testing/leak_checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/coroutine/testing/fixture_run.h"

namespace corolane::test {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(LeakChecksTest, ATestThatLeavesNothingPasses) {
  const FixtureRun run = run_fixture("LeakFixture.LeavesNothing");
  EXPECT_EQ(run.exit_status, 0) << run.output;
}

TEST(LeakChecksTest, ATaskLeftBehindFailsItsTestAndIsNamed) {
  const FixtureRun run = run_fixture("LeakFixture.LeavesATask");
  EXPECT_EQ(run.exit_status, 1);
  EXPECT_THAT(run.output, HasSubstr("left behind by this test:\n  tasks: 1\n"));
  EXPECT_THAT(run.output, HasSubstr("  stacks in use: 1\n"));
  EXPECT_THAT(run.output, HasSubstr("\"forgotten\": suspended, waits for sleep"));
  EXPECT_THAT(run.output, HasSubstr("[  FAILED  ] LeakFixture.LeavesATask"));
}

TEST(LeakChecksTest, ATimerLeftBehindFailsItsTest) {
  const FixtureRun run = run_fixture("LeakFixture.LeavesATimer");
  EXPECT_EQ(run.exit_status, 1);
  EXPECT_THAT(run.output, HasSubstr("left behind by this test:\n  armed timers: 1\n"));
}

TEST(LeakChecksTest, AnAddedCheckFailsATestLikeTheOthers) {
  const FixtureRun run = run_fixture("LeakFixture.LeavesADoorOpen");
  EXPECT_EQ(run.exit_status, 1);
  EXPECT_THAT(run.output, HasSubstr("left behind by this test:\n  open doors: 1\n"));
}

TEST(LeakChecksTest, OnlyTheTestThatLeaksFails) {
  const FixtureRun run = run_fixture("LeakFixture.*");
  EXPECT_EQ(run.exit_status, 1);
  EXPECT_THAT(run.output, Not(HasSubstr("[  FAILED  ] LeakFixture.LeavesNothing")));
}

}  // namespace
}  // namespace corolane::test
