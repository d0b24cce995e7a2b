// SPDX-License-Identifier: MIT
#include "coroutine/sync/channel.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>

#include "coroutine/task.h"
#include "coroutine/testing/matchers.h"

namespace corolane::coroutine {
namespace {

using namespace std::chrono_literals;
using test::fails_with;

TEST(ChannelTest, ValuesComeOutInTheOrderTheyWentIn) {
  Channel<int> channel(3);
  for (int value : {1, 2, 3}) EXPECT_TRUE(channel.send(value, Deadline::never()));
  EXPECT_EQ(channel.size(), 3u);
  for (int value : {1, 2, 3}) EXPECT_EQ(channel.receive(Deadline::never()), value);
  EXPECT_EQ(channel.size(), 0u);
  EXPECT_EQ(channel.capacity(), 3u);
}

TEST(ChannelTest, ASenderWaitsWhileTheChannelIsFull) {
  Channel<int> channel(1);
  auto sender = spawn("sender", [&]() -> Result<void> {
    for (int value : {1, 2, 3}) {
      if (auto sent = channel.send(value, Deadline::never()); !sent) return sent;
    }
    return {};
  });
  EXPECT_TRUE(sleep_for(1s));
  EXPECT_EQ(channel.size(), 1u);
  EXPECT_FALSE(sender.is_done());
  for (int value : {1, 2, 3}) EXPECT_EQ(channel.receive(Deadline::never()), value);
  EXPECT_TRUE(sender.join(Deadline::never()));
}

TEST(ChannelTest, AReceiverWaitsWhileTheChannelIsEmpty) {
  Channel<int> channel(1);
  const TimePoint start = now();
  auto receiver = spawn("receiver", [&] { return channel.receive(Deadline::never()); });
  EXPECT_TRUE(sleep_for(1s));
  EXPECT_TRUE(channel.send(7, Deadline::never()));
  EXPECT_EQ(channel.size(), 0u);  // Handed straight to the receiver.
  EXPECT_EQ(receiver.join(Deadline::never()), 7);
  EXPECT_EQ(now(), start + 1s);
}

TEST(ChannelTest, TriesNeverSuspend) {
  Channel<int> channel(1);
  EXPECT_EQ(channel.try_receive(), std::nullopt);
  EXPECT_TRUE(channel.try_send(1));
  EXPECT_FALSE(channel.try_send(2));
  EXPECT_EQ(channel.try_receive(), 1);
}

TEST(ChannelTest, ADeadlineThatHasPassedTurnsAWaitIntoATry) {
  Channel<int> channel(1);
  EXPECT_THAT(channel.receive(Deadline::passed()), fails_with(Code::deadline_exceeded));
  EXPECT_TRUE(channel.send(1, Deadline::passed()));
  EXPECT_THAT(channel.send(2, Deadline::passed()), fails_with(Code::deadline_exceeded));
  EXPECT_EQ(channel.receive(Deadline::passed()), 1);
}

TEST(ChannelTest, WaitsGiveUpExactlyOnTheirDeadline) {
  Channel<int> channel(1);
  const TimePoint start = now();
  EXPECT_THAT(channel.receive(Deadline::after(1s)), fails_with(Code::deadline_exceeded));
  EXPECT_EQ(now(), start + 1s);
  EXPECT_TRUE(channel.try_send(1));
  EXPECT_THAT(channel.send(2, Deadline::after(1s)), fails_with(Code::deadline_exceeded));
  EXPECT_EQ(now(), start + 2s);
  EXPECT_EQ(channel.try_receive(), 1);
  EXPECT_EQ(channel.try_receive(), std::nullopt);
}

TEST(ChannelTest, AClosedChannelIsDrainedAndThenEnds) {
  Channel<int> channel(2);
  EXPECT_TRUE(channel.try_send(1));
  EXPECT_TRUE(channel.try_send(2));
  channel.close();
  channel.close();
  EXPECT_TRUE(channel.is_closed());
  EXPECT_THAT(channel.send(3, Deadline::never()), fails_with(Code::failed_precondition));
  EXPECT_FALSE(channel.try_send(3));
  EXPECT_EQ(channel.receive(Deadline::never()), 1);
  EXPECT_EQ(channel.receive(Deadline::never()), 2);
  EXPECT_THAT(channel.receive(Deadline::never()), fails_with(Code::out_of_range));
}

TEST(ChannelTest, CloseWakesAllThatWait) {
  Channel<int> full(1);
  EXPECT_TRUE(full.try_send(1));
  auto sender = spawn("sender", [&] { return full.send(2, Deadline::never()); });
  Channel<int> empty(1);
  auto receiver = spawn("receiver", [&] { return empty.receive(Deadline::never()); });
  EXPECT_TRUE(yield());
  full.close();
  empty.close();
  EXPECT_THAT(sender.join(Deadline::never()), fails_with(Code::failed_precondition));
  EXPECT_THAT(receiver.join(Deadline::never()), fails_with(Code::out_of_range));
  EXPECT_EQ(full.try_receive(), 1);
  EXPECT_EQ(full.try_receive(), std::nullopt);
}

TEST(ChannelTest, CarriesMoveOnlyValues) {
  Channel<std::unique_ptr<int>> channel(1);
  auto sender = spawn("sender", [&]() -> Result<void> {
    for (int value : {1, 2, 3}) {
      auto sent = channel.send(std::make_unique<int>(value), Deadline::never());
      if (!sent) return sent;
    }
    return {};
  });
  for (int value : {1, 2, 3}) {
    auto received = channel.receive(Deadline::never());
    ASSERT_TRUE(received);
    EXPECT_EQ(**received, value);
  }
  EXPECT_TRUE(sender.join(Deadline::never()));
}

TEST(ChannelDeathTest, HoldsAtLeastOneValue) {
  EXPECT_DEATH(Channel<int>(0), "a channel holds at least one value");
}

TEST(ChannelTest, AValueThatCouldNotBeSentIsGivenBack) {
  Channel<std::unique_ptr<int>> channel(1);
  auto value = std::make_unique<int>(1);
  EXPECT_TRUE(channel.try_send(std::move(value)));
  EXPECT_EQ(value, nullptr);

  value = std::make_unique<int>(2);
  EXPECT_FALSE(channel.try_send(std::move(value)));
  ASSERT_NE(value, nullptr);
  EXPECT_THAT(channel.send(std::move(value), Deadline::after(1s)),
              fails_with(Code::deadline_exceeded));
  ASSERT_NE(value, nullptr);
  auto sender = spawn("sender", [&] { return channel.send(std::move(value), Deadline::never()); });
  EXPECT_TRUE(yield());
  sender.cancel();
  EXPECT_THAT(sender.join(Deadline::never()), fails_with(Code::cancelled));
  ASSERT_NE(value, nullptr);
  channel.close();
  EXPECT_THAT(channel.send(std::move(value), Deadline::never()),
              fails_with(Code::failed_precondition));
  ASSERT_NE(value, nullptr);
  EXPECT_EQ(*value, 2);
}

TEST(ChannelTest, AnLvalueIsCopied) {
  Channel<std::string> channel(2);
  const std::string word = "word";
  EXPECT_TRUE(channel.send(word, Deadline::never()));
  EXPECT_TRUE(channel.try_send(word));
  EXPECT_EQ(word, "word");
  EXPECT_EQ(channel.receive(Deadline::never()), Result<std::string>("word"));
  EXPECT_EQ(channel.try_receive(), "word");
}

}  // namespace
}  // namespace corolane::coroutine
