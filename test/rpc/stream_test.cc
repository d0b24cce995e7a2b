// SPDX-License-Identifier: MIT
// Methods that answer with a stream: order, flow control, ends of all kinds.
#include "rpc/stream.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <utility>

#include "coroutine/task_group.h"
#include "coroutine/testing/matchers.h"
#include "test/rpc/echo_service.h"
#include "test/rpc/raw_peer.h"

namespace corolane::test {
namespace {

using namespace std::chrono_literals;
using rpc::FrameType;

CountRequest count_to(std::uint32_t count, std::uint32_t size = 0, std::uint64_t milliseconds = 0) {
  CountRequest request;
  request.set_count(count);
  request.set_size(size);
  request.set_milliseconds(milliseconds);
  return request;
}

// Reads to the end and checks the order; returns the number of messages.
std::uint32_t read_all(rpc::Reader<CountReply>& numbers) {
  std::uint32_t count = 0;
  for (CountReply reply; numbers.read(reply); ++count) EXPECT_EQ(reply.number(), count);
  return count;
}

class StreamCallTest : public testing::Test {
 protected:
  EchoWorld world_;
  std::unique_ptr<rpc::Client> connection_ = world_.connect();
  EchoClient client_{*connection_};
};

TEST_F(StreamCallTest, AllMessagesArriveInOrderBeforeTheEnd) {
  auto numbers = client_.count(count_to(1000));
  EXPECT_EQ(read_all(numbers), 1000u);
  EXPECT_TRUE(numbers.finish());
  EXPECT_TRUE(numbers.finish());
  CountReply more;
  EXPECT_FALSE(numbers.read(more));
}

TEST_F(StreamCallTest, EmptyStreamIsAStream) {
  auto numbers = client_.count(count_to(0));
  EXPECT_EQ(read_all(numbers), 0u);
  EXPECT_TRUE(numbers.finish());
}

TEST_F(StreamCallTest, ErrorArrivesAfterTheMessages) {
  CountRequest request = count_to(3);
  request.set_error_code(5);
  auto numbers = client_.count(request);
  EXPECT_EQ(read_all(numbers), 3u);
  const auto finished = numbers.finish();
  EXPECT_THAT(finished, fails_with(Code::not_found));
  EXPECT_EQ(finished.error().detail(), "3");
}

TEST_F(StreamCallTest, WriterIsAWindowAheadOfItsReaderAndNoMore) {
  auto numbers = client_.count(count_to(1000, 1000));
  ASSERT_TRUE(coroutine::sleep_for(1s));
  const std::uint32_t ahead = world_.service.written_count;
  EXPECT_GE(ahead, 60u);  // 64 KiB of about a thousand bytes and a header each.
  EXPECT_LE(ahead, 66u);
  EXPECT_EQ(read_all(numbers), 1000u);
  EXPECT_TRUE(numbers.finish());
}

TEST_F(StreamCallTest, EmptyMessagesCountAsWell) {
  auto numbers = client_.count(count_to(1'000'000));
  ASSERT_TRUE(coroutine::sleep_for(1s));
  EXPECT_LE(world_.service.written_count, 64u * 1024 / 32 + 1);
}

TEST_F(StreamCallTest, MessageLargerThanTheWindowPasses) {
  auto numbers = client_.count(count_to(5, 300'000));
  EXPECT_EQ(read_all(numbers), 5u);
  EXPECT_TRUE(numbers.finish());
}

TEST_F(StreamCallTest, OtherCallsPassAStreamThatIsNotRead) {
  auto numbers = client_.count(count_to(1000, 1000));
  ASSERT_TRUE(coroutine::sleep_for(10ms));
  const TimePoint start = now();
  EXPECT_TRUE(client_.echo(make_echo("")));
  EXPECT_EQ(now() - start, 2ms);
}

TEST_F(StreamCallTest, ReaderThatGoesAwayCancelsTheHandler) {
  {
    auto numbers = client_.count(count_to(1000, 0, 10));
    CountReply reply;
    EXPECT_TRUE(numbers.read(reply));
  }
  ASSERT_TRUE(coroutine::sleep_for(10ms));
  EXPECT_EQ(world_.service.cancelled_count, 1);
  EXPECT_EQ(world_.server.statistics().running_count, 0u);
}

TEST_F(StreamCallTest, ReaderThatFinishesEarlyGivesUp) {
  auto numbers = client_.count(count_to(1000, 0, 10));
  CountReply reply;
  EXPECT_TRUE(numbers.read(reply));
  EXPECT_THAT(numbers.finish(), fails_with(Code::cancelled));
  ASSERT_TRUE(coroutine::sleep_for(10ms));
  EXPECT_EQ(world_.service.cancelled_count, 1);
}

TEST_F(StreamCallTest, WriterThatWaitsForRoomIsCancelledWithItsReader) {
  {
    auto numbers = client_.count(count_to(1000, 1000));
    ASSERT_TRUE(coroutine::sleep_for(10ms));
  }
  ASSERT_TRUE(coroutine::sleep_for(10ms));
  EXPECT_EQ(world_.service.cancelled_count, 1);
}

TEST_F(StreamCallTest, DeadlineEndsBothSides) {
  const TimePoint start = now();
  auto numbers = client_.count(count_to(1000, 0, 30), {.deadline = Deadline::after(100ms)});
  EXPECT_EQ(read_all(numbers), 4u);
  EXPECT_THAT(numbers.finish(), fails_with(Code::deadline_exceeded));
  EXPECT_EQ(now() - start, 100ms);
  ASSERT_TRUE(coroutine::sleep_for(10ms));
  EXPECT_EQ(world_.service.cancelled_count, 1);
}

TEST_F(StreamCallTest, StreamMayLastForever) {
  auto numbers = client_.count(count_to(3, 0, 3'600'000), {.deadline = Deadline::never()});
  EXPECT_EQ(read_all(numbers), 3u);
  EXPECT_TRUE(numbers.finish());
}

TEST_F(StreamCallTest, CancelledReaderEndsAtOnce) {
  auto reader = coroutine::spawn("reader", [&] {
    auto numbers = client_.count(count_to(1000, 0, 1000));
    read_all(numbers);
    return numbers.finish();
  });
  ASSERT_TRUE(coroutine::sleep_for(100ms));
  const TimePoint cancelled = now();
  reader.cancel();
  EXPECT_THAT(reader.join(Deadline::never()), fails_with(Code::cancelled));
  EXPECT_EQ(now(), cancelled);
}

TEST_F(StreamCallTest, LostConnectionEndsTheStreamAfterTheReceivedMessages) {
  auto numbers = client_.count(count_to(1000, 0, 10));
  CountReply reply;
  EXPECT_TRUE(numbers.read(reply));
  ASSERT_TRUE(coroutine::sleep_for(25ms));
  world_.network.reset_all();
  ASSERT_TRUE(coroutine::sleep_for(1ms));
  EXPECT_TRUE(numbers.read(reply));
  EXPECT_TRUE(numbers.read(reply));
  EXPECT_FALSE(numbers.read(reply));
  const auto finished = numbers.finish();
  EXPECT_THAT(finished, fails_with(Code::unavailable));
  EXPECT_TRUE(finished.error().maybe_executed());
}

TEST_F(StreamCallTest, StoppingServerEndsStreamsAtOnce) {
  auto numbers = client_.count(count_to(1000, 0, 10));
  CountReply reply;
  EXPECT_TRUE(numbers.read(reply));
  const TimePoint start = now();
  EXPECT_TRUE(world_.server.stop(Deadline::after(5s)));
  EXPECT_LE(now() - start, 10ms);
  read_all(numbers);
  EXPECT_THAT(numbers.finish(), fails_with(Code::unavailable));
}

TEST_F(StreamCallTest, ReaderMayBeMovedAndMayOutliveItsClient) {
  auto numbers = client_.count(count_to(1000, 0, 10));
  auto moved = std::move(numbers);
  CountReply reply;
  EXPECT_TRUE(moved.read(reply));
  connection_.reset();
  EXPECT_FALSE(moved.read(reply));
  EXPECT_THAT(moved.finish(), fails_with(Code::unavailable));
}

TEST_F(StreamCallTest, UnreadMessagesAreDroppedWithAnAbandonedStream) {
  auto numbers = client_.count(count_to(10));
  ASSERT_TRUE(coroutine::sleep_for(10ms));
  EXPECT_THAT(numbers.finish(), fails_with(Code::cancelled));
  CountReply reply;
  EXPECT_FALSE(numbers.read(reply));
}

TEST_F(StreamCallTest, StreamOfAnUnknownMethodFails) {
  rpc::Method method = echo_method("Count");
  method.id = 1;
  rpc::Reader<CountReply> numbers(*connection_, method, count_to(1), {});
  EXPECT_EQ(read_all(numbers), 0u);
  EXPECT_THAT(numbers.finish(), fails_with(Code::unimplemented));
}

TEST_F(StreamCallTest, RequestThatDoesNotFitAFrameIsNotExecuted) {
  EchoRequest large;
  large.set_text(text_above_a_frame());
  rpc::Reader<CountReply> numbers(*connection_, echo_method("Count"), large, {});
  EXPECT_EQ(read_all(numbers), 0u);
  const auto finished = numbers.finish();
  ASSERT_THAT(finished, fails_with(Code::resource_exhausted));
  EXPECT_TRUE(finished.error().not_executed());
}

TEST_F(StreamCallTest, ReaderThatGivesMoreRoomThanAWindowGainsNothing) {
  RawPeer peer(world_);
  peer.say_hello({});
  peer.send({.type = FrameType::request,
             .call_id = 7,
             .method_id = rpc::method_id("corolane.test.Echo/Count"),
             .time = 60'000'000},
            count_to(100'000, 1000).SerializeAsString());
  for (int i = 0; i < 100; ++i) {
    peer.send({.type = FrameType::window, .call_id = 7, .time = 0xffff'ffff});
  }
  ASSERT_TRUE(coroutine::sleep_for(1s));
  EXPECT_LE(world_.service.written_count, 100u * 66);
}

}  // namespace
}  // namespace corolane::test
