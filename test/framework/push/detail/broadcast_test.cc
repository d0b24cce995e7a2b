// SPDX-License-Identifier: MIT
#include "framework/push/detail/broadcast.h"

#include <gmock/gmock.h>
#include <google/protobuf/wrappers.pb.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "coroutine/task.h"
#include "coroutine/testing/matchers.h"

namespace corolane::framework::detail {
namespace {

using namespace std::chrono_literals;
using google::protobuf::StringValue;
using test::fails_with;
using testing::ElementsAre;
using testing::IsEmpty;

std::shared_ptr<Broadcast> make(const Broadcast::Bounds& bounds = {}) {
  auto broadcast = std::make_shared<Broadcast>(bounds);
  broadcast->begin({.epoch = 1, .sequence = 10}, Gap::begin);
  return broadcast;
}

Broadcast::Message message(const std::string& text) {
  auto message = std::make_shared<StringValue>();
  message->set_value(text);
  return message;
}

TEST(BroadcastTest, SeveralBroadcastsCountTheirReadersTogether) {
  const auto tally = std::make_shared<std::size_t>(0);
  const auto one = make();
  const auto other = make();
  one->count_readers_in(tally);
  other->count_readers_in(tally);
  {
    Broadcast::Reader first(one);
    const Broadcast::Reader second(other);
    EXPECT_EQ(*tally, 2U);
    const Broadcast::Reader moved(std::move(first));
    EXPECT_EQ(*tally, 2U);
  }
  EXPECT_EQ(*tally, 0U);
}

std::string text_of(const Broadcast::Message& message) {
  return static_cast<const StringValue&>(*message).value();
}

// All unread messages: "11 a", or "10 begin" for a gap.
std::vector<std::string> read_all(Broadcast::Reader& reader) {
  std::vector<std::string> all;
  while (const auto next = reader.next(Deadline::passed())) {
    std::string what;
    switch (next->gap) {
      case Gap::none:
        what = text_of(next->message);
        break;
      case Gap::begin:
        what = "begin";
        break;
      case Gap::moved:
        what = "moved";
        break;
      case Gap::behind:
        what = "behind";
        break;
    }
    all.push_back(std::to_string(next->position.sequence) + " " + what);
  }
  return all;
}

TEST(BroadcastTest, EachReaderGetsAllMessagesFromItsStart) {
  auto broadcast = make();
  Broadcast::Reader first(broadcast);
  EXPECT_THAT(read_all(first), ElementsAre("10 begin"));
  broadcast->append(message("a"));
  Broadcast::Reader second(broadcast);
  EXPECT_THAT(read_all(second), ElementsAre("11 begin"));
  broadcast->append(message("b"));
  EXPECT_THAT(read_all(first), ElementsAre("11 a", "12 b"));
  EXPECT_THAT(read_all(second), ElementsAre("12 b"));
}

TEST(BroadcastTest, ReadersWaitUntilTheBroadcastBegins) {
  auto broadcast = std::make_shared<Broadcast>(Broadcast::Bounds());
  Broadcast::Reader reader(broadcast);
  auto reading = coroutine::spawn("reading", [&] { return reader.next(Deadline::after(1s)); });
  ASSERT_TRUE(coroutine::sleep_for(500ms));
  broadcast->begin({.epoch = 3, .sequence = 4}, Gap::moved);
  const auto begun = reading.join(Deadline::never());
  ASSERT_TRUE(begun) << begun;
  EXPECT_EQ(begun->gap, Gap::begin);
  EXPECT_EQ(begun->position, (Position{.epoch = 3, .sequence = 4}));
}

TEST(BroadcastTest, AReaderThatFallsBehindGetsAGapAndContinues) {
  auto broadcast = make({.count_max = 3});
  Broadcast::Reader slow(broadcast);
  Broadcast::Reader fast(broadcast);
  read_all(slow);
  std::vector<std::string> fast_read = read_all(fast);
  for (const char* text : {"a", "b", "c", "d"}) {
    broadcast->append(message(text));
    std::ranges::copy(read_all(fast), std::back_inserter(fast_read));
  }
  EXPECT_THAT(fast_read, ElementsAre("10 begin", "11 a", "12 b", "13 c", "14 d"));
  EXPECT_THAT(read_all(slow), ElementsAre("14 behind"));
  broadcast->append(message("e"));
  EXPECT_THAT(read_all(slow), ElementsAre("15 e"));
  EXPECT_EQ(broadcast->behind_count(), 1U);
}

TEST(BroadcastTest, BytesAreBoundedAndOneMessageAlwaysFits) {
  auto broadcast = make({.bytes_max = 1'000});
  Broadcast::Reader reader(broadcast);
  read_all(reader);
  broadcast->append(message(std::string(2'000, 'x')));
  EXPECT_EQ(read_all(reader).size(), 1U);
  broadcast->append(message(std::string(600, 'x')));
  broadcast->append(message(std::string(600, 'x')));
  EXPECT_THAT(read_all(reader), ElementsAre("13 behind"));
}

TEST(BroadcastTest, AMessageThatAllHaveReadIsFreed) {
  auto broadcast = make({.kept_count = 0});
  Broadcast::Reader first(broadcast);
  read_all(first);
  std::weak_ptr<const google::protobuf::Message> kept;
  {
    auto second = std::make_unique<Broadcast::Reader>(broadcast);
    read_all(*second);
    auto one = message("a");
    kept = one;
    broadcast->append(std::move(one));
    read_all(first);
    EXPECT_FALSE(kept.expired());
  }
  EXPECT_TRUE(kept.expired());
}

TEST(BroadcastTest, AReaderContinuesBehindWhatItKnows) {
  const auto broadcast = make();
  Broadcast::Reader first(broadcast);
  read_all(first);
  for (const char* const text : {"a", "b", "c"}) broadcast->append(message(text));
  read_all(first);
  for (const std::uint64_t known : {10, 11, 12, 13}) {
    Broadcast::Reader again(broadcast, {.epoch = 1, .sequence = known});
    EXPECT_TRUE(again.has_begun());
    EXPECT_THAT(read_all(again), testing::SizeIs(13 - known)) << known;
  }
  Broadcast::Reader again(broadcast, {.epoch = 1, .sequence = 12});
  broadcast->append(message("d"));
  EXPECT_THAT(read_all(again), ElementsAre("13 c", "14 d"));
}

TEST(BroadcastTest, AReaderBeginsAnewWhenWhatFollowsIsForgotten) {
  const auto broadcast = make({.kept_count = 2});
  Broadcast::Reader first(broadcast);
  read_all(first);
  for (const char* const text : {"a", "b", "c", "d"}) broadcast->append(message(text));
  read_all(first);
  Broadcast::Reader in_time(broadcast, {.epoch = 1, .sequence = 12});
  EXPECT_THAT(read_all(in_time), ElementsAre("13 c", "14 d"));
  for (const Position& known :
       {Position{.epoch = 1, .sequence = 11}, Position{.epoch = 1, .sequence = 15},
        Position{.epoch = 2, .sequence = 1}, Position{}}) {
    Broadcast::Reader late(broadcast, known);
    EXPECT_FALSE(late.has_begun());
    EXPECT_THAT(read_all(late), ElementsAre("14 begin"));
  }
}

TEST(BroadcastTest, AGapTellsAReaderThatContinuesAllThatItMissed) {
  const auto broadcast = make();
  Broadcast::Reader first(broadcast);
  read_all(first);
  broadcast->append(message("a"));
  broadcast->begin({.epoch = 2, .sequence = 5}, Gap::moved);
  broadcast->append(message("b"));
  Broadcast::Reader again(broadcast, {.epoch = 1, .sequence = 11});
  EXPECT_THAT(read_all(again), ElementsAre("5 moved", "6 b"));
}

TEST(BroadcastTest, NothingIsKeptOfWhatNobodyReads) {
  const auto broadcast = make();
  {
    Broadcast::Reader first(broadcast);
    read_all(first);
    broadcast->append(message("a"));
    read_all(first);
  }
  Broadcast::Reader soon(broadcast, {.epoch = 1, .sequence = 10});
  EXPECT_THAT(read_all(soon), ElementsAre("11 a"));
  {
    const Broadcast::Reader gone = std::move(soon);
  }
  broadcast->append(nullptr);
  Broadcast::Reader late(broadcast, {.epoch = 1, .sequence = 10});
  EXPECT_THAT(read_all(late), ElementsAre("12 begin"));
}

TEST(BroadcastTest, AGapIsReadInItsPlace) {
  auto broadcast = make();
  Broadcast::Reader reader(broadcast);
  read_all(reader);
  broadcast->append(message("a"));
  broadcast->begin({.epoch = 2, .sequence = 0}, Gap::moved);
  broadcast->append(message("b"));
  EXPECT_THAT(read_all(reader), ElementsAre("11 a", "0 moved", "1 b"));
}

TEST(BroadcastTest, TheEndComesAfterTheLastMessage) {
  auto broadcast = make();
  Broadcast::Reader reader(broadcast);
  read_all(reader);
  broadcast->append(message("a"));
  broadcast->end(Error(Code::not_found, "no such room"));
  EXPECT_EQ(reader.next(Deadline::passed())->position.sequence, 11U);
  EXPECT_THAT(reader.next(Deadline::never()), fails_with(Code::not_found));
  EXPECT_THAT(reader.next(Deadline::never()), fails_with(Code::not_found));
}

TEST(BroadcastTest, BatchesHaveConsecutiveMessages) {
  auto broadcast = make();
  Broadcast::Reader reader(broadcast);
  const auto begin = *reader.poll_batch();
  EXPECT_EQ(begin->after.sequence, 10U);
  EXPECT_THAT(begin->messages, IsEmpty());
  for (const char* text : {"a", "b"}) broadcast->append(message(text));
  broadcast->begin({.epoch = 1, .sequence = 20}, Gap::behind);
  for (int i = 0; i < 3; ++i) broadcast->append(message(std::string(15'000, 'x')));

  const auto batch = *reader.poll_batch();
  EXPECT_EQ(batch->after.sequence, 10U);
  EXPECT_EQ(batch->messages.size(), 2U);
  EXPECT_EQ((*reader.poll_batch())->after.sequence, 20U);
  EXPECT_EQ((*reader.poll_batch())->messages.size(), 2U);
  const auto last = *reader.poll_batch();
  EXPECT_EQ(last->after.sequence, 22U);
  EXPECT_EQ(last->messages.size(), 1U);
}

TEST(BroadcastTest, ReadersShareTheBytesOfAMessage) {
  auto broadcast = make();
  Broadcast::Reader first(broadcast);
  Broadcast::Reader second(broadcast);
  Broadcast::Reader local(broadcast);
  std::uint64_t count = 0;
  for (auto* reader : {&first, &second}) ASSERT_TRUE(*reader->poll_batch(&count));
  ASSERT_TRUE(*local.poll_batch());
  for (const char* text : {"a", "b"}) broadcast->append(message(text));
  EXPECT_THAT((*local.poll_batch())->bytes, IsEmpty());
  EXPECT_EQ(count, 0U);
  const auto batch = *first.poll_batch(&count);
  ASSERT_EQ(batch->bytes.size(), 2U);
  EXPECT_EQ(*batch->bytes[1], batch->messages[1]->SerializeAsString());
  EXPECT_EQ((*second.poll_batch(&count))->bytes, batch->bytes);
  EXPECT_EQ(count, 2U);
}

TEST(BroadcastTest, APollFindsNothingOrTheEnd) {
  auto broadcast = make();
  Broadcast::Reader reader(broadcast);
  EXPECT_EQ((*reader.poll())->gap, Gap::begin);
  EXPECT_FALSE(*reader.poll());
  EXPECT_FALSE(*reader.poll_batch());
  broadcast->end(Error(Code::aborted, "over"));
  EXPECT_THAT(reader.poll(), fails_with(Code::aborted));
  EXPECT_THAT(reader.poll_batch(), fails_with(Code::aborted));
}

TEST(BroadcastTest, AReaderIsToldOnceWhenThereIsSomething) {
  auto broadcast = std::make_shared<Broadcast>(Broadcast::Bounds());
  Broadcast::Reader reader(broadcast);
  Broadcast::Reader other(broadcast);
  int told_count = 0;
  const auto wait = [&] { reader.when_readable([&] { ++told_count; }); };
  wait();
  EXPECT_EQ(told_count, 0) << "it has not begun";
  broadcast->begin({.epoch = 1, .sequence = 10}, Gap::begin);
  EXPECT_EQ(told_count, 1);
  wait();
  EXPECT_EQ(told_count, 2) << "the gap is still there";
  EXPECT_TRUE(*reader.poll());
  wait();
  EXPECT_EQ(told_count, 2);
  broadcast->append(message("a"));
  broadcast->append(message("b"));
  EXPECT_EQ(told_count, 3);
  while (*reader.poll()) {
  }
  wait();
  wait();
  broadcast->end(Error(Code::aborted, "over"));
  EXPECT_EQ(told_count, 4);
}

TEST(BroadcastTest, AReaderThatIsGoneIsNotTold) {
  auto broadcast = make();
  int told_count = 0;
  {
    Broadcast::Reader reader(broadcast);
    EXPECT_TRUE(*reader.poll());
    reader.when_readable([&] { ++told_count; });
    EXPECT_EQ(broadcast->reader_count(), 1U);
  }
  EXPECT_EQ(broadcast->reader_count(), 0U);
  broadcast->append(message("a"));
  EXPECT_EQ(told_count, 0);
}

TEST(BroadcastTest, ItIsNotifiedWhenTheLastReaderHasGone) {
  auto broadcast = make();
  int told_count = 0;
  broadcast->set_on_abandoned([&] { ++told_count; });
  {
    Broadcast::Reader first(broadcast);
    Broadcast::Reader second(broadcast);
    Broadcast::Reader third(std::move(first));
    EXPECT_EQ(broadcast->reader_count(), 2U);
  }
  EXPECT_EQ(told_count, 1);
}

}  // namespace
}  // namespace corolane::framework::detail
