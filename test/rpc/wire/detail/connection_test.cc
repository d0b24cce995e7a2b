// SPDX-License-Identifier: MIT
// One end of a connection, without a client or a server behind it: the handshake, signs of life,
// and every way in which it ends.
#include "rpc/wire/detail/connection.h"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "coroutine/testing/matchers.h"
#include "net/testing/network.h"
#include "test/rpc/raw_peer.h"

namespace corolane::test {
namespace {

using namespace std::chrono_literals;
using rpc::FrameHeader;
using rpc::FrameType;
using rpc::detail::Connection;
using rpc::detail::Handshake;

// Records what a connection tells the class that is derived from it.
class RecordingEnd final : public Connection {
 public:
  using Connection::Connection;

  int opened_count = 0;
  std::vector<FrameType> frames;
  std::vector<Error> lost;
  int closed_count = 0;

  std::optional<Error> refusal;        // The result of on_open().
  std::optional<Error> frame_refusal;  // The result of on_frame().
  bool closes_on_frame = false;

 private:
  static Result<void> result_of(const std::optional<Error>& refusal) {
    return refusal ? Result<void>(*refusal) : Result<void>();
  }
  Result<void> on_open() override {
    ++opened_count;
    return result_of(refusal);
  }
  Result<void> on_frame(const rpc::Frame& frame) override {
    frames.push_back(frame.header.type);
    if (closes_on_frame) close();
    return result_of(frame_refusal);
  }
  void on_lost(const Error& reason) override {
    EXPECT_EQ(closed_count, 0);
    lost.push_back(reason);
  }
  void on_closed() override { ++closed_count; }
};

// A server's end, whose client speaks raw frames; a piece of bytes travels for a millisecond.
class ConnectionTest : public testing::Test {
 protected:
  static constexpr Duration way = 1ms;
  static constexpr std::size_t payload_max = 64 * 1024;

  using Streams = std::pair<std::unique_ptr<net::Stream>, std::unique_ptr<net::Stream>>;
  Streams connect() {
    auto near = network_.connect({"server", 1}, Deadline::after(1s));
    auto far = (*listener_)->accept(Deadline::after(1s));
    check(near && far, "both ends have a stream");
    return {std::move(*near), std::move(*far)};
  }

  static Connection::Limits limits(rpc::Keepalive keepalive = {}) {
    return {.handshake_time_max = 5s, .keepalive = keepalive};
  }

  // An end that waits for the hello of its peer.
  RecordingEnd& serve(const Connection::Limits& limits = ConnectionTest::limits()) {
    auto [near, far] = connect();
    peer_.emplace(std::move(near));
    end_ = std::make_unique<RecordingEnd>(
        std::move(far),
        Handshake(Handshake::Role::server, security_, {.payload_bytes_max = payload_max}), limits);
    end_->start();
    return *end_;
  }
  RecordingEnd& serve_open(const Connection::Limits& limits = ConnectionTest::limits()) {
    RecordingEnd& end = serve(limits);
    peer_->say_hello({});
    EXPECT_EQ(peer_->receive()->header.type, FrameType::hello);
    EXPECT_TRUE(end.is_open());
    return end;
  }

  // Whether the end closes its stream, after no more frames.
  bool hears_the_end() {
    const TimePoint start = now();
    return !peer_->receive() && now() - start < 1h;
  }

