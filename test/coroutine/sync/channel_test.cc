#include "coroutine/sync/channel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <set>
#include <vector>

#include "coroutine/task_group.h"
#include "coroutine/testing/matchers.h"
#include "coroutine/testing/random.h"

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
  EXPECT_TRUE(sender.join());
}

TEST(ChannelTest, AReceiverWaitsWhileTheChannelIsEmpty) {
  Channel<int> channel(1);
  const TimePoint start = now();
  auto receiver = spawn("receiver", [&] { return channel.receive(Deadline::never()); });
  EXPECT_TRUE(sleep_for(1s));
  EXPECT_TRUE(channel.send(7, Deadline::never()));
  EXPECT_EQ(channel.size(), 0u);  // Handed straight to the receiver.
  EXPECT_EQ(receiver.join(), 7);
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
  EXPECT_THAT(sender.join(), fails_with(Code::failed_precondition));
  EXPECT_THAT(receiver.join(), fails_with(Code::out_of_range));
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
  EXPECT_TRUE(sender.join());
}

TEST(ChannelDeathTest, HoldsAtLeastOneValue) {
  EXPECT_DEATH(Channel<int>(0), "a channel holds at least one value");
}

// Random senders and receivers with random timeouts, cancelled at random, until the channel is
// closed. A value is the number of its send() in the order of all sends.
class ChannelTraffic {
 public:
  void run() {
    std::vector<Task<void>> tasks;
    for (int number = 0; number < 20; ++number) {
      tasks.push_back(spawn("sender", [this] { send_until_closed(); }));
      tasks.push_back(spawn("receiver", [this] { receive_until_closed(); }));
    }
    for (auto& task : tasks) {
      EXPECT_TRUE(sleep_for(random_.up_to(30ms)));
      if (random_.one_in(3)) task.cancel();
    }
    channel_.close();
    for (auto& task : tasks) EXPECT_TRUE(task.join());
    expect_nothing_lost_or_doubled();
    expect_first_come_first_served();
  }

 private:
  struct Received {
    std::uint64_t arrival;  // The number of the receive(), in the order of all of them.
    std::uint64_t value;
  };

  void send_until_closed() {
    while (!channel_.is_closed() && !is_cancelled()) {
      static_cast<void>(sleep_for(random_.up_to(10ms)));
      const std::uint64_t value = sends_++;
      if (random_.one_in(4)) {
        if (channel_.try_send(value)) sent_.insert(value);
      } else {
        const Deadline deadline = random_patience();
        const auto sent = channel_.send(value, deadline);
        if (sent) sent_.insert(value);
        if (!sent) expect_reason(sent.error(), deadline, Code::failed_precondition);
      }
      EXPECT_LE(channel_.size(), channel_.capacity());
    }
  }

  void receive_until_closed() {
    while (!channel_.is_closed() && !is_cancelled()) {
      static_cast<void>(sleep_for(random_.up_to(10ms)));
      const std::uint64_t arrival = receives_++;
      if (random_.one_in(4)) {
        if (const auto value = channel_.try_receive()) received_.push_back({arrival, *value});
      } else {
        const Deadline deadline = random_patience();
        const auto value = channel_.receive(deadline);
        if (value) received_.push_back({arrival, *value});
        if (!value) expect_reason(value.error(), deadline, Code::out_of_range);
      }
    }
  }

  Deadline random_patience() {
    return random_.one_in(3) ? Deadline::never() : Deadline::after(random_.up_to(10ms));
  }

  void expect_reason(const Error& error, Deadline deadline, Code when_closed) {
    if (error.code() == Code::deadline_exceeded) {
      EXPECT_EQ(now(), deadline.time());
    } else if (error.code() == Code::cancelled) {
      EXPECT_TRUE(is_cancelled());
    } else {
      EXPECT_EQ(error.code(), when_closed);
      EXPECT_TRUE(channel_.is_closed());
    }
  }

  void expect_nothing_lost_or_doubled() {
    while (const auto value = channel_.try_receive()) received_.push_back({receives_++, *value});
    std::multiset<std::uint64_t> values;
    for (const Received& received : received_) values.insert(received.value);
    EXPECT_TRUE(std::ranges::equal(values, sent_));
    EXPECT_GE(values.size(), 20u);
  }

  // The oldest value goes to the longest waiting receiver.
  void expect_first_come_first_served() {
    std::ranges::sort(received_, {}, &Received::arrival);
    EXPECT_TRUE(std::ranges::is_sorted(received_, {}, &Received::value));
  }

  test::Random random_;
  Channel<std::uint64_t> channel_{1 + random_.below(4)};
  std::uint64_t sends_ = 0;
  std::uint64_t receives_ = 0;
  std::set<std::uint64_t> sent_;
  std::vector<Received> received_;
};

TEST(ChannelPropertyTest, NothingIsLostOrDuplicatedAndFirstComeIsFirstServed) {
  ChannelTraffic().run();
}

}  // namespace
}  // namespace corolane::coroutine
