// SPDX-License-Identifier: MIT
// The promises of main.cc to every test.
#include <gtest/gtest.h>

#include <chrono>

#include "coroutine/scheduler.h"
#include "coroutine/task.h"
#include "coroutine/testing/virtual_time.h"

namespace corolane::test {
namespace {

using namespace std::chrono_literals;

TEST(MainTest, TestsRunInsideATaskInVirtualTime) {
  const TimePoint start = now();
  ASSERT_EQ(virtual_time().now(), start);
  EXPECT_TRUE(coroutine::sleep_for(24h));
  EXPECT_EQ(virtual_time().now(), start + 24h);
}

TEST(MainTest, TheTaskOfTheTestsHasRoomForDeepFrames) {
  volatile char frame[512 * 1024];
  frame[0] = 'x';
  const char deepest = frame[0];
  EXPECT_EQ(deepest, 'x');
}

}  // namespace
}  // namespace corolane::test