  // Writes more than the output of `end` may hold.
  static void fill_output(RecordingEnd& end) {
    for (int i = 0; i < 3; ++i) {
      end.send_text({.type = FrameType::reply}, std::string(100'000, 'x'));
    }
    EXPECT_TRUE(end.is_open());
  }

  // Sends a request of `size` bytes at a steady pace until it is complete or the end has left.
  void send_slowly(const RecordingEnd& end, std::size_t size, std::size_t bytes_per_piece) {
    std::string frame(rpc::frame_header_size + size, 'x');
    rpc::encode({.payload_size = static_cast<std::uint32_t>(size), .type = FrameType::request},
                std::as_writable_bytes(std::span(frame)).first<rpc::frame_header_size>());
    for (std::size_t at = 0; at < frame.size() && end.is_open(); at += bytes_per_piece) {
      const auto piece = std::string_view(frame).substr(at, bytes_per_piece);
      EXPECT_TRUE(peer_->stream().try_write(net::bytes_of(piece)));
      EXPECT_TRUE(coroutine::sleep_for(5s));
    }
  }

  rpc::Security security_;
  sim::SimulatedNetwork network_;
  Result<std::unique_ptr<net::Listener>> listener_ = network_.listen({"server", 1});
  std::optional<RawPeer> peer_;
  std::unique_ptr<RecordingEnd> end_;
};

TEST_F(ConnectionTest, HelloOfThePeerIsAnsweredAndOpensIt) {
  RecordingEnd& end = serve();
  EXPECT_FALSE(end.is_open());

  peer_->say_hello({.requester = "sixteen bytes or"});

  EXPECT_EQ(peer_->receive()->header.type, FrameType::hello);
  EXPECT_TRUE(end.is_open());
  EXPECT_EQ(end.opened_count, 1);
  EXPECT_EQ(end.requester(), "sixteen bytes or");
}

TEST_F(ConnectionTest, EndsWithTheSameKeyOpenAndOthersDoNot) {
  const rpc::Security own{.shared_key = "a key that both ends know"};
  const rpc::Security other{.shared_key = "a key of somebody else"};
  for (const rpc::Security* const of_client : {&own, &other}) {
    auto [near, far] = connect();
    RecordingEnd client(
        std::move(near),
        Handshake(Handshake::Role::client, *of_client, {.payload_bytes_max = payload_max}),
        limits());
    RecordingEnd server(std::move(far),
                        Handshake(Handshake::Role::server, own, {.payload_bytes_max = payload_max}),
                        limits());
    client.start();
    server.start();
    ASSERT_TRUE(coroutine::sleep_for(5 * way));
    const bool is_same = of_client == &own;
    EXPECT_EQ(client.opened_count + server.opened_count, is_same ? 2 : 0);
    if (is_same) continue;
    ASSERT_EQ(client.lost.size(), 1u);
    EXPECT_EQ(client.lost.front(), server.lost.front());
    EXPECT_EQ(client.lost.front().code(), Code::unauthenticated);
  }
}

TEST_F(ConnectionTest, PeerThatDoesNotFinishTheHandshakeInTimeHearsBye) {
  const std::string nonce(32, 'n');
  for (const bool says_hello : {false, true}) {
    security_.shared_key = says_hello ? "a key that the peer does not prove" : "";
    const RecordingEnd& end = serve();
    const TimePoint start = now();
    if (says_hello) peer_->say_hello({.nonce = nonce});

    EXPECT_EQ(peer_->receive_bye().code(), Code::deadline_exceeded);

    EXPECT_EQ(now() - start, 5s + way);
    EXPECT_EQ(end.opened_count, 0);
    EXPECT_EQ(end.lost.size(), 1u);
    EXPECT_FALSE(end.broke_protocol());
  }
}

TEST_F(ConnectionTest, RefusalOnOpenIsToldToThePeer) {
  RecordingEnd& end = serve();
  end.refusal = Error(Code::permission_denied, "not you");

  peer_->say_hello({});

  EXPECT_EQ(peer_->receive_bye(), *end.refusal);
  EXPECT_FALSE(end.is_open());
  EXPECT_EQ(end.lost, (std::vector{*end.refusal}));
}

TEST_F(ConnectionTest, LastWordIsReadAndThenThePeerCloses) {
  RecordingEnd& end = serve_open();
  const Error reason(Code::unavailable, "closing time");

  end.say_bye(reason);
  end.say_bye(Error(Code::internal, "a second one"));

  EXPECT_FALSE(end.is_open());
  EXPECT_EQ(end.lost, (std::vector{reason}));
  EXPECT_EQ(peer_->receive_bye(), reason);
  EXPECT_TRUE(hears_the_end());
  EXPECT_EQ(end.closed_count, 0);
  peer_->stream().close();
  ASSERT_TRUE(coroutine::sleep_for(2 * way));
  EXPECT_EQ(end.closed_count, 1);
  EXPECT_EQ(end.lost.size(), 1u);
}

TEST_F(ConnectionTest, PeerThatStaysAfterByeIsClosedAfterASecond) {
  RecordingEnd& end = serve_open();
  end.say_bye(Error(Code::unavailable, "closing time"));
  peer_->send({.type = FrameType::request});
  ASSERT_TRUE(coroutine::sleep_for(1s - way));
  EXPECT_EQ(end.closed_count, 0);
  ASSERT_TRUE(coroutine::sleep_for(2 * way));
  EXPECT_EQ(end.closed_count, 1);
  EXPECT_TRUE(end.stream().is_closed());
  EXPECT_EQ(end.lost.size(), 1u);
  EXPECT_TRUE(end.frames.empty());
}

TEST_F(ConnectionTest, ByeOfThePeerIsTheReasonOfTheLoss) {
  RecordingEnd& end = serve_open();
  peer_->send({.type = FrameType::bye, .code = static_cast<std::uint8_t>(Code::aborted)}, "enough");
  EXPECT_TRUE(hears_the_end());
  EXPECT_EQ(end.lost, (std::vector{Error(Code::aborted, "enough")}));
  EXPECT_EQ(end.closed_count, 1);
  EXPECT_FALSE(end.broke_protocol());
}

TEST_F(ConnectionTest, BrokenStreamIsReportedOnce) {
  RecordingEnd& end = serve_open();
  network_.reset_all();
  ASSERT_TRUE(coroutine::sleep_for(1h));
  ASSERT_EQ(end.lost.size(), 1u);
  EXPECT_EQ(end.lost.front().code(), Code::unavailable);
  EXPECT_EQ(end.closed_count, 1);
}

TEST_F(ConnectionTest, CloseCallsNothingBack) {
  RecordingEnd& end = serve_open();
  end.close();
  EXPECT_TRUE(hears_the_end());
  ASSERT_TRUE(coroutine::sleep_for(1h));
  EXPECT_FALSE(end.is_open());
  EXPECT_TRUE(end.lost.empty());
  EXPECT_EQ(end.closed_count, 0);
}

TEST_F(ConnectionTest, NoFrameIsHandledAfterTheOneThatEndsIt) {
  const Error no_bye(Code::unknown, "the server said no bye");
  for (const bool closes : {false, true}) {
    RecordingEnd& end = serve_open();
    end.closes_on_frame = closes;
    if (!closes) end.frame_refusal = Error(Code::invalid_argument, "not this one");
    // Both arrive in one piece.
    std::array<std::byte, 2 * rpc::frame_header_size> frames;
    rpc::encode({.type = FrameType::request}, std::span(frames).first<rpc::frame_header_size>());
    rpc::encode({.type = FrameType::cancel}, std::span(frames).last<rpc::frame_header_size>());
    ASSERT_TRUE(peer_->stream().try_write(frames));
    ASSERT_TRUE(coroutine::sleep_for(2 * way));
    EXPECT_EQ(end.frames, (std::vector{FrameType::request}));
    EXPECT_EQ(end.broke_protocol(), !closes);
    EXPECT_EQ(peer_->receive_bye(), closes ? no_bye : *end.frame_refusal);
  }
}

TEST_F(ConnectionTest, ASkippedFrameThatArrivesInPiecesIsComplete) {
  const RecordingEnd& end = serve_open(limits({.interval = 1h}));
  std::string frame(rpc::frame_header_size + 20, 'x');
  rpc::encode({.payload_size = 20, .type = static_cast<FrameType>(0xfe)},
              std::as_writable_bytes(std::span(frame)).first<rpc::frame_header_size>());
  for (const std::size_t at : {0, 26}) {
    EXPECT_TRUE(peer_->stream().try_write(net::bytes_of(std::string_view(frame).substr(at, 26))));
    EXPECT_TRUE(coroutine::sleep_for(1s));
  }
  EXPECT_TRUE(coroutine::sleep_for(30min));
  EXPECT_TRUE(end.is_open());
  EXPECT_TRUE(end.frames.empty());
}

TEST_F(ConnectionTest, EachSkippedFrameHasItsOwnTime) {
  const RecordingEnd& end = serve_open(limits({.interval = 1h}));
  std::string frame(rpc::frame_header_size, 'x');
  rpc::encode({.type = static_cast<FrameType>(0xfe)},
              std::as_writable_bytes(std::span(frame)).first<rpc::frame_header_size>());
  const std::string half = frame.substr(0, 16);
  const std::string rest_and_half = frame.substr(16) + half;
  EXPECT_TRUE(peer_->stream().try_write(net::bytes_of(half)));
  // Each piece ends one frame and begins another: one is incomplete at any time, for six seconds.
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(coroutine::sleep_for(6s));
    EXPECT_TRUE(end.is_open()) << i;
    static_cast<void>(peer_->stream().try_write(net::bytes_of(rest_and_half)));
  }
  EXPECT_TRUE(coroutine::sleep_for(15s));
  EXPECT_FALSE(end.is_open()) << "the last one was not completed";
}

TEST_F(ConnectionTest, MalformedFrameBreaksTheProtocol) {
  RecordingEnd& end = serve_open();
  peer_->send({.type = static_cast<FrameType>(77)});
  EXPECT_EQ(peer_->receive_bye().code(), Code::invalid_argument);
  EXPECT_TRUE(end.broke_protocol());
  EXPECT_TRUE(end.frames.empty());
}

TEST_F(ConnectionTest, LongFrameOutsideACallBreaksTheProtocolAndSoDoesALongHello) {
  serve();
  peer_->send({.type = FrameType::hello, .call_id = rpc::hello_magic},
              std::string(rpc::hello_bytes_max + 1, 'x'));
  EXPECT_EQ(peer_->receive_bye().code(), Code::resource_exhausted);

  const RecordingEnd& end = serve_open();
  peer_->send({.type = FrameType::request}, std::string(payload_max, 'x'));
  peer_->send({.type = FrameType::request}, std::string(payload_max + 1, 'x'));
  peer_->send({.type = FrameType::cancel}, std::string(payload_max + 1, 'x'));
  EXPECT_EQ(peer_->receive_bye().code(), Code::resource_exhausted);
  EXPECT_EQ(end.frames.size(), 2u);
}

TEST_F(ConnectionTest, SilentPeerIsPingedAndThenLost) {
  RecordingEnd& end = serve_open(limits({.interval = 20s, .patience = 3s}));
  const TimePoint heard_at = end.heard_at();

  EXPECT_EQ(peer_->receive()->header.type, FrameType::ping);
  EXPECT_EQ(now() - heard_at, 20s + way);
  EXPECT_FALSE(peer_->receive());
  EXPECT_EQ(now() - heard_at, 23s + way);

  ASSERT_EQ(end.lost.size(), 1u);
  EXPECT_EQ(end.lost.front(), Error(Code::unavailable, "the peer was silent for 23 s"));
  EXPECT_EQ(end.closed_count, 1);
}

TEST_F(ConnectionTest, PeerThatAnswersPingsStays) {
  RecordingEnd& end = serve_open();
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(peer_->receive()->header.type, FrameType::ping);
    peer_->send({.type = FrameType::pong});
  }
  peer_->send({.type = FrameType::ping});
  EXPECT_EQ(peer_->receive()->header.type, FrameType::pong);
  EXPECT_TRUE(end.is_open());
  EXPECT_TRUE(end.frames.empty());
}

TEST_F(ConnectionTest, FrameThatStallsIsLateAfterItsTime) {
  RecordingEnd& end = serve_open(limits({.interval = 10h, .patience = 5s}));
  ASSERT_TRUE(coroutine::sleep_for(7s));
  const TimePoint start = now();
  ASSERT_TRUE(peer_->stream().try_write(net::bytes_of("half a header")));

  EXPECT_EQ(peer_->receive_bye().code(), Code::deadline_exceeded);

  EXPECT_EQ(now() - start, 10s + 2 * way);
  EXPECT_EQ(end.lost.size(), 1u);
  EXPECT_FALSE(end.broke_protocol());
}

TEST_F(ConnectionTest, SlowFrameIsTakenWhenItMakesTheLeastProgress) {
  Connection::Limits slow = limits({.interval = 10h, .patience = 5s});
  slow.frame_bytes_min = 1000;
  const RecordingEnd& steady = serve_open(slow);
  send_slowly(steady, 20'000, 1200);
  EXPECT_TRUE(steady.is_open());
  EXPECT_EQ(steady.frames.size(), 1u);

  const RecordingEnd& slower = serve_open(slow);
  send_slowly(slower, 20'000, 400);
  EXPECT_FALSE(slower.is_open());
  EXPECT_EQ(peer_->receive_bye().code(), Code::deadline_exceeded);
}

TEST_F(ConnectionTest, TimeOfAFrameBeginsWithItsFirstByte) {
  const RecordingEnd& end = serve_open(limits({.interval = 10h, .patience = 5s}));
  for (int i = 0; i < 5; ++i) send_slowly(end, 100, 100);  // In two pieces each.
  EXPECT_TRUE(end.is_open());
  EXPECT_EQ(end.frames.size(), 5u);
}

TEST_F(ConnectionTest, PeerThatDoesNotReadIsClosedByTheNextPush) {
  RecordingEnd& end = serve_open();
  fill_output(end);
  end.send_text({.type = FrameType::reply}, "one too many");
  ASSERT_EQ(end.lost.size(), 1u);
  EXPECT_EQ(end.lost.front().code(), Code::unavailable);
  EXPECT_EQ(end.closed_count, 1);
  EXPECT_TRUE(end.stream().is_closed());
}

TEST_F(ConnectionTest, OnlyALargeReplyWaitsForAPeerThatDoesNotRead) {
  RecordingEnd& end = serve_open();
  fill_output(end);
  const TimePoint start = now();

  EXPECT_THAT(end.send_reply({.type = FrameType::reply, .call_id = 7}, make_echo("small"),
                             Deadline::after(1h)),
              fails_with(Code::deadline_exceeded));
  EXPECT_EQ(now(), start);
  EXPECT_THAT(end.send_reply({.type = FrameType::reply, .call_id = 8},
                             make_echo(std::string(5000, 'x')), Deadline::after(3s)),
              fails_with(Code::deadline_exceeded));
  EXPECT_EQ(now() - start, 3s);

  // Both are queued, and arrive once the peer reads.
  for (int i = 0; i < 3; ++i) EXPECT_EQ(peer_->receive()->header.call_id, 0u);
  EXPECT_EQ(peer_->receive()->header.call_id, 7u);
  EXPECT_EQ(peer_->receive()->header.call_id, 8u);
  EXPECT_TRUE(end.is_open());
}

TEST_F(ConnectionTest, MessageAboveAGibibyteIsNotSent) {
  RecordingEnd& end = serve_open();
  const std::uint64_t before = end.sent_bytes();
  EchoRequest large;
  large.set_text(text_above_a_frame());
  const FrameHeader request{.type = FrameType::request};

  EXPECT_THAT(end.send(FrameHeader(request), large, Deadline::after(1h)),
              fails_with(Code::resource_exhausted));
  EXPECT_THAT(end.send_reply(FrameHeader(request), large, Deadline::after(1h)),
              fails_with(Code::resource_exhausted));

  EXPECT_EQ(end.sent_bytes(), before);
  EXPECT_TRUE(end.send(FrameHeader(request), make_echo("small"), Deadline::after(1h)));
  EXPECT_EQ(peer_->receive()->message, make_echo("small").SerializeAsString());
}

TEST_F(ConnectionTest, AllBytesOfItsFramesAreCounted) {
  RecordingEnd& end = serve_open();
  peer_->send({.type = FrameType::request}, "a request");
  peer_->send({.type = FrameType::ping});
  ASSERT_TRUE(coroutine::sleep_for(2 * way));
  EXPECT_TRUE(
      end.send({.type = FrameType::item}, make_echo("an item"), Deadline::after(1s), "ext"));
  EXPECT_TRUE(
      end.send_reply({.type = FrameType::reply}, make_echo("a reply"), Deadline::after(1s)));
  EXPECT_TRUE(end.send_text({.type = FrameType::reply}, "a text", Deadline::after(1s), "ext"));
  EXPECT_EQ(end.sent_bytes(), end.stream().statistics().written_bytes);
  EXPECT_EQ(end.received_bytes(), peer_->stream().statistics().written_bytes);
}

}  // namespace
}  // namespace corolane::test
