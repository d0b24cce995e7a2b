// SPDX-License-Identifier: MIT
// The raw peer of these tests is one end of the simulated network itself.
#include "net/websocket/websocket_network.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "coroutine/task.h"
#include "coroutine/testing/matchers.h"
#include "net/byte_budget.h"
#include "net/connection_bound.h"
#include "net/one_port/first_bytes.h"
#include "net/one_port/one_port.h"
#include "net/parting_streams.h"
#include "net/testing/network.h"
#include "test/net/stream_pair.h"
#include "test/net/test_sink.h"
#include "test/net/websocket/websocket_frames.h"

namespace corolane::net {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

constexpr std::string_view request_head =
    "GET /play HTTP/1.1\r\nHost: server\r\nConnection: keep-alive, Upgrade\r\nUpgrade: "
    "websocket\r\n"
    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";

// A listener for WebSockets, and a peer that has sent its request byte for byte.
class WebSocketNetworkTest : public testing::Test {
 protected:
  // Suspends.
  void open(std::string_view more_headers = "") {
    start(std::string(request_head).append(more_headers).append("\r\n"));
    server_ = must(listener_->accept(test::soon()));
    EXPECT_THAT(text(), StartsWith("HTTP/1.1 101 Switching Protocols\r\n"));
  }
  void start(std::string_view request) {
    listener_ = must(web_.listen(endpoint_));
    peer_ = must(network_.connect(endpoint_, test::soon()));
    EXPECT_TRUE(send_text(*peer_, request));
  }
  // What has come from the server. Suspends until something has.
  std::string text() { return read_text(*peer_).value_or("nothing"); }

  const Endpoint endpoint_{.address = "server", .port = 1};
  sim::SimulatedNetwork network_{{.latency = 1ms}};
  WebSocketNetwork web_{network_, {.origins = {"https://game.example"}}};
  std::unique_ptr<Listener> listener_;
  std::unique_ptr<Stream> peer_;
  std::unique_ptr<Stream> server_;

