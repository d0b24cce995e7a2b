// SPDX-License-Identifier: MIT
// Peers that send what no real client would send: they get a clear error or the end of their
// connection, hold no more memory than their share, and do not affect other clients.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "coroutine/testing/random.h"
#include "coroutine/testing/sanitizers.h"
#include "rpc/wire/frame.h"
#include "test/fixtures/allocated_bytes.h"
#include "test/rpc/echo_service.h"

namespace corolane::test {
namespace {

using namespace std::chrono_literals;
using rpc::FrameHeader;
using rpc::FrameType;

constexpr std::size_t request_bytes_max = 64 * 1024;

// A frame as text; its header may lie about what follows.
std::string raw_frame(const FrameHeader& header, std::string_view payload = "") {
  std::array<std::byte, rpc::frame_header_size> bytes;
  rpc::encode(header, bytes);
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()).append(payload);
}

std::string frame(FrameHeader header, std::string_view payload = "") {
  header.payload_size = static_cast<std::uint32_t>(payload.size());
  return raw_frame(header, payload);
}

std::string hello() {
  return frame(
      {.type = FrameType::hello, .call_id = rpc::hello_magic, .method_id = rpc::protocol_version});
}

std::string request(std::string_view method, std::string_view message, std::uint64_t call_id = 1) {
  return frame(
      {.type = FrameType::request, .call_id = call_id, .method_id = rpc::method_id(method)},
      message);
}

std::string echo(const std::string& text, std::uint64_t call_id = 1) {
  return request("corolane.test.Echo/Echo", make_echo(text).SerializeAsString(), call_id);
}

struct ReceivedFrame {
  FrameHeader header;
  std::string message;
};

class AbuseTest : public testing::Test {
 protected:
  std::unique_ptr<net::Stream> connect_raw() {
    auto stream = world_.network.connect({"server", 1}, Deadline::after(1s));
    check(stream.has_value(), "the peer connects");
    return std::move(*stream);
  }

  // The frames that the server sends within `patience`, or until it closes.
  static std::vector<ReceivedFrame> read_frames(net::Stream& stream, Duration patience) {
    std::vector<ReceivedFrame> frames;
    rpc::FrameDecoder decoder(1024 * 1024);
    std::array<std::byte, 4096> buffer;
    const Deadline deadline = Deadline::after(patience);
    for (;;) {
      const auto count = stream.read_some(buffer, deadline);
      if (!count || *count == 0) return frames;
      decoder.feed(std::span(buffer).first(*count));
      for (rpc::Frame frame; decoder.next(frame).value();) {
        frames.push_back({.header = frame.header, .message = std::string(rpc::text_of(frame))});
      }
    }
  }

  std::vector<ReceivedFrame> answers_to(std::string_view bytes, Duration patience = 5ms) {
    const auto stream = connect_raw();
    EXPECT_TRUE(stream->try_write(net::bytes_of(bytes)));
    return read_frames(*stream, patience);
  }

  // The only answer besides the hello that answers a valid hello.
  ReceivedFrame answer_to(std::string_view bytes) {
    auto frames = answers_to(bytes);
    if (!frames.empty() && frames[0].header.type == FrameType::hello) frames.erase(frames.begin());
    EXPECT_EQ(frames.size(), 1u);
    return frames.size() == 1 ? std::move(frames[0]) : ReceivedFrame{};
  }

  // The well-behaved client gets its reply after one round trip, whatever the peers do.
  void expect_served() {
    const TimePoint start = now();
    const auto reply = client_.echo(make_echo("still here"));
    ASSERT_TRUE(reply) << reply;
    EXPECT_EQ(reply->text(), "still here");
    EXPECT_EQ(now() - start, 2ms);
  }

  void expect_only_the_good_client_left() {
    ASSERT_TRUE(coroutine::sleep_for(10s));  // Longer than a hello or a goodbye may take.
    EXPECT_EQ(world_.server.statistics().connection_count, 1u);
    EXPECT_EQ(world_.server.statistics().running_count, 0u);
    expect_served();
  }

  EchoWorld world_{{}, {}, {.request_bytes_max = request_bytes_max, .door = rpc::Door::nodes}};
  std::unique_ptr<rpc::Client> connection_ = world_.connect();
  EchoClient client_{*connection_};
};

class FrameMutator {
 public:
  std::string mutate(std::string flow) {
    for (std::uint64_t count = 1 + random_.below(4); count > 0; --count) mutate_once(flow);
    return flow;
  }

