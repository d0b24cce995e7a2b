// SPDX-License-Identifier: MIT
#include "net/uv/detail/waker.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <optional>
#include <thread>

#include "test/net/system_calls.h"

namespace corolane::net::detail {
namespace {

class WakerTest : public testing::Test {
 protected:
  WakerTest() { uv_loop_init(&loop_); }
  ~WakerTest() override {
    system_calls().before_eventfd_write = {};
    if (waker_) waker_->close();  // Not made by a test that is skipped.
    uv_run(&loop_, UV_RUN_DEFAULT);
    uv_loop_close(&loop_);
    waker_.reset();
  }

  Waker& waker() {
    if (!waker_) waker_.emplace(loop_);
    return *waker_;
  }
  // Waits for a wake().
  void wait() {
    uv_run(&loop_, UV_RUN_ONCE);
    waker().get_up();
  }

  uv_loop_t loop_;
  std::optional<Waker> waker_;
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