 private:
  template <typename T>
  static T must(Result<T> result) {
    check(result.has_value(), "the simulated network connects");
    return *std::move(result);
  }
};

TEST_F(WebSocketNetworkTest, MessagesOfAnyCutAreOneFlow) {
  open();
  EXPECT_TRUE(send_text(*peer_, masked_frame(0x02, "one ") + masked_frame(0x00, "flow ") +
                                    masked_frame(0x80, "of ") + masked_frame(0x82, "")));
  for (const char byte : masked_frame(0x82, "bytes")) {
    EXPECT_TRUE(send_text(*peer_, std::string_view(&byte, 1)));
  }
  EXPECT_EQ(read_exactly(*server_, 17).value_or(""), "one flow of bytes");
  EXPECT_TRUE(send_text(*server_, "each write is a message"));
  EXPECT_EQ(text(), bare_frame(0x82, "each write is a message"));
}

TEST_F(WebSocketNetworkTest, BytesBehindTheRequestBelongToTheFlow) {
  start(std::string(request_head) + "\r\n" + masked_frame(0x82, "early"));
  server_ = listener_->accept(test::soon()).value();
  EXPECT_EQ(read_text(*server_).value_or(""), "early");
}

TEST_F(WebSocketNetworkTest, ARequestMayComeByteByByte) {
  start("");
  for (const char byte : std::string(request_head) + "\r\n") {
    EXPECT_TRUE(send_text(*peer_, std::string_view(&byte, 1)));
  }
  server_ = listener_->accept(test::soon()).value();
  EXPECT_THAT(text(), StartsWith("HTTP/1.1 101 "));
}

TEST_F(WebSocketNetworkTest, LongMessagesAreCompressedWhenBothEndsCan) {
  WebSocketNetwork packed(network_, {.deflates = true});
  listener_ = packed.listen(endpoint_).value();
  peer_ = network_.connect(endpoint_, test::soon()).value();
  EXPECT_TRUE(send_text(
      *peer_, std::string(request_head) + "Sec-WebSocket-Extensions: permessage-deflate\r\n\r\n"));
  server_ = listener_->accept(test::soon()).value();
  EXPECT_THAT(text(), HasSubstr("permessage-deflate"));
  EXPECT_TRUE(send_text(*server_, "short"));
  EXPECT_EQ(text(), bare_frame(0x82, "short"));
  EXPECT_TRUE(send_text(*server_, std::string(2'000, 'x')));
  const std::string frame = text();
  EXPECT_EQ(frame[0], '\xc2') << "final, compressed, binary";
  EXPECT_LT(frame.size(), 100u);
  // "Hello" (RFC 7692, 7.2.3.1).
  EXPECT_TRUE(
      send_text(*peer_, masked_frame(0xc2, std::string("\xf2\x48\xcd\xc9\xc9\x07") + '\0')));
  EXPECT_EQ(read_text(*server_).value_or(""), "Hello");
}

TEST_F(WebSocketNetworkTest, CompressedFlowsOfAnySizeArrive) {
  WebSocketNetwork packed(network_, {.deflates = true, .deflate_bytes_min = 1});
  auto pair = make_stream_pair(packed);
  ASSERT_TRUE(pair) << pair;
  for (const std::size_t size :
       {std::size_t{1}, std::size_t{1'000}, std::size_t{60'000}, std::size_t{64 * 1024},
        std::size_t{64 * 1024 + 1}, std::size_t{1'000'000}}) {
    const std::string all = numbered_text(size);
    auto writer = coroutine::spawn(
        "writer", [&] { return pair->client->write_all(bytes_of(all), test::soon()); });
    EXPECT_EQ(read_exactly(*pair->server, size).value_or(""), all);
    EXPECT_TRUE(writer.join(test::soon()));
  }
}

TEST_F(WebSocketNetworkTest, PagesOfOtherOriginsAreRefused) {
  open("Origin: https://game.example\r\n");
  listener_.reset();
  start(std::string(request_head) + "Origin: https://evil.example\r\n\r\n");
  EXPECT_THAT(text(), StartsWith("HTTP/1.1 403 "));
  EXPECT_THAT(web_.statistics().last_failure, EndsWith("its operator may admit it"));
  EXPECT_EQ(web_.statistics().failed_count, 1u);
}

TEST_F(WebSocketNetworkTest, ARequestForSomethingElseIsRefusedInItsWords) {
  start("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n");
  EXPECT_THAT(text(), StartsWith("HTTP/1.1 400 "));
  EXPECT_EQ(text(), "") << "closed";
}

TEST_F(WebSocketNetworkTest, APeerThatAsksForNothingIsGivenUp) {
  start("GET / HTTP/1.1\r\n");
  ASSERT_TRUE(coroutine::sleep_for(5s + 2ms));
  EXPECT_EQ(web_.statistics().failed_count, 1u);
  EXPECT_EQ(text(), "") << "closed";
}

TEST_F(WebSocketNetworkTest, AViolationIsToldByItsCodeBeforeTheEnd) {
  open();
  TestSink sink;
  server_->set_read_sink(sink);
  sink.when_end = [&] { server_->close(); };
  EXPECT_TRUE(send_text(*peer_, masked_frame(0x82, "good") + masked_frame(0x81, "a text")));
  sink.wait_for_end();
  EXPECT_EQ(sink.text, "good");
  EXPECT_THAT(sink.ends, ElementsAre(HasSubstr("no texts")));
  server_.reset();
  EXPECT_EQ(text().substr(2, 2), "\x03\xeb");  // 1003.
  EXPECT_EQ(text(), "");
}

TEST_F(WebSocketNetworkTest, APeersCloseIsAnsweredAndEndsTheFlow) {
  open();
  EXPECT_TRUE(send_text(*peer_, masked_frame(0x82, "last") + masked_frame(0x88, "\x03\xe9 bye")));
  EXPECT_EQ(read_text(*server_).value_or(""), "last");
  EXPECT_EQ(read_text(*server_).value_or("?"), "") << "an orderly end";
  EXPECT_TRUE(server_->is_closed());
  EXPECT_THAT(server_->try_write(bytes_of("x")), test::fails_with(Code::unavailable));
  server_.reset();
  EXPECT_EQ(text(), bare_frame(0x88, "\x03\xe9"));
  EXPECT_EQ(text(), "");
}

TEST_F(WebSocketNetworkTest, AnEndWithoutACloseFrameIsAFailure) {
  open();
  EXPECT_TRUE(send_text(*peer_, masked_frame(0x82, "last")));
  peer_->close();
  EXPECT_EQ(read_text(*server_).value_or(""), "last");
  const auto end = read_text(*server_);
  ASSERT_THAT(end, test::fails_with(Code::unavailable));
  EXPECT_THAT(end.error().message(), HasSubstr("no close frame"));
}

TEST_F(WebSocketNetworkTest, PingsAreAnsweredBetweenThePieces) {
  open();
  EXPECT_TRUE(send_text(*peer_, masked_frame(0x02, "half") + masked_frame(0x89, "ping") +
                                    masked_frame(0x80, "half")));
  TestSink sink;
  server_->set_read_sink(sink);
  EXPECT_EQ(text(), bare_frame(0x8a, "ping"));
  EXPECT_EQ(sink.text, "halfhalf");
}

TEST_F(WebSocketNetworkTest, FinishingSendsACloseFrameBehindTheOutput) {
  open();
  EXPECT_TRUE(server_->try_write(bytes_of("last")));
  server_->finish_writing();
  EXPECT_THAT(server_->try_write(bytes_of("x")), test::fails_with(Code::failed_precondition));
  EXPECT_EQ(read_exactly(*peer_, 10).value_or(""),
            bare_frame(0x82, "last") + bare_frame(0x88, "\x03\xe8"));
  EXPECT_TRUE(send_text(*peer_, masked_frame(0x88, "\x03\xe8")));
  EXPECT_EQ(text(), "");
  EXPECT_EQ(read_text(*server_).value_or("?"), "");
}

TEST_F(WebSocketNetworkTest, SlowHandshakesDelayNobodyAndAreBounded) {
  WebSocketNetwork small(network_, {.handshake_count_max = 2});
  listener_ = small.listen(endpoint_).value();
  std::vector<std::unique_ptr<Stream>> slow;
  for (int i = 0; i < 5; ++i) {
    slow.push_back(network_.connect(endpoint_, test::soon()).value());
    EXPECT_TRUE(send_text(*slow.back(), "GET / HT"));
  }
  peer_ = network_.connect(endpoint_, test::soon()).value();
  EXPECT_TRUE(send_text(*peer_, std::string(request_head) + "\r\n"));
  EXPECT_TRUE(listener_->accept(test::soon()));
  EXPECT_GE(small.statistics().failed_count, 4u);
  listener_.reset();
}

TEST_F(WebSocketNetworkTest, ACloseFrameFollowsOutputAboveTheMark) {
  open();
  const std::string large(1'000'000, 'x');
  EXPECT_FALSE(server_->write_all(bytes_of(large), Deadline::passed()));
  server_->finish_writing();
  const std::string frame = bare_frame(0x82, large);
  EXPECT_EQ(read_exactly(*peer_, frame.size()).value_or(""), frame);
  EXPECT_EQ(text(), bare_frame(0x88, "\x03\xe8"));
}

TEST_F(WebSocketNetworkTest, ClosingEndsAWriterThatWaitsThoughThePeerHasClosed) {
  open();
  const std::string large(1'000'000, 'x');
  auto writer = coroutine::spawn(
      "writer", [&] { return server_->write_all(bytes_of(large), Deadline::never()); });
  ASSERT_TRUE(coroutine::sleep_for(10ms));
  EXPECT_FALSE(writer.is_done());
  EXPECT_TRUE(send_text(*peer_, masked_frame(0x88, "\x03\xe8")));
  TestSink sink;
  server_->set_read_sink(sink);
  sink.wait_for_end();
  server_->close();
  EXPECT_THAT(writer.join(Deadline::after(10ms)), test::fails_with(Code::unavailable));
}

TEST_F(WebSocketNetworkTest, TheBudgetMayEndBeforeAStreamThatParts) {
  auto budget = std::make_unique<ByteBudget>(1'000'000);
  listener_ = web_.listen(endpoint_, {.stream = {.budget = budget.get()}}).value();
  peer_ = network_.connect(endpoint_, test::soon()).value();
  EXPECT_TRUE(send_text(*peer_, std::string(request_head) + "\r\n" + masked_frame(0x82, "early") +
                                    masked_frame(0x88, "\x03\xe8")));
  server_ = listener_->accept(test::soon()).value();
  ASSERT_TRUE(coroutine::sleep_for(10ms));
  server_.reset();
  budget.reset();
  EXPECT_TRUE(send_text(*peer_, "more"));
  ASSERT_TRUE(coroutine::sleep_for(10ms));
  peer_->close();
  ASSERT_TRUE(coroutine::sleep_for(10ms));
}

TEST_F(WebSocketNetworkTest, PartingStreamsAboveTheirBoundAreClosed) {
  auto budget = std::make_unique<ByteBudget>(100'000'000);
  listener_ = web_.listen(endpoint_, {.stream = {.budget = budget.get()}}).value();
  std::vector<std::unique_ptr<Stream>> peers;
  for (std::size_t i = 0; i < PartingStreams::count_max + 5; ++i) {
    peers.push_back(network_.connect(endpoint_, test::soon()).value());
    EXPECT_TRUE(send_text(*peers.back(), std::string(request_head) + "\r\n" +
                                             masked_frame(0x82, "early") +
                                             masked_frame(0x88, "\x03\xe8")));
    server_ = listener_->accept(test::soon()).value();
    peers.back()->release_read_sink({});
  }
  server_.reset();
  listener_.reset();
  budget.reset();
}

TEST(MatchWebSocketTest, OnlyAGetThatAsksForAWebSocketIsOne) {
  const auto match = [](std::string_view text) { return match_websocket(bytes_of(text)); };
  const std::string whole = std::string(request_head) + "\r\n";
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_EQ(match(std::string_view(whole).substr(0, size)), Match::maybe) << size;
  }
  EXPECT_EQ(match(whole), Match::yes);
  EXPECT_EQ(match(whole + "more"), Match::yes);
  EXPECT_EQ(match("POST / HTTP/1.1\r\n"), Match::no);
  EXPECT_EQ(match("GET / HTTP/1.1\r\nHost: a\r\n\r\nUpgrade: websocket\r\n\r\n"), Match::no);
  EXPECT_EQ(match("GET / HTTP/1.1\r\nuPGRADE: h2c, WebSocket\r\n\r\n"), Match::yes);
  EXPECT_EQ(match("GET / HTTP/1.1\r\nX-Upgrade: websocket\r\n\r\n"), Match::no);
  const std::string longest = "GET /" + std::string(websocket_head_bytes_max - 5, 'x');
  EXPECT_EQ(match(longest), Match::maybe);
  EXPECT_EQ(match(longest + "x"), Match::no);
}

std::vector<OnePort::Kind> kinds_of_http() {
  return {{.name = "websocket",
           .match = match_websocket,
           .first_bytes_max = websocket_head_bytes_max + 1},
          {.name = "http", .match = match_http}};
}

TEST(MatchWebSocketTest, HalfARequestIsAnsweredByTheHttpServer) {
  sim::SimulatedNetwork network({.latency = 1ms});
  ConnectionBound connections(AddressShares::Limits{.count_max = 100});
  OnePort port(network, connections, kinds_of_http());
  const Endpoint endpoint{.address = "server", .port = 1};
  auto pages = port.network("http").listen(endpoint).value();
  auto slow = network.connect(endpoint, test::soon()).value();
  EXPECT_TRUE(send_text(*slow, "GET / HTTP/1.1\r\nHost"));
  auto served = pages->accept(Deadline::after(6s));
  ASSERT_TRUE(served) << served;
  EXPECT_TRUE(send_text(*slow, ": a\r\n\r\n"));
  EXPECT_EQ(read_exactly(**served, 27).value_or(""), "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
}

TEST(MatchWebSocketTest, BrowsersAndWebSocketsShareAPort) {
  sim::SimulatedNetwork network({.latency = 1ms});
  ConnectionBound connections(AddressShares::Limits{.count_max = 100});
  OnePort port(network, connections, kinds_of_http());
  WebSocketNetwork web(port.network("websocket"));
  const Endpoint endpoint{.address = "server", .port = 1};
  auto sockets = web.listen(endpoint).value();
  auto pages = port.network("http").listen(sockets->local_endpoint()).value();
  auto page = network.connect(endpoint, test::soon()).value();
  const std::string get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
  for (const char byte : get) EXPECT_TRUE(send_text(*page, std::string_view(&byte, 1)));
  auto served = pages->accept(test::soon()).value();
  EXPECT_EQ(read_exactly(*served, get.size()).value_or(""), get);

  WebSocketNetwork browser(network);
  auto socket = browser.connect(endpoint, test::soon());
  ASSERT_TRUE(socket) << socket;
  auto accepted = sockets->accept(test::soon()).value();
  EXPECT_TRUE(send_text(**socket, "by WebSocket"));
  EXPECT_EQ(read_text(*accepted).value_or(""), "by WebSocket");
}

}  // namespace
}  // namespace corolane::net
