// SPDX-License-Identifier: MIT
// Threads that are preempted while they post.
#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <memory>
#include <thread>

#include "coroutine/scheduler.h"
#include "coroutine/sync/event.h"
#include "coroutine/task.h"
#include "coroutine/virtual_time.h"

namespace corolane::coroutine {
namespace {

// Holds the first thread that wakes it, as if that were preempted there.
class HeldTime final : public VirtualTime {
 public:
  void wake() override {
    if (!has_held_.exchange(true)) {
      holds_.count_down();
      release_.wait();
    }
    VirtualTime::wake();
  }
  void wait_until_it_holds() { holds_.wait(); }
  void release() { release_.count_down(); }

 private:
  std::atomic<bool> has_held_ = false;
  std::latch holds_{1};
  std::latch release_{1};
};

TEST(SchedulerPostTest, APreemptedThreadDelaysNoOther) {
  HeldTime time;
  Scheduler scheduler(time);
  Event stop;
  std::latch began(1);
  std::jthread runs([&] {
    EXPECT_TRUE(scheduler.run("main", [&] {
      const VirtualTime::Outside outside(time);
      began.count_down();
      EXPECT_TRUE(stop.wait(Deadline::never()));
    }));
  });
  began.wait();
  std::jthread is_preempted([&] { scheduler.post([] {}); });
  time.wait_until_it_holds();
  std::latch ran(1);
  scheduler.post([&] { ran.count_down(); });
  ran.wait();
  time.release();
  scheduler.post([&] { stop.set(); });
}

TEST(SchedulerPostTest, ADestructorWaitsForThreadsThatPost) {
  HeldTime time;
  auto scheduler = std::make_unique<Scheduler>(time);
  Event stop;
  ASSERT_TRUE(scheduler->begin("main", [&] { EXPECT_TRUE(stop.wait(Deadline::never())); }));
  EXPECT_TRUE(scheduler->step());
  std::jthread is_preempted([&] { scheduler->post([&] { stop.set(); }); });
  time.wait_until_it_holds();
  // The work has been published, and ends the run.
  EXPECT_FALSE(scheduler->step());
  EXPECT_TRUE(scheduler->finish());
  std::latch begins(1);
  std::atomic<bool> is_released = false;
  std::jthread destroys([&] {
    begins.count_down();
    scheduler.reset();
    EXPECT_TRUE(is_released);
  });
  begins.wait();
  // A destructor that does not wait ends here.
  for (int turn = 0; turn < 1'000; ++turn) std::this_thread::yield();
  is_released = true;
  time.release();
}

}  // namespace
}  // namespace corolane::coroutine
