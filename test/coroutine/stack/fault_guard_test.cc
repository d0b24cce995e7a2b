// SPDX-License-Identifier: MIT
// Leaves a function from inside a signal handler.
#include "coroutine/stack/fault_guard.h"

#include <gtest/gtest.h>

#include <csignal>

namespace corolane::coroutine {
namespace {

class FaultGuardTest : public testing::Test {
 protected:
  FaultGuardTest() {
    struct sigaction action = {};
    action.sa_handler = [](int) {
      if (FaultGuard::is_active()) FaultGuard::leave();
    };
    action.sa_flags = SA_NODEFER;
    ::sigaction(SIGUSR1, &action, &previous_);
  }
  ~FaultGuardTest() override { ::sigaction(SIGUSR1, &previous_, nullptr); }

 private:
  struct sigaction previous_ = {};
};

TEST_F(FaultGuardTest, WorkWithoutAFaultRunsToItsEnd) {
  volatile bool ran = false;
  EXPECT_TRUE(FaultGuard::run([&] {
    EXPECT_TRUE(FaultGuard::is_active());
    ran = true;
  }));
  EXPECT_TRUE(ran);
  EXPECT_FALSE(FaultGuard::is_active());
}

TEST_F(FaultGuardTest, EachFaultEndsOnlyTheInnermostRun) {
  volatile int count = 0;
  EXPECT_TRUE(FaultGuard::run([&] {
    for (int i = 0; i < 3; ++i) {
      if (!FaultGuard::run([] { ::raise(SIGUSR1); })) count = count + 1;
    }
  }));
  EXPECT_EQ(count, 3);
  EXPECT_FALSE(FaultGuard::is_active());
}

}  // namespace
}  // namespace corolane::coroutine
