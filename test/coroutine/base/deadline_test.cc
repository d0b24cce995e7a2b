// SPDX-License-Identifier: MIT
#include "coroutine/base/deadline.h"

#include <gtest/gtest.h>

#include "coroutine/task.h"

namespace corolane {
namespace {

using namespace std::chrono_literals;

TEST(DeadlineTest, AfterCountsFromNow) {
  const Deadline deadline = Deadline::after(5s);
  EXPECT_EQ(deadline.time(), now() + 5s);
  EXPECT_EQ(deadline.remaining(), 5s);
  EXPECT_FALSE(deadline.has_passed());
}

TEST(DeadlineTest, HasPassedAtItsVeryTime) {
  const Deadline deadline = Deadline::after(5s);
  EXPECT_TRUE(coroutine::sleep_for(5s - 1ns));
  EXPECT_FALSE(deadline.has_passed());
  EXPECT_EQ(deadline.remaining(), 1ns);
  EXPECT_TRUE(coroutine::sleep_for(1ns));
  EXPECT_TRUE(deadline.has_passed());
  EXPECT_EQ(deadline.remaining(), 0ns);
  EXPECT_TRUE(coroutine::sleep_for(1s));
  EXPECT_EQ(deadline.remaining(), 0ns);
}

TEST(DeadlineTest, NeverNeverPasses) {
  EXPECT_TRUE(Deadline::never().is_never());
  EXPECT_FALSE(Deadline::never().has_passed());
  EXPECT_EQ(Deadline::never().remaining(), Duration::max());
}

TEST(DeadlineTest, PassedHasPassedAtOnce) {
  EXPECT_TRUE(Deadline::passed().has_passed());
  EXPECT_EQ(Deadline::passed().remaining(), 0ns);
  EXPECT_TRUE(Deadline::after(-1s).has_passed());
  EXPECT_TRUE(Deadline::after(0s).has_passed());
}

TEST(DeadlineTest, APatienceBeyondTheEndOfTheClockIsNever) {
  EXPECT_TRUE(coroutine::sleep_for(1s));
  EXPECT_TRUE(Deadline::after(Duration::max()).is_never());
  EXPECT_TRUE(Deadline::after(TimePoint::max() - now()).is_never());
  EXPECT_FALSE(Deadline::after(TimePoint::max() - now() - 1ns).is_never());
}

TEST(DeadlineTest, TheEarlierOfTwoComesFirst) {
  const Deadline soon = Deadline::after(1s);
  const Deadline late = Deadline::after(2s);
  EXPECT_LT(soon, late);
  EXPECT_EQ(earlier(soon, late), soon);
  EXPECT_EQ(earlier(Deadline::never(), late), late);
  EXPECT_EQ(earlier(soon, Deadline::passed()), Deadline::passed());
}

}  // namespace
}  // namespace corolane
