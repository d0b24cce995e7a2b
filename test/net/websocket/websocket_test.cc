// SPDX-License-Identifier: MIT
// WebSockets against one another and against hand-written frames, in virtual time.
#include "net/websocket/websocket.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "coroutine/task.h"
#include "coroutine/testing/matchers.h"
#include "net/parting_streams.h"
#include "net/testing/network.h"
#include "net/websocket/websocket_upgrade.h"
#include "test/net/stream_pair.h"
#include "test/net/websocket/websocket_frames.h"

namespace corolane::net {
namespace {

using namespace std::chrono_literals;
using test::fails_with;
using test::soon;
using testing::ElementsAre;
using testing::HasSubstr;

class MessageLog final : public MessageSink {
 public:
  void on_message(MessageKind kind, std::span<const std::byte> payload) override {
    messages.push_back((kind == MessageKind::text ? "text " : "binary ") +
                       std::string(reinterpret_cast<const char*>(payload.data()), payload.size()));
    if (when_message) when_message();
  }
  void on_end(const Error& reason) override {
    EXPECT_EQ(end, "");
    end = reason.to_string();
  }

  std::vector<std::string> messages;
  std::string end;
  std::function<void()> when_message;
};

// A server's WebSocket, and a peer that sends hand-written frames; or two WebSockets.
struct WebSockets {
  explicit WebSockets(WebSocketOptions options = {},
                      sim::SimulatedNetwork::Options network_options = {},
                      StreamOptions stream = {})
      : network(network_options) {
    auto made = make_stream_pair_at({.address = "server", .port = 1}, network, stream, stream);
    check(made.has_value(), "the simulated network connects");
    peer = std::move(made->client);
    server = std::make_unique<WebSocket>(std::move(made->server), WebSocket::Role::server, options);
  }

  void make_client(const WebSocketOptions& options = {}) {
    client = std::make_unique<WebSocket>(std::move(peer), WebSocket::Role::client, options);
  }
  void send(std::string_view bytes) { EXPECT_TRUE(send_text(*peer, bytes)); }
  // The server's output until it ended, or of one second.
  std::string received() {
    std::string all;
    const Deadline deadline = Deadline::after(1s);
    for (;;) {
      auto part = read_text(*peer, deadline);
      if (!part || part->empty()) return all;
      all += *part;
    }
  }

