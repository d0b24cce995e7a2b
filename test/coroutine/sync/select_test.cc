// SPDX-License-Identifier: MIT
#include "coroutine/sync/select.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <variant>
#include <vector>

#include "coroutine/sync/channel.h"
#include "coroutine/sync/event.h"
#include "coroutine/sync/semaphore.h"
#include "coroutine/task_group.h"
#include "coroutine/testing/matchers.h"

namespace corolane::coroutine {
namespace {

using namespace std::chrono_literals;
using test::fails_with;

TEST(SelectTest, TakesTheFirstOfTheArgumentsThatNeedsNoWait) {
  Channel<int> empty(1);
  Channel<int> numbers(1);
  Channel<int> more_numbers(1);
  EXPECT_TRUE(numbers.try_send(7));
  EXPECT_TRUE(more_numbers.try_send(8));
  auto first =
      select(empty.receiving(), numbers.receiving(), more_numbers.receiving(), Deadline::passed());
  ASSERT_TRUE(first);
  ASSERT_EQ(first->index(), 1u);
  EXPECT_EQ(std::get<1>(*first), 7);
  EXPECT_EQ(more_numbers.size(), 1u);
}

TEST(SelectTest, CompletesTheFirstAndLeavesTheRest) {
  Channel<int> numbers(1);
  Channel<std::unique_ptr<int>> boxes(1);
  Event stop;
  auto selecting = spawn("selecting", [&] {
    auto first = select(numbers.receiving(), stop.waiting(), boxes.receiving(), Deadline::never());
    return first ? **std::get<2>(*first) : -1;
  });
  EXPECT_TRUE(sleep_for(1s));
  EXPECT_TRUE(boxes.try_send(std::make_unique<int>(3)));
  EXPECT_TRUE(numbers.try_send(4));  // Not received: the selection is over.
  stop.set();
  EXPECT_EQ(selecting.join(Deadline::never()), 3);
  EXPECT_EQ(boxes.size(), 0u);
  EXPECT_EQ(numbers.size(), 1u);
}

TEST(SelectTest, SendsWhenThereIsRoom) {
  Channel<int> full(1);
  EXPECT_TRUE(full.try_send(1));
  Event stop;
  auto selecting = spawn("selecting", [&] {
    auto first = select(stop.waiting(), full.sending(2), Deadline::never());
    return first && first->index() == 1 && std::get<1>(*first);
  });
  EXPECT_TRUE(sleep_for(1s));
  EXPECT_EQ(full.try_receive(), 1);
  EXPECT_EQ(selecting.join(Deadline::never()), true);
  EXPECT_EQ(full.try_receive(), 2);
}

TEST(SelectTest, ReportsHowAnOperationFailed) {
  Channel<int> channel(1);
  Event stop;
  auto selecting = spawn("selecting", [&] {
    auto first = select(stop.waiting(), channel.receiving(), Deadline::never());
    EXPECT_TRUE(first);
    EXPECT_THAT(std::get<1>(*first), fails_with(Code::out_of_range));
  });
  EXPECT_TRUE(sleep_for(1s));
  channel.close();
  EXPECT_TRUE(selecting.join(Deadline::never()));
}

TEST(SelectTest, GivesUpOnItsDeadlineHavingDoneNothing) {
  Channel<int> full(1);
  EXPECT_TRUE(full.try_send(1));
  Semaphore none(0);
  const TimePoint start = now();
  EXPECT_THAT(select(full.sending(2), none.acquiring(), Deadline::after(3s)),
              fails_with(Code::deadline_exceeded));
  EXPECT_EQ(now(), start + 3s);
  none.release();
  EXPECT_EQ(none.count(), 1u);
  EXPECT_EQ(full.try_receive(), 1);
  EXPECT_EQ(full.try_receive(), std::nullopt);
}

TEST(SelectTest, CancellationEndsTheWaitAndNothingElse) {
  Channel<int> channel(1);
  Event stop;
  auto selecting = spawn("selecting", [&] {
    EXPECT_THAT(select(channel.receiving(), stop.waiting(), Deadline::never()),
                fails_with(Code::cancelled));
    EXPECT_THAT(select(channel.receiving(), stop.waiting(), Deadline::never()),
                fails_with(Code::cancelled));
    EXPECT_TRUE(channel.try_send(1));
    EXPECT_TRUE(select(stop.waiting(), channel.receiving(), Deadline::never()));
  });
  EXPECT_TRUE(sleep_for(1s));
  selecting.cancel();
  EXPECT_TRUE(selecting.join(Deadline::never()));
}

TEST(SelectTest, WaitsInOrderOfArrivalLikePlainReceivers) {
  Channel<int> channel(1);
  Event never_set;
  std::vector<int> order;
  TaskGroup group;
  for (int number = 0; number < 6; ++number) {
    EXPECT_TRUE(group.spawn("receiver", [&, number] {
      if (number % 2 == 0) {
        EXPECT_EQ(channel.receive(Deadline::never()), number);
      } else {
        auto first = select(never_set.waiting(), channel.receiving(), Deadline::never());
        EXPECT_EQ(std::get<1>(*first), number);
      }
      order.push_back(number);
    }));
  }
  EXPECT_TRUE(yield());
  for (int number = 0; number < 6; ++number) EXPECT_TRUE(channel.try_send(number));
  EXPECT_TRUE(group.join(Deadline::never()));
  EXPECT_EQ(order, std::vector({0, 1, 2, 3, 4, 5}));
}

TEST(SelectTest, MayWaitInOneQueueTwice) {
  Channel<int> channel(1);
  auto selecting = spawn("selecting", [&] {
    auto first = select(channel.receiving(), channel.receiving(), Deadline::never());
    EXPECT_EQ(std::get<0>(*first), 5);
  });
  EXPECT_TRUE(yield());
  EXPECT_TRUE(channel.try_send(5));
  EXPECT_TRUE(channel.try_send(6));
  EXPECT_TRUE(selecting.join(Deadline::never()));
  EXPECT_EQ(channel.size(), 1u);
}

TEST(SelectTest, JoinsATaskOrStops) {
  Event stop;
  auto child = spawn("child", [] {
    EXPECT_TRUE(sleep_for(2s));
    return 9;
  });
  auto first = select(stop.waiting(), child.joining(), Deadline::after(1h));
  ASSERT_TRUE(first);
  EXPECT_EQ(std::get<1>(*first), 9);
}

}  // namespace
}  // namespace corolane::coroutine
