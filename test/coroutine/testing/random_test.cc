// SPDX-License-Identifier: MIT
// Tests rely on repeatable choices, and on their bounds.
#include "coroutine/testing/random.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace corolane::test {
namespace {

using namespace std::chrono_literals;

TEST(RandomTest, TheSameSeedMakesTheSameChoices) {
  setenv("COROTEST_SEED", "17", 1);
  Random first;
  Random second;
  unsetenv("COROTEST_SEED");
  for (int choice = 0; choice < 100; ++choice) EXPECT_EQ(first.below(1000), second.below(1000));
}

TEST(RandomTest, ChoicesStayWithinTheirBounds) {
  Random random;
  for (int choice = 0; choice < 1000; ++choice) {
    EXPECT_LT(random.below(3), 3u);
    EXPECT_EQ(random.below(1), 0u);
    EXPECT_LE(random.up_to(5ns), 5ns);
    EXPECT_GE(random.up_to(5ns), 0ns);
  }
}

}  // namespace
}  // namespace corolane::test
