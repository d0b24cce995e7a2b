// SPDX-License-Identifier: MIT
// A client that takes its replies slowly but steadily keeps its connection, however long that
// takes; one that takes nothing loses it.
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "coroutine/task.h"
#include "rpc/wire/frame.h"
#include "test/rpc/echo_service.h"
#include "test/rpc/raw_peer.h"

namespace corolane::test {
namespace {

using namespace std::chrono_literals;
using rpc::FrameType;

constexpr std::size_t large_reply_bytes = std::size_t{60} * 1024;
constexpr std::size_t ten_megabytes = 10'000'000;
constexpr std::size_t slow_bytes_per_second = 8 * 1024;

class SlowClientTest : public testing::Test {
 protected:
  // A client that asks for many replies at once, and reads none so far.
  RawPeer ask(std::uint64_t count, std::size_t reply_bytes) {
    world_.service.reply_bytes = reply_bytes;
    RawPeer peer(world_);
    peer.say_hello({});
    for (std::uint64_t id = 1; id <= count; ++id) peer.call("", id);
    return peer;
  }

  // Reads at a steady rate; returns how many bytes it got until it had `wanted`, or the server
  // ended the connection.
  static std::size_t read_slowly(RawPeer& peer, std::size_t wanted, std::size_t bytes_per_second) {
    std::vector<std::byte> buffer(bytes_per_second / 10);
    std::size_t received = 0;
    while (received < wanted) {
      EXPECT_TRUE(coroutine::sleep_for(100ms));
      const auto some = peer.stream().read_some(buffer, Deadline::after(1h));
      if (!some || *some == 0) break;
      received += *some;
    }
    return received;
  }

  std::uint64_t connection_count() const { return world_.server.statistics().connection_count; }

  EchoWorld world_;
};

TEST_F(SlowClientTest, ClientThatReadsSlowlyButSteadilyStays) {
  const TimePoint start = now();
  RawPeer peer = ask(11, large_reply_bytes);
  EXPECT_GE(read_slowly(peer, 11 * large_reply_bytes, 40 * 1024), 11 * large_reply_bytes);
  EXPECT_GE(now() - start, 16s);
  // The same when its output is above the mark.
  RawPeer other = ask(30, large_reply_bytes);
  EXPECT_GE(read_slowly(other, 30 * large_reply_bytes, 100 * 1024), 30 * large_reply_bytes);
}

TEST_F(SlowClientTest, TenMegabytesOfRepliesArriveAt8KibPerSecond) {
  const std::size_t count = ten_megabytes / large_reply_bytes + 1;
  RawPeer peer = ask(count, large_reply_bytes);
  EXPECT_GE(read_slowly(peer, count * large_reply_bytes, slow_bytes_per_second), ten_megabytes);
  EXPECT_EQ(connection_count(), 1u);
  EXPECT_EQ(world_.service.echoed.size(), count);
}

TEST_F(SlowClientTest, OneReplyOfTenMegabytesArrivesAt8KibPerSecond) {
  RawPeer peer = ask(1, ten_megabytes);
  EXPECT_GE(read_slowly(peer, ten_megabytes, slow_bytes_per_second), ten_megabytes);
  EXPECT_EQ(connection_count(), 1u);
}

// A client that reads what is there and grants as much again, half a second for each piece.
TEST_F(SlowClientTest, StreamOfTenMegabytesArrivesAt8KibPerSecond) {
  constexpr std::uint32_t item_bytes = 16'000;
  RawPeer peer(world_);
  peer.say_hello({});
  CountRequest request;
  request.set_count(ten_megabytes / item_bytes + 1);
  request.set_size(item_bytes);
  peer.send({.type = FrameType::request,
             .call_id = 1,
             .method_id = rpc::method_id("corolane.test.Echo/Count")},
            request.SerializeAsString());

  rpc::FrameDecoder decoder(std::size_t{1} << 20);
  std::vector<std::byte> piece(slow_bytes_per_second / 2);
  std::uint32_t item_count = 0;
  bool has_ended = false;
  while (!has_ended) {
    ASSERT_TRUE(coroutine::sleep_for(500ms));
    const auto size = peer.stream().read_some(piece, Deadline::after(1h));
    ASSERT_TRUE(size && *size > 0) << "cut off after " << item_count << " items";
    decoder.feed(std::span(piece).first(*size));
    for (rpc::Frame frame; decoder.next(frame).value();) {
      has_ended = frame.header.type == FrameType::reply;
      EXPECT_EQ(frame.header.code, 0);
      if (frame.header.type != FrameType::item) continue;
      ++item_count;
      const auto size_of_item = frame.header.payload_size + rpc::frame_header_size;
      peer.send({.type = FrameType::window,
                 .call_id = 1,
                 .time = static_cast<std::uint32_t>(size_of_item)});
    }
  }
  EXPECT_EQ(item_count, request.count());
}

TEST_F(SlowClientTest, ClientThatReadsNothingIsDisconnected) {
  struct Asked {
    std::uint64_t count;
    std::size_t bytes;
  };
  for (const Asked& asked :
       {Asked{2, large_reply_bytes}, Asked{11, large_reply_bytes}, Asked{1, ten_megabytes}}) {
    RawPeer peer = ask(asked.count, asked.bytes);
    ASSERT_TRUE(coroutine::sleep_for(9s));
    EXPECT_EQ(connection_count(), 1u);
    ASSERT_TRUE(coroutine::sleep_for(7s));
    EXPECT_EQ(connection_count(), 0u) << asked.count << " of " << asked.bytes;
  }
}

TEST_F(SlowClientTest, ClientThatStopsReadingIsDisconnected) {
  RawPeer peer = ask(1, ten_megabytes);
  EXPECT_GE(read_slowly(peer, ten_megabytes / 10, slow_bytes_per_second), ten_megabytes / 10);
  EXPECT_EQ(connection_count(), 1u);
  ASSERT_TRUE(coroutine::sleep_for(26s));
  EXPECT_EQ(connection_count(), 0u);
}

TEST_F(SlowClientTest, ClientWhoseSystemAloneReadsIsDisconnected) {
  RawPeer peer(world_);
  peer.say_hello({});
  // The client reads the pings but never answers.
  auto taking = coroutine::spawn("system", [&] {
    while (peer.receive()) {
    }
  });
  ASSERT_TRUE(coroutine::sleep_for(16s));
  EXPECT_TRUE(taking.is_done());
  EXPECT_EQ(connection_count(), 0u);
}

}  // namespace
}  // namespace corolane::test
