// SPDX-License-Identifier: MIT
#include "net/uv/detail/waker.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <atomic>
#include <latch>
#include <thread>

#include "test/net/system_calls.h"

namespace corolane::net::detail {
namespace {

class WakerTest : public testing::Test {
 protected:
  ~WakerTest() override { system_calls().before_eventfd_write = {}; }

  Waker& waker() { return waker_; }
  // Waits for a wake().
  void wait() {
    pollfd readable{.fd = waker_.descriptor(), .events = POLLIN, .revents = 0};
    EXPECT_EQ(::poll(&readable, 1, /*timeout=*/-1), 1);
    waker_.take();
    waker_.get_up();
  }

 private:
  Waker waker_;
};

TEST_F(WakerTest, AWakeBeforeTheSleepPreventsIt) {
  waker().wake();
  waker().wake();
  EXPECT_FALSE(waker().fall_asleep());
  EXPECT_TRUE(waker().fall_asleep());
  waker().get_up();
}

TEST_F(WakerTest, ASleeperIsWokenByOneWrite) {
  if (!sees_system_calls) GTEST_SKIP() << "the thread sanitizer intercepts system calls itself";
  int write_count = 0;
  system_calls().before_eventfd_write = [&] { ++write_count; };
  for (int sleep = 1; sleep <= 3; ++sleep) {
    ASSERT_TRUE(waker().fall_asleep());
    for (int call = 0; call < 5; ++call) waker().wake();
    wait();
    EXPECT_EQ(write_count, sleep);
  }
}

TEST_F(WakerTest, APreemptedCallerDelaysNoOther) {
  if (!sees_system_calls) GTEST_SKIP() << "the thread sanitizer intercepts system calls itself";
  std::latch is_about_to_write(1);
  std::latch may_write(1);
  std::thread::id preempted;
  std::atomic<int> write_count = 0;
  system_calls().before_eventfd_write = [&] {
    ++write_count;
    if (std::this_thread::get_id() != preempted) return;
    is_about_to_write.count_down();
    may_write.wait();
  };
  ASSERT_TRUE(waker().fall_asleep());
  std::jthread first([&] {
    preempted = std::this_thread::get_id();
    waker().wake();
  });
  is_about_to_write.wait();
  waker().wake();
  EXPECT_EQ(write_count, 2);
  wait();
  // Nor does it count as the wake of a later sleep.
  ASSERT_TRUE(waker().fall_asleep());
  may_write.count_down();
  first.join();
  waker().wake();
  EXPECT_EQ(write_count, 3);
  wait();
}

}  // namespace
}  // namespace corolane::net::detail
