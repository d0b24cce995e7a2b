// SPDX-License-Identifier: MIT
// Runs fixture tests that need programs, and reads whether they were skipped or failed.
#include "coroutine/testing/programs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/coroutine/testing/fixture_run.h"

namespace corolane::test {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* missing = "no-such-program is missing; tools/setup --tests installs it";

TEST(ProgramsTest, AProgramIsFoundByItsName) {
  EXPECT_EQ(missing_program("sh"), "");
  EXPECT_EQ(missing_program("no-such-program"), missing);
}

TEST(ProgramsTest, ATestWhoseProgramIsThereRuns) {
  for (const char* ci : {"CI=true", "CI="}) {
    const FixtureRun run = run_fixture("ProgramsFixture.NeedsAShell", ci);
    EXPECT_EQ(run.exit_status, 0) << run.output;
    EXPECT_THAT(run.output, HasSubstr("it has run\n"));
  }
}

TEST(ProgramsTest, ATestWhoseProgramIsMissingIsSkipped) {
  for (const char* ci : {"CI=", "CI=false"}) {
    for (const char* test : {"ProgramsFixture.NeedsNoSuchProgram", "ProgramsSetUpFixture.Runs"}) {
      const FixtureRun run = run_fixture(test, ci);
      EXPECT_EQ(run.exit_status, 0) << run.output;
      EXPECT_THAT(run.output, HasSubstr(std::string("[  SKIPPED ] ") + test));
      EXPECT_THAT(run.output, HasSubstr(missing));
      EXPECT_THAT(run.output, Not(HasSubstr("it has run")));
    }
  }
}

TEST(ProgramsTest, ATestWhoseProgramIsMissingFailsUnderCi) {
  for (const char* test : {"ProgramsFixture.NeedsNoSuchProgram", "ProgramsSetUpFixture.Runs"}) {
    const FixtureRun run = run_fixture(test, "CI=true");
    EXPECT_EQ(run.exit_status, 1) << run.output;
    EXPECT_THAT(run.output, HasSubstr(std::string("[  FAILED  ] ") + test));
    EXPECT_THAT(run.output, HasSubstr(missing));
    EXPECT_THAT(run.output, Not(HasSubstr("it has run")));
  }
}

}  // namespace
}  // namespace corolane::test
