// SPDX-License-Identifier: MIT
#include "coroutine/wait_queue.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "coroutine/scheduler.h"
#include "coroutine/sync/event.h"
#include "coroutine/task.h"
#include "coroutine/task_group.h"

namespace corolane::coroutine {
namespace {

using namespace std::chrono_literals;

TEST(WaitQueueTest, NotifyWakesTheLongestWaiter) {
  WaitQueue queue("turn");
  std::vector<int> woken;
  TaskGroup group;
  for (int number = 0; number < 4; ++number) {
    EXPECT_TRUE(group.spawn("waiter", [&, number] {
      EXPECT_EQ(queue.wait(Deadline::never()), Wake::notified);
      woken.push_back(number);
    }));
  }
  EXPECT_TRUE(yield());
  EXPECT_TRUE(queue.notify_one());
  EXPECT_TRUE(yield());
  EXPECT_EQ(woken, std::vector({0}));
  EXPECT_EQ(queue.notify_all(), 3u);
  EXPECT_TRUE(group.join(Deadline::never()));
  EXPECT_EQ(woken, std::vector({0, 1, 2, 3}));
}

TEST(WaitQueueTest, ANotifyWithoutWaitersIsNotRemembered) {
  WaitQueue queue("turn");
  EXPECT_FALSE(queue.notify_one());
  EXPECT_EQ(queue.notify_all(), 0u);
  EXPECT_EQ(queue.wait(Deadline::after(1s)), Wake::deadline);
}

TEST(WaitQueueTest, AWaitEndsExactlyOnItsDeadline) {
  WaitQueue queue("turn");
  const TimePoint start = now();
  EXPECT_EQ(queue.wait(Deadline::at(start + 3s)), Wake::deadline);
  EXPECT_EQ(now(), start + 3s);
  EXPECT_TRUE(queue.empty());
}

TEST(WaitQueueTest, ADeadlineThatHasPassedDoesNotSuspend) {
  WaitQueue queue("turn");
  bool other_ran = false;
  auto other = spawn("other", [&] { other_ran = true; });
  EXPECT_EQ(queue.wait(Deadline::passed()), Wake::deadline);
  EXPECT_EQ(queue.wait(Deadline::at(now())), Wake::deadline);
  EXPECT_FALSE(other_ran);
}

TEST(WaitQueueTest, TheNotifierReachesTheWaiterThroughItsSlot) {
  WaitQueue queue("gift");
  auto waiter = spawn("waiter", [&] {
    std::string gift;
    EXPECT_EQ(queue.wait(Deadline::never(), Cancellation::observe, &gift), Wake::notified);
    return gift;
  });
  EXPECT_TRUE(yield());
  *static_cast<std::string*>(queue.front_slot()) = "a horse";
  EXPECT_TRUE(queue.notify_one());
  EXPECT_EQ(waiter.join(Deadline::never()), "a horse");
}

TEST(WaitQueueTest, TheFirstOfTwoWakesCounts) {
  WaitQueue queue("turn");
  auto notified = spawn("notified", [&] { return queue.wait(Deadline::after(1s)); });
  auto timed_out = spawn("timed out", [&] { return queue.wait(Deadline::after(1s)); });
  EXPECT_TRUE(yield());
  EXPECT_TRUE(queue.notify_one());
  notified.cancel();  // Too late: it was notified, and keeps whatever it received.
  EXPECT_EQ(notified.join(Deadline::never()), Wake::notified);
  EXPECT_EQ(timed_out.join(Deadline::never()), Wake::deadline);
  EXPECT_FALSE(queue.notify_one());
}

TEST(WaitQueueTest, CancellationIsIgnoredOnRequest) {
  WaitQueue queue("turn");
  auto waiter = spawn("waiter", [&] {
    const Wake deaf = queue.wait(Deadline::after(2s), Cancellation::ignore);
    const Wake heard = queue.wait(Deadline::after(2s), Cancellation::observe);
    return std::pair(deaf, heard);
  });
  EXPECT_TRUE(sleep_for(1s));
  waiter.cancel();
  const TimePoint cancelled_at = now();
  EXPECT_EQ(waiter.join(Deadline::never()), std::pair(Wake::deadline, Wake::cancelled));
  EXPECT_EQ(now(), cancelled_at + 1s);
}

TEST(WaitQueueTest, TheLoopMayNotify) {
  WaitQueue queue("turn");
  Scheduler::current().post([&] { EXPECT_TRUE(queue.notify_one()); });
  EXPECT_EQ(queue.wait(Deadline::never()), Wake::notified);
}

TEST(WaitQueueTest, WakeErrorsNameTheWait) {
  EXPECT_EQ(wake_error(Wake::cancelled, "turn").code(), Code::cancelled);
  EXPECT_EQ(wake_error(Wake::deadline, "turn").code(), Code::deadline_exceeded);
  EXPECT_NE(wake_error(Wake::deadline, "turn").message().find("turn"), std::string::npos);
}

TEST(WaitQueueTest, AFailedWaitNamesTheWait) {
  WaitQueue queue("turn");
  Scheduler::current().post([&] { queue.notify_one(); });
  EXPECT_TRUE(queue.wait_or_fail(Deadline::never()));
  const auto late = queue.wait_or_fail(Deadline::after(std::chrono::seconds(1)));
  EXPECT_EQ(late.error(), wake_error(Wake::deadline, "turn"));
}

// The case of a Task that one task joins while another joiner's deadline passes.
TEST(WaitQueueTest, AQueueMayEndBeforeItsWokenWaitersRun) {
  auto queue = std::make_unique<WaitQueue>("turn");
  auto waiter = spawn("waiter", [&] { return queue->wait_or_fail(Deadline::never()); });
  EXPECT_TRUE(yield());
  waiter.cancel();
  queue.reset();
  EXPECT_EQ(waiter.join(Deadline::never()).error(), wake_error(Wake::cancelled, "turn"));
}

TEST(WaitQueueDeathTest, TheLoopMayNotWait) {
  const auto wait_in_loop = [] {
    Event posted;
    WaitQueue queue("turn");
    Scheduler::current().post([&] { static_cast<void>(queue.wait(Deadline::never())); });
    static_cast<void>(posted.wait(Deadline::never()));
  };
  EXPECT_DEATH(wait_in_loop(), "only a task may suspend, the loop may not");
}

TEST(WaitQueueDeathTest, AQueueOutlivesItsWaiters) {
  const auto forget = [] {
    std::optional<WaitQueue> queue(std::in_place, "turn");
    auto waiter = spawn("waiter", [&] { return queue->wait(Deadline::never()); });
    static_cast<void>(yield());
    queue.reset();
  };
  EXPECT_DEATH(forget(), "no waiter is left in a queue that is destroyed");
}

}  // namespace
}  // namespace corolane::coroutine