 private:
  void mutate_once(std::string& flow) {
    const std::size_t at = random_.below(flow.size());
    switch (random_.below(6)) {
      case 0:
        flow[at] = static_cast<char>(flow[at] ^ 1 << random_.below(8));
        break;
      case 1:
        flow[at] = static_cast<char>(random_.below(256));
        break;
      case 2:
        flow.erase(at, random_.below(40));
        break;
      case 3:
        flow.insert(at, flow.substr(random_.below(flow.size()), random_.below(80)));
        break;
      case 4:
        flow.resize(at + 1);
        break;
      default: {
        // Writes a number at the limits of its type where a header has its lengths and ids.
        constexpr std::array<std::uint64_t, 6> numbers = {
            0, 1, 0x7fff'ffff, 0x8000'0000, 0xffff'ffff, std::numeric_limits<std::uint64_t>::max()};
        std::uint64_t number = numbers[random_.below(numbers.size())];
        for (std::size_t byte = at; byte < std::min(at + 4, flow.size()); ++byte, number >>= 8) {
          flow[byte] = static_cast<char>(number);
        }
      }
    }
    if (flow.empty()) flow = "x";
  }

  Random random_;
};

TEST_F(AbuseTest, TenThousandMutatedFlowsEndInErrorsOrTheEndOfTheirConnection) {
  const std::string flow =
      hello() + echo("one", 1) + frame({.type = FrameType::cancel, .call_id = 2}) + echo("two", 3) +
      request("corolane.test.Echo/Sleep", make_sleep(1ms).SerializeAsString(), 4);
  FrameMutator mutator;
  int executed_count = 0;
  int refused_count = 0;
  int bye_count = 0;
  expect_served();
  std::optional<std::size_t> allocated_before;
  for (int round = 0; round < 10'000; ++round) {
    const std::string mutated = mutator.mutate(flow);
    for (const ReceivedFrame& answer : answers_to(mutated)) {
      if (answer.header.type == FrameType::bye) {
        ++bye_count;
        EXPECT_FALSE(answer.message.empty()) << "no peer is closed without a reason";
      } else if (answer.header.type == FrameType::reply) {
        ++(answer.header.code == 0 ? executed_count : refused_count);
      }
    }
    if (round % 100 == 0) expect_served();
    // By then pools and vectors have reached their final size.
    if (round == 1'000) {
      expect_only_the_good_client_left();
      allocated_before = allocated_bytes();
    }
  }
  expect_only_the_good_client_left();
  EXPECT_LT(allocated_bytes(), *allocated_before + 256 * 1024) << "each connection leaks something";
  EXPECT_GT(executed_count, 1'000) << "the mutations do too much";
  EXPECT_GT(refused_count, 100);
  EXPECT_GT(bye_count, 1'000) << "the mutations do too little";
}

TEST_F(AbuseTest, AFlowMaySplitAtEveryByte) {
  const std::string flow = hello() + echo("one", 1) + echo("two", 2);
  for (std::size_t split = 0; split <= flow.size(); ++split) {
    SCOPED_TRACE(split);
    const auto stream = connect_raw();
    ASSERT_TRUE(stream->try_write(net::bytes_of(flow).first(split)));
    ASSERT_TRUE(coroutine::sleep_for(3ms));
    ASSERT_TRUE(stream->try_write(net::bytes_of(flow).subspan(split)));
    const auto answers = read_frames(*stream, 5ms);
    ASSERT_EQ(answers.size(), 3u);
    EXPECT_EQ(answers[1].message, make_echo("one").SerializeAsString());
    EXPECT_EQ(answers[2].message, make_echo("two").SerializeAsString());
  }
  expect_only_the_good_client_left();
}

TEST_F(AbuseTest, APromiseOfGigabytesIsRefusedByItsHeaderAlone) {
  const std::size_t before = allocated_bytes();
  for (const std::uint32_t size : {std::uint32_t{request_bytes_max + 1}, 0x7fff'ffffu, 0x8000'0000u,
                                   0xffff'ffe0u, 0xffff'ffffu}) {
    SCOPED_TRACE(size);
    const ReceivedFrame too_large =
        answer_to(hello() + raw_frame({.payload_size = size,
                                       .type = FrameType::request,
                                       .call_id = 1,
                                       .method_id = rpc::method_id("corolane.test.Echo/Echo")}));
    EXPECT_EQ(too_large.header.type, FrameType::reply);
    EXPECT_EQ(too_large.header.code, static_cast<std::uint8_t>(Code::resource_exhausted));
    const ReceivedFrame in_the_hello = answer_to(
        raw_frame({.payload_size = size, .type = FrameType::hello, .call_id = rpc::hello_magic}));
    EXPECT_EQ(in_the_hello.header.code, static_cast<std::uint8_t>(Code::resource_exhausted));
    const ReceivedFrame extension = answer_to(
        hello() +
        raw_frame({.payload_size = 1, .type = FrameType::request, .extension_size = size}, "x"));
    EXPECT_EQ(extension.header.type, FrameType::bye);
    EXPECT_EQ(extension.header.code, static_cast<std::uint8_t>(Code::invalid_argument));
  }
  expect_only_the_good_client_left();
  EXPECT_LT(allocated_bytes(), before + 64 * 1024);
}

TEST_F(AbuseTest, APromiseOfGigabytesInsideAMessageIsAnInvalidArgument) {
  for (const std::string_view length : {"\xff\xff\xff\xff\x07", "\x80\x80\x80\x80\x08",
                                        "\xff\xff\xff\xff\x0f", "\xff\xff\xff\xff\xff\xff\x7f"}) {
    const std::string message = "\x0a" + std::string(length) + "text";
    const ReceivedFrame answer = answer_to(hello() + request("corolane.test.Echo/Echo", message));
    EXPECT_EQ(answer.header.type, FrameType::reply);
    EXPECT_EQ(answer.header.code, static_cast<std::uint8_t>(Code::invalid_argument));
  }
  expect_only_the_good_client_left();
}

TEST_F(AbuseTest, ANestingOfTenThousandIsAnInvalidArgument) {
  // Groups of an unknown field: a parser has to follow them down in any message.
  const std::string nested = std::string(10'000, '\x1b') + std::string(10'000, '\x1c');
  const ReceivedFrame refused = answer_to(hello() + request("corolane.test.Echo/Echo", nested));
  EXPECT_EQ(refused.header.type, FrameType::reply);
  EXPECT_EQ(refused.header.code, static_cast<std::uint8_t>(Code::invalid_argument));

  const std::string flat = std::string(50, '\x1b') + std::string(50, '\x1c');
  const ReceivedFrame served = answer_to(hello() + request("corolane.test.Echo/Echo", flat));
  EXPECT_EQ(served.header.code, 0);
  expect_only_the_good_client_left();
}

TEST_F(AbuseTest, MemoryDependsOnTheBytesReceivedNotOnTheSizePromised) {
  constexpr std::size_t peer_count = 200;
  const std::string promise =
      raw_frame({.payload_size = request_bytes_max, .type = FrameType::request});
  std::vector<std::unique_ptr<net::Stream>> peers;
  for (std::size_t index = 0; index < peer_count; ++index) {
    peers.push_back(connect_raw());
    ASSERT_TRUE(peers.back()->try_write(net::bytes_of(hello())));
  }
  ASSERT_TRUE(coroutine::sleep_for(5ms));
  const std::size_t idle = allocated_bytes();

  for (const auto& peer : peers) ASSERT_TRUE(peer->try_write(net::bytes_of(promise)));
  ASSERT_TRUE(coroutine::sleep_for(5ms));
  EXPECT_LT(allocated_bytes(), idle + peer_count * 1024) << "for a promise";

  // All but the last byte. A growing vector holds up to twice its content.
  const std::string payload(request_bytes_max - 1, 'x');
  for (const auto& peer : peers) ASSERT_TRUE(peer->try_write(net::bytes_of(payload)));
  ASSERT_TRUE(coroutine::sleep_for(5ms));
  const std::size_t held = allocated_bytes() - idle;
  EXPECT_GT(held, peer_count * request_bytes_max) << "the measurement sees nothing";
  EXPECT_LT(held, peer_count * request_bytes_max * 5 / 2);
  expect_served();

  for (const auto& peer : peers) peer->close();
  expect_only_the_good_client_left();
  EXPECT_LT(allocated_bytes(), idle) << "memory of the unfinished frames was kept";
}

TEST_F(AbuseTest, APeerThatDoesNotReadItsRefusalsIsNotReadFrom) {
  const auto peer = connect_raw();
  const std::size_t before = allocated_bytes();
  ASSERT_TRUE(peer->try_write(net::bytes_of(hello())));
  const std::string unknown = request("corolane.test.Echo/Nothing", "");
  std::size_t sent_count = 0;
  for (int round = 0; round < 200; ++round) {
    for (int index = 0; index < 100; ++index) {
      if (!peer->try_write(net::bytes_of(unknown))) break;
      ++sent_count;
    }
    ASSERT_TRUE(coroutine::sleep_for(2ms));
    // The peer's share of output; the simulated network holds the larger part of it.
    ASSERT_LT(allocated_bytes(), before + 4 * 1024 * 1024);
  }
  // The peer's requests wait in its own output, and it has received only the refusals so far.
  EXPECT_GT(sent_count * unknown.size(), net::StreamOptions().output_bytes_max);
  EXPECT_FALSE(peer->try_write(net::bytes_of(unknown)));
  EXPECT_LT(read_frames(*peer, 1ms).size(), sent_count);
  peer->close();
  expect_only_the_good_client_left();
}

TEST_F(AbuseTest, APeerThatDoesNotReadItsRepliesHoldsNoMoreThanItsShare) {
  const auto peer = connect_raw();
  ASSERT_TRUE(peer->try_write(net::bytes_of(hello())));
  const std::size_t before = allocated_bytes();
  const std::string asked = echo(std::string(2'000, 'x'));
  for (int round = 0; round < 300; ++round) {
    for (int index = 0; index < 10; ++index) {
      if (!peer->try_write(net::bytes_of(asked))) break;
    }
    ASSERT_TRUE(coroutine::sleep_for(1ms));
    ASSERT_LE(world_.server.statistics().running_count, 1024u);
    // 1,024 calls with their requests and replies, and the output of the connection.
    ASSERT_LT(allocated_bytes(), before + 16 * 1024 * 1024);
    if (round % 10 == 0) expect_served();
  }
  peer->close();
  expect_only_the_good_client_left();
}

}  // namespace
}  // namespace corolane::test
