// SPDX-License-Identifier: MIT
// Leaves a function from inside a signal handler.
#include "coroutine/stack/fault_guard.h"

#include <gtest/gtest.h>

#include <array>
#include <csignal>
#include <cstddef>
#include <thread>

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

TEST(FaultGuardSignalStackTest, AThreadWithASmallOneGetsALargerOne) {
  std::jthread([] {
    std::array<std::byte, 8192> small;
    const stack_t of_another_library = {
        .ss_sp = small.data(), .ss_flags = 0, .ss_size = small.size()};
    ASSERT_EQ(sigaltstack(&of_another_library, nullptr), 0);
    EXPECT_TRUE(FaultGuard::give_thread_signal_stack());
    stack_t present = {};
    ASSERT_EQ(sigaltstack(nullptr, &present), 0);
    EXPECT_GE(present.ss_size, 64u * 1024);
    EXPECT_NE(present.ss_sp, small.data());
    const stack_t none = {.ss_sp = nullptr, .ss_flags = SS_DISABLE, .ss_size = 0};
    ASSERT_EQ(sigaltstack(&none, nullptr), 0);
  });
}

}  // namespace
}  // namespace corolane::coroutine