  sim::SimulatedNetwork network;
  std::unique_ptr<Stream> peer;
  std::unique_ptr<WebSocket> client;
  std::unique_ptr<WebSocket> server;
};

std::string close_frame(unsigned code, const std::string& reason = {}) {
  return std::string{static_cast<char>(code >> 8), static_cast<char>(code & 0xff)} + reason;
}

TEST(WebSocketTest, CarriesMessagesBothWays) {
  WebSockets world;
  world.make_client();
  EXPECT_TRUE(world.client->write_message(MessageKind::text, "hello", soon()));
  EXPECT_TRUE(world.client->write_message(MessageKind::binary, "", soon()));
  auto first = world.server->read_message(soon());
  ASSERT_TRUE(first) << first;
  EXPECT_EQ(first->payload, "hello");
  EXPECT_EQ(first->kind, MessageKind::text);
  auto second = world.server->read_message(soon());
  ASSERT_TRUE(second) << second;
  EXPECT_EQ(second->kind, MessageKind::binary);
  const std::string large(60'000, 'x');
  EXPECT_TRUE(world.server->try_write_message(MessageKind::binary, large));
  EXPECT_EQ(world.client->read_message(soon())->payload, large);
}

TEST(WebSocketTest, WorksSplitAtEveryByte) {
  WebSockets world({}, {.piece_bytes_max = 1});
  world.make_client();
  const std::string text(300, 'y');
  EXPECT_TRUE(world.client->write_message(MessageKind::text, text, soon()));
  EXPECT_EQ(world.server->read_message(soon())->payload, text);
}

TEST(WebSocketTest, ASinkReceivesEveryMessageAndTheEnd) {
  WebSockets world;
  MessageLog sink;
  world.send(masked_frame(0x81, "early"));
  EXPECT_TRUE(coroutine::sleep_for(10ms));
  world.server->set_message_sink(sink);
  EXPECT_TRUE(sink.messages.empty());
  world.send(masked_frame(0x82, "one") + masked_frame(0x81, "two"));
  world.send(masked_frame(0x88, close_frame(1000, "done")));
  EXPECT_TRUE(coroutine::sleep_for(10ms));
  EXPECT_THAT(sink.messages, ElementsAre("text early", "binary one", "text two"));
  EXPECT_EQ(sink.end, "unavailable: WebSocket: closed by peer with 1000: done");
  ASSERT_TRUE(world.server->peer_close());
  EXPECT_EQ(world.server->peer_close()->code, 1000);
  EXPECT_EQ(world.received(), bare_frame(0x88, close_frame(1000)));
}

TEST(WebSocketTest, PingsAreAnsweredWithTheirPayload) {
  WebSockets world;
  world.send(masked_frame(0x89, "are you there"));
  world.send(masked_frame(0x8a, "unasked"));
  EXPECT_EQ(world.received(), bare_frame(0x8a, "are you there"));
}

TEST(WebSocketTest, AWaitingReaderGetsALaterMessage) {
  WebSockets world;
  auto reading = coroutine::spawn("read", [&] { return world.server->read_message(soon()); });
  EXPECT_TRUE(coroutine::sleep_for(10ms));
  world.send(masked_frame(0x01, "lat") + masked_frame(0x80, "er"));
  const auto message = reading.join(Deadline::never());
  ASSERT_TRUE(message) << message;
  EXPECT_EQ(message->payload, "later");
}

TEST(WebSocketTest, AReaderThatGivesUpLosesNothing) {
  WebSockets world;
  EXPECT_THAT(world.server->read_message(Deadline::after(1s)), fails_with(Code::deadline_exceeded));
  world.send(masked_frame(0x81, "later"));
  EXPECT_EQ(world.server->read_message(soon())->payload, "later");
}

TEST(WebSocketTest, ManyMessagesWaitForABusyTask) {
  WebSockets world({}, {}, {.output_bytes_max = 1000});
  world.make_client();
  auto writing = coroutine::spawn("write", [&]() -> Result<void> {
    for (int number = 0; number < 2'000; ++number) {
      auto sent = world.client->write_message(
          MessageKind::text, std::to_string(number) + std::string(100, ' '), soon());
      if (!sent) return sent;
    }
    return {};
  });
  EXPECT_TRUE(coroutine::sleep_for(1s));
  EXPECT_FALSE(writing.is_done());  // Backpressure holds it.
  for (int number = 0; number < 2'000; ++number) {
    auto message = world.server->read_message(soon());
    ASSERT_TRUE(message) << message;
    ASSERT_EQ(std::stoi(message->payload), number);
  }
  EXPECT_TRUE(writing.join(Deadline::never()));
}

TEST(WebSocketTest, ASinkMayPause) {
  WebSockets world;
  MessageLog sink;
  sink.when_message = [&] { world.server->pause_reading(); };
  world.server->set_message_sink(sink);
  world.send(masked_frame(0x81, "one") + masked_frame(0x81, "two"));
  world.send(masked_frame(0x88, close_frame(1000)));
  EXPECT_TRUE(coroutine::sleep_for(10ms));
  EXPECT_THAT(sink.messages, ElementsAre("text one"));
  sink.when_message = nullptr;
  world.server->resume_reading();
  EXPECT_EQ(sink.messages.size(), 1u);
  EXPECT_TRUE(coroutine::sleep_for(10ms));
  EXPECT_THAT(sink.messages, ElementsAre("text one", "text two"));
  EXPECT_THAT(sink.end, HasSubstr("closed by peer with 1000"));
}

TEST(WebSocketTest, ClosingNotifiesThePeerAndWaitsForItsAnswer) {
  WebSockets world;
  world.make_client();
  MessageLog sink;
  world.server->set_message_sink(sink);
  EXPECT_TRUE(world.client->write_message(MessageKind::text, "last", soon()));
  world.client->close(4001, "the game is over");
  EXPECT_THAT(world.client->write_message(MessageKind::text, "more", soon()),
              fails_with(Code::failed_precondition));
  const auto answer = world.client->read_message(soon());
  ASSERT_THAT(answer, fails_with(Code::unavailable));
  EXPECT_EQ(world.client->peer_close()->code, 4001);
  EXPECT_THAT(sink.messages, ElementsAre("text last"));
  EXPECT_THAT(sink.end, HasSubstr("closed by peer with 4001: the game is over"));
  EXPECT_TRUE(coroutine::sleep_for(10ms));
  EXPECT_TRUE(world.server->stream().is_closed());
  EXPECT_TRUE(world.client->stream().is_closed());
}

TEST(WebSocketTest, APeerThatDoesNotAnswerACloseIsGivenUp) {
  WebSockets world;
  const TimePoint start = now();
  world.server->close(1001, std::string(200, 'x'));
  EXPECT_THAT(world.server->read_message(Deadline::never()), fails_with(Code::unavailable));
  EXPECT_EQ(now() - start, 5s);
  EXPECT_TRUE(world.server->stream().is_closed());
  // The reason is cut to this length.
  EXPECT_EQ(world.received(), bare_frame(0x88, close_frame(1001, std::string(123, 'x'))));
}

TEST(WebSocketTest, MessagesAfterOurCloseAreDropped) {
  WebSockets world;
  MessageLog sink;
  world.server->set_message_sink(sink);
  EXPECT_TRUE(coroutine::sleep_for(1ms));
  world.server->close();
  world.send(masked_frame(0x81, "too late"));
  world.send(masked_frame(0x88, ""));
  EXPECT_TRUE(coroutine::sleep_for(10ms));
  EXPECT_TRUE(sink.messages.empty());
  EXPECT_THAT(sink.end, HasSubstr("closed by peer with 1005"));
}

TEST(WebSocketTest, AViolationIsAnsweredWithItsCode) {
  struct Case {
    std::string bytes;
    unsigned code;
    Code error;
  };
  for (const auto& [bytes, code, error] : {
           Case{bare_frame(0x81, "x"), 1002, Code::invalid_argument},
           Case{masked_frame(0x88, "\x03"), 1002, Code::invalid_argument},
           Case{masked_frame(0x81, "\xff"), 1007, Code::invalid_argument},
           Case{masked_frame(0x82, std::string(1'001, 'x')), 1009, Code::resource_exhausted},
       }) {
    WebSockets world({.message_bytes_max = 1'000});
    world.send(bytes);
    EXPECT_THAT(world.server->read_message(soon()), fails_with(error)) << code;
    const std::string answer = world.received();
    ASSERT_GE(answer.size(), 4u);
    EXPECT_EQ(answer[0], '\x88');
    EXPECT_EQ(answer.substr(2, 2), close_frame(code));
    EXPECT_TRUE(world.server->is_closed());
  }
}

TEST(WebSocketTest, AConnectionThatEndsWithoutACloseFrameIsBroken) {
  WebSockets world;
  world.send(masked_frame(0x81, "one") + masked_frame(0x81, "two"));
  world.peer->close();
  EXPECT_TRUE(coroutine::sleep_for(10ms));
  EXPECT_EQ(world.server->read_message(soon())->payload, "one");
  EXPECT_EQ(world.server->read_message(soon())->payload, "two");
  const auto end = world.server->read_message(soon());
  ASSERT_THAT(end, fails_with(Code::unavailable));
  EXPECT_THAT(end.error().message(), HasSubstr("ended without a close frame"));
  EXPECT_THAT(world.server->try_write_message(MessageKind::text, "x"),
              fails_with(Code::unavailable));
}

TEST(WebSocketTest, ASilentPeerIsPingedAndThenGivenUp) {
  WebSockets world({.keepalive_interval = 10s, .keepalive_patience = 3s});
  const TimePoint start = now();
  EXPECT_THAT(world.server->read_message(Deadline::never()), fails_with(Code::unavailable));
  EXPECT_EQ(now() - start, 13s);
  EXPECT_EQ(world.received(), bare_frame(0x89, ""));
}

TEST(WebSocketTest, APeerThatAnswersPingsStays) {
  WebSockets world({.keepalive_interval = 10s, .keepalive_patience = 3s});
  world.make_client({.keepalive_interval = 1h});
  auto reading =
      coroutine::spawn("read", [&] { return world.client->read_message(Deadline::never()); });
  EXPECT_THAT(world.server->read_message(Deadline::after(100s)),
              fails_with(Code::deadline_exceeded));
  EXPECT_FALSE(world.server->is_closed());
  world.client->abort();
  EXPECT_THAT(reading.join(Deadline::never()), fails_with(Code::unavailable));
}

// A server that echoes each message, and drops the socket at the end.
void echo_all(std::unique_ptr<WebSocket> socket) {
  while (auto message = socket->read_message(Deadline::after(1min))) {
    const auto sent = socket->write_message(message->kind, message->payload, Deadline::after(1min));
    if (!sent) return;
  }
}

TEST(WebSocketTest, ALoopThatEndsWithItsPeerSendsTheLastRepliesAndTheCloseFrame) {
  WebSockets world;
  world.send(masked_frame(0x81, "one") + masked_frame(0x81, "two") +
             masked_frame(0x88, close_frame(4001, "done")));
  echo_all(std::move(world.server));
  EXPECT_EQ(world.received(), bare_frame(0x81, "one") + bare_frame(0x81, "two") +
                                  bare_frame(0x88, close_frame(4001)));
}

TEST(WebSocketTest, APeerThatEndsRightAfterItsCloseFrameGetsAllReplies) {
  WebSockets world({}, {}, {.output_bytes_max = 1'000});
  const std::string large(50'000, 'x');
  world.send(masked_frame(0x82, large) + masked_frame(0x88, close_frame(1000)));
  world.peer->finish_writing();
  auto echoing = coroutine::spawn("echo", [&] { echo_all(std::move(world.server)); });
  EXPECT_EQ(world.received(), bare_frame(0x82, large) + bare_frame(0x88, close_frame(1000)));
  EXPECT_TRUE(echoing.join(Deadline::never()));
}

TEST(WebSocketTest, ASocketThatLeavesScopeClosesAfterAllItsOutput) {
  for (const std::size_t size : {std::size_t{10}, std::size_t{50'000}}) {
    WebSockets world({}, {}, {.output_bytes_max = 1'000});
    const std::string text(size, 'x');
    EXPECT_TRUE(world.server->try_write_message(MessageKind::text, text));
    world.server.reset();
    EXPECT_EQ(world.received(), bare_frame(0x81, text) + bare_frame(0x88, close_frame(1001)));
  }
}

TEST(WebSocketTest, ASocketThatLeavesScopeWhileClosingLosesNothing) {
  WebSockets world;
  EXPECT_TRUE(world.server->try_write_message(MessageKind::text, "last"));
  world.server->close(4002, "enough");
  world.server.reset();
  EXPECT_EQ(world.received(),
            bare_frame(0x81, "last") + bare_frame(0x88, close_frame(4002, "enough")));
}

TEST(WebSocketTest, APartingStreamIsClosedWithItsPeerOrAtItsDeadline) {
  for (const bool peer_ends : {true, false}) {
    WebSockets world;
    PartingStreams& parting = *world.peer->parting_streams();
    world.server.reset();
    EXPECT_EQ(parting.count(), 1u);
    const TimePoint start = now();
    if (peer_ends) {
      EXPECT_TRUE(read_text(*world.peer, soon()));
      world.peer->finish_writing();
    }
    while (parting.count() > 0) ASSERT_TRUE(coroutine::sleep_for(1ms));
    EXPECT_LE(now() - start, peer_ends ? 10ms : 5001ms);
    if (!peer_ends) {
      EXPECT_GE(now() - start, 5s);
    }
  }
}

TEST(WebSocketTest, PartingStreamsAreBounded) {
  WebSockets world;
  PartingStreams& parting = *world.peer->parting_streams();
  std::vector<StreamPair> pairs;
  for (std::size_t i = 0; i < PartingStreams::count_max + 10; ++i) {
    auto pair = make_stream_pair_at({.address = "server", .port = 0}, world.network);
    ASSERT_TRUE(pair);
    const WebSocket gone(std::move(pair->server), WebSocket::Role::server, {});
    pairs.push_back(*std::move(pair));
  }
  EXPECT_EQ(parting.count(), PartingStreams::count_max);
}

TEST(WebSocketTest, FinishingSendsEverythingAndWaitsForThePeersAnswer) {
  WebSockets world;
  world.make_client();
  MessageLog sink;
  world.server->set_message_sink(sink);
  EXPECT_TRUE(world.client->write_message(MessageKind::text, "last", soon()));
  EXPECT_TRUE(world.client->finish(soon()));
  EXPECT_EQ(world.client->peer_close()->code, 1000);
  EXPECT_THAT(sink.messages, ElementsAre("text last"));
  EXPECT_THAT(sink.end, HasSubstr("closed by peer with 1000"));
  EXPECT_TRUE(world.client->finish(soon()));  // It has nothing left to do.
}

TEST(WebSocketTest, FinishingAnswersThePeersClose) {
  WebSockets world;
  world.send(masked_frame(0x88, close_frame(4003)));
  EXPECT_THAT(world.server->read_message(soon()), fails_with(Code::unavailable));
  EXPECT_TRUE(world.server->write_message(MessageKind::text, "x", soon()).error().code() ==
              Code::failed_precondition);
  EXPECT_TRUE(world.server->finish(soon()));
  EXPECT_EQ(world.received(), bare_frame(0x88, close_frame(4003)));
}

TEST(WebSocketTest, FinishingFailsWhenThePeerDoesNotAnswer) {
  WebSockets world;
  EXPECT_THAT(world.server->finish(Deadline::after(1s)), fails_with(Code::deadline_exceeded));
  EXPECT_THAT(world.server->finish(Deadline::after(10s)), fails_with(Code::unavailable));
  WebSockets broken;
  broken.peer->close();
  EXPECT_TRUE(coroutine::sleep_for(10ms));
  EXPECT_THAT(broken.server->finish(soon()), fails_with(Code::unavailable));
}

TEST(WebSocketTest, TheCloseFrameWaitsBehindOutputThatThePeerTakesSlowly) {
  WebSockets world({}, {}, {.output_bytes_max = 1'000});
  const std::string text(5'000, 'x');
  EXPECT_TRUE(world.server->try_write_message(MessageKind::text, text));
  world.send(masked_frame(0x88, close_frame(1000)));
  auto finishing = coroutine::spawn("finish", [&] { return world.server->finish(soon()); });
  EXPECT_TRUE(coroutine::sleep_for(100ms));
  EXPECT_EQ(world.received(), bare_frame(0x81, text) + bare_frame(0x88, close_frame(1000)));
  EXPECT_TRUE(finishing.join(Deadline::never()));
}

TEST(WebSocketTest, APeerThatReadsSlowlyButSteadilyStays) {
  WebSockets world({.keepalive_interval = 10s, .keepalive_patience = 5s});
  EXPECT_TRUE(world.server->try_write_message(MessageKind::binary, std::string(660 * 1024, 'x')));
  std::vector<std::byte> buffer(4 * 1024);
  for (int i = 0; i < 160; ++i) {
    ASSERT_TRUE(coroutine::sleep_for(100ms));
    ASSERT_TRUE(world.peer->read_some(buffer, soon()));
  }
  EXPECT_FALSE(world.server->is_closed());
}

TEST(WebSocketTest, APeerThatTakesNothingIsGivenUp) {
  WebSockets world({.keepalive_interval = 10s, .keepalive_patience = 5s});
  EXPECT_TRUE(world.server->try_write_message(MessageKind::binary, std::string(60 * 1024, 'x')));
  EXPECT_TRUE(coroutine::sleep_for(16s));
  EXPECT_TRUE(world.server->is_closed());
}

TEST(WebSocketTest, ATextMustBeUtf8) {
  WebSockets world;
  EXPECT_THAT(world.server->try_write_message(MessageKind::text, "\xff"),
              fails_with(Code::invalid_argument));
  EXPECT_TRUE(world.server->try_write_message(MessageKind::binary, "\xff"));
}

TEST(WebSocketTest, PushWritersAreRefusedAboveTheMark) {
  WebSockets world({}, {}, {.output_bytes_max = 1'000});
  EXPECT_TRUE(world.server->try_write_message(MessageKind::binary, std::string(2'000, 'x')));
  EXPECT_THAT(world.server->try_write_message(MessageKind::binary, "y"),
              fails_with(Code::resource_exhausted));
}

TEST(WebSocketTest, ASinkMayAbort) {
  WebSockets world;
  MessageLog sink;
  sink.when_message = [&] { world.server->abort(); };
  world.server->set_message_sink(sink);
  world.send(masked_frame(0x81, "one") + masked_frame(0x81, "two"));
  EXPECT_TRUE(coroutine::sleep_for(10ms));
  EXPECT_THAT(sink.messages, ElementsAre("text one"));
  EXPECT_EQ(sink.end, "");
}

}  // namespace
}  // namespace corolane::net
