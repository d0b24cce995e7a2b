// SPDX-License-Identifier: MIT
// Objects that reply with a stream: what their readers get, and what a slow reader may hold.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "coroutine/task.h"
#include "coroutine/testing/matchers.h"
#include "framework/routing/object_reader.h"
#include "framework/store/memory_store.h"
#include "framework/wire/partition.h"
#include "test/framework/counter.h"
#include "test/framework/counter_shard.h"
#include "test/framework/store/faulty_store.h"

namespace corolane::framework::detail {
namespace {

using namespace std::chrono_literals;
using test::add_request;
using test::AddOftenRequest;
using test::CounterReply;
using test::fails_with;
using Shard = test::CounterShard;
using testing::ElementsAre;
using testing::HasSubstr;

AddOftenRequest often(std::uint32_t count, std::uint32_t ballast_bytes = 0) {
  AddOftenRequest request;
  request.set_count(count);
  request.set_amount(1);
  request.set_ballast_bytes(ballast_bytes);
  return request;
}

// Each of its messages fills a quarter of a window.
constexpr std::uint32_t large_bytes = 16 * 1024;

std::vector<std::int64_t> read_all(ObjectReader<CounterReply>& values) {
  std::vector<std::int64_t> all;
  for (CounterReply value; values.read(value);) all.push_back(value.value());
  return all;
}

class ObjectStreamTest : public testing::Test {
 protected:
  MemoryStore table_;
  test::FaultyStore store_{table_};
};

TEST_F(ObjectStreamTest, MessagesArriveInOrderBeforeTheEnd) {
  Shard shard(store_, 1);
  auto values = shard.counter("a").add_often(often(4));
  EXPECT_THAT(read_all(values), ElementsAre(1, 2, 3, 4));
  EXPECT_TRUE(values.finish());
  EXPECT_EQ(values.reply_headers().headers.find("counter"), "a");
}

TEST_F(ObjectStreamTest, AnErrorArrivesAfterTheMessages) {
  Shard shard(store_, 1);
  AddOftenRequest request = often(2);
  request.set_then_fail(true);
  auto values = shard.counter("a").add_often(request);
  EXPECT_THAT(read_all(values), ElementsAre(1, 2));
  EXPECT_THAT(values.finish(), fails_with(Code::failed_precondition));
}

TEST_F(ObjectStreamTest, ALongStreamArrivesWhole) {
  Shard shard(store_, 1);
  auto values = shard.counter("a").add_often(often(500, 1'000));
  EXPECT_EQ(read_all(values).size(), 500U);
  EXPECT_TRUE(values.finish());
}

TEST_F(ObjectStreamTest, ASlowReaderHoldsNoTurn) {
  Shard shard(store_, 1);
  auto values = shard.counter("a").add_often(often(100, large_bytes));
  ASSERT_TRUE(coroutine::sleep_for(1s));
  const TimePoint start = now();
  const auto added = shard.counter("a").add(add_request(1'000));
  ASSERT_TRUE(added) << added;
  EXPECT_GT(added->value(), 1'000) << "the stream has begun";
  EXPECT_LT(added->value(), 1'020) << "and waits for its reader";
  EXPECT_EQ(now(), start);
  const auto all = read_all(values);
  EXPECT_EQ(all.size(), 100U);
  EXPECT_EQ(all.back(), 1'100) << "the call came in between";
  EXPECT_TRUE(values.finish());
}

TEST_F(ObjectStreamTest, ReadersThatWaitLeaveRoomInTheMailboxOfWriters) {
  Shard shard(store_, 1, {.mailbox_max = 2});
  auto first = shard.counter("a").add_often(often(100, large_bytes));
  auto second = shard.counter("a").add_often(often(100, large_bytes));
  ASSERT_TRUE(coroutine::sleep_for(1s));
  EXPECT_TRUE(shard.counter("a").add(add_request(1)));
  EXPECT_EQ(read_all(first).size(), 100U);
  EXPECT_EQ(read_all(second).size(), 100U);
}

TEST_F(ObjectStreamTest, StreamsThatOnlyReadOverlap) {
  Shard shard(store_, 1);
  ASSERT_TRUE(shard.counter("a").add(add_request(7)));
  test::RepeatRequest request;
  request.set_count(100);
  request.set_ballast_bytes(large_bytes);
  auto first = shard.counter("a").repeat(request);
  auto second = shard.counter("a").repeat(request);
  CounterReply value;
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(first.read(value) && second.read(value)) << i;
    EXPECT_EQ(value.value(), 7);
  }
  EXPECT_FALSE(first.read(value) || second.read(value));
  EXPECT_TRUE(first.finish());
}

TEST_F(ObjectStreamTest, AReaderThatFinishesEarlyCancelsTheHandler) {
  Shard shard(store_, 1);
  auto values = shard.counter("a").add_often(often(100, large_bytes));
  CounterReply value;
  ASSERT_TRUE(values.read(value));
  EXPECT_THAT(values.finish(), fails_with(Code::cancelled));
  EXPECT_FALSE(values.read(value));
  const auto added = shard.counter("a").add(add_request(1'000));
  ASSERT_TRUE(coroutine::sleep_for(1s));
  EXPECT_EQ(shard.counter("a").get({})->value(), added->value()) << "nothing adds any more";
}

TEST_F(ObjectStreamTest, AReaderThatIsDestroyedCancelsTheHandler) {
  Shard shard(store_, 1);
  {
    auto values = shard.counter("a").add_often(often(100, large_bytes));
  }
  const auto before = shard.counter("a").get({})->value();
  ASSERT_TRUE(coroutine::sleep_for(1s));
  EXPECT_EQ(shard.counter("a").get({})->value(), before);
}

TEST_F(ObjectStreamTest, TheDeadlineEndsAStreamThatIsNotRead) {
  Shard shard(store_, 1);
  auto values =
      shard.counter("a").add_often(often(100, large_bytes), {.deadline = Deadline::after(2s)});
  ASSERT_TRUE(coroutine::sleep_for(3s));
  EXPECT_LT(read_all(values).size(), 20U);
  EXPECT_THAT(values.finish(), fails_with(Code::deadline_exceeded));
}

TEST_F(ObjectStreamTest, AShortStreamThatIsNotReadEndsInTime) {
  Shard shard(store_, 1);
  auto values = shard.counter("a").add_often(often(3));
  ASSERT_TRUE(coroutine::sleep_for(1h));
  EXPECT_THAT(read_all(values), ElementsAre(1, 2, 3));
  EXPECT_TRUE(values.finish());
}

TEST_F(ObjectStreamTest, AnObjectLeavesWithoutWaitingForAReader) {
  Shard shard(store_, 1);
  auto values = shard.counter("a").add_often(often(100, large_bytes));
  ASSERT_TRUE(coroutine::sleep_for(1s));
  const Partition partition = partition_of("corolane.test.Counter", "a");
  const TimePoint start = now();
  EXPECT_TRUE(
      shard.host.release(shard.ownership, std::array{partition}, Deadline::after(50ms)).empty());
  EXPECT_EQ(now(), start);
  shard.host.resume(shard.ownership, std::array{partition});
  const auto all = read_all(values);
  EXPECT_GT(all.size(), 0U) << "what was written arrives";
  EXPECT_LT(all.size(), 20U);
  const auto ended = values.finish();
  ASSERT_THAT(ended, fails_with(Code::aborted));
  EXPECT_TRUE(ended.error().maybe_executed());
  EXPECT_THAT(ended.error().message(), HasSubstr("has moved in the middle of the stream of "
                                                 "corolane.test.Counter/AddOften"));
}

TEST_F(ObjectStreamTest, AHandlerThatIgnoresErrorsWritesNothingMore) {
  Shard shard(store_, 1);
  AddOftenRequest request = often(100, large_bytes);
  request.set_ignores_errors(true);
  auto values = shard.counter("a").add_often(request);
  ASSERT_TRUE(coroutine::sleep_for(1s));
  const Partition partition = partition_of("corolane.test.Counter", "a");
  EXPECT_TRUE(
      shard.host.release(shard.ownership, std::array{partition}, Deadline::after(50ms)).empty());
  shard.host.resume(shard.ownership, std::array{partition});
  EXPECT_LT(read_all(values).size(), 20U);
  EXPECT_THAT(values.finish(), fails_with(Code::aborted));

  auto late = shard.counter("b").add_often(request, {.deadline = Deadline::after(1s)});
  ASSERT_TRUE(coroutine::sleep_for(2s));
  EXPECT_LT(read_all(late).size(), 20U);
  EXPECT_THAT(late.finish(), fails_with(Code::deadline_exceeded));
}

TEST_F(ObjectStreamTest, NothingLeavesALostObject) {
  Shard shard(store_, 1);
  auto values = shard.counter("a").add_often(often(100, large_bytes));
  ASSERT_TRUE(coroutine::sleep_for(1s));
  shard.fence.set(TimePoint::min());
  shard.host.drop_all();
  EXPECT_LT(read_all(values).size(), 20U);
  EXPECT_THAT(values.finish(), fails_with(Code::aborted));
}

TEST_F(ObjectStreamTest, AMessageOfADurableMethodFollowsItsChangeIntoTheStore) {
  Shard shard(store_, 1);
  int allowed_count = 3;
  store_.set_before_write([&](const ObjectKey&) -> Result<void> {
    if (allowed_count-- > 0) return {};
    return Error(Code::unavailable, "the disk is full");
  });
  auto values = shard.counter("a").add_often_for_good(often(10));
  EXPECT_THAT(read_all(values), ElementsAre(1, 2, 3));
  EXPECT_THAT(values.finish(), fails_with(Code::unavailable));
}

TEST_F(ObjectStreamTest, AChangeIsStoredBeforeADurableMethodWaitsForItsReader) {
  Shard shard(store_, 1);
  auto values = shard.counter("a").add_often_for_good(often(100, large_bytes));
  ASSERT_TRUE(coroutine::sleep_for(100ms));  // Changes of other methods are stored later.
  EXPECT_EQ(shard.counter("a").get({})->value(), store_.write_count);
  EXPECT_EQ(read_all(values).size(), 100U);
}

TEST_F(ObjectStreamTest, AnObjectRemembersNoStream) {
  Shard shard(store_, 1);
  auto values =
      shard.counter("a").add_often(often(1), {.request_id = {.caller = "b", .sequence = 1}});
  EXPECT_TRUE(read_all(values).empty());
  const auto refused = values.finish();
  ASSERT_THAT(refused, fails_with(Code::invalid_argument));
  EXPECT_TRUE(refused.error().not_executed());
}

TEST_F(ObjectStreamTest, AStreamThatCannotBeginSaysWhy) {
  Shard shard(store_, 1);
  auto values = shard.counter(std::string(1'000, 'x')).add_often(often(1));
  EXPECT_TRUE(read_all(values).empty());
  EXPECT_THAT(values.finish(), fails_with(Code::invalid_argument));
}

}  // namespace
}  // namespace corolane::framework::detail
