// SPDX-License-Identifier: MIT
// WebSockets with permessage-deflate: the handshake, both roles against each other and against
// hand-written frames, in virtual time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "coroutine/task.h"
#include "coroutine/testing/matchers.h"
#include "net/testing/network.h"
#include "net/websocket/websocket_upgrade.h"
#include "test/net/stream_pair.h"
#include "test/net/websocket/websocket_frames.h"

namespace corolane::net {
namespace {

using namespace std::chrono_literals;
using test::fails_with;
using test::soon;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr std::string_view hello_deflated("\xf2\x48\xcd\xc9\xc9\x07\x00", 7);

// A client and a server over one connection, after a handshake.
struct DeflateWorld {
  DeflateWorld(const WebSocketUpgradeOptions& client_options,
               const WebSocketUpgradeOptions& server_options)
      : listener(*network.listen({.address = "server", .port = 1})) {
    auto accepting = coroutine::spawn("accept", [&]() -> Result<void> {
      auto stream = listener->accept(soon());
      if (!stream) return stream.error();
      auto accepted = accept_websocket(*std::move(stream), soon(), server_options);
      if (!accepted) return accepted.error();
      server = *std::move(accepted);
      return {};
    });
    auto connected = connect_websocket(network, {"server", 1}, "/", soon(), client_options);
    EXPECT_TRUE(accepting.join(Deadline::never()));
    check(connected.has_value(), "the handshake succeeds");
    client = *std::move(connected);
  }

  sim::SimulatedNetwork network;
  std::unique_ptr<Listener> listener;
  std::unique_ptr<WebSocket> client;
  std::unique_ptr<WebSocket> server;
};

// A server's WebSocket, and a peer that sends hand-written frames.
struct DeflatingServer {
  explicit DeflatingServer(const WebSocketOptions& options = {},
                           const std::optional<WebSocketDeflate>& deflate = WebSocketDeflate{}) {
    auto made = make_stream_pair_at({.address = "server", .port = 1}, network);
    check(made.has_value(), "the simulated network connects");
    peer = std::move(made->client);
    server = std::make_unique<WebSocket>(std::move(made->server), WebSocket::Role::server, options,
                                         std::span<const std::byte>(), deflate);
  }

  sim::SimulatedNetwork network;
  std::unique_ptr<Stream> peer;
  std::unique_ptr<WebSocket> server;
};

TEST(WebSocketDeflateTest, BothRolesDeflateWhatIsLargeEnough) {
  DeflateWorld world({.deflates = true}, {.deflates = true});
  ASSERT_TRUE(world.client->deflate());
  ASSERT_TRUE(world.server->deflate());
  for (const std::size_t size : {0u, 10u, 1'023u, 1'024u, 60'000u, 1'024u}) {
    const std::string text(size, 'x');
    const auto sent_before = world.client->stream().statistics().written_bytes;
    EXPECT_TRUE(world.client->write_message(MessageKind::text, text, soon()));
    EXPECT_TRUE(world.server->try_write_message(MessageKind::binary, text));
    auto at_server = world.server->read_message(soon());
    ASSERT_TRUE(at_server) << at_server;
    EXPECT_EQ(at_server->payload, text);
    EXPECT_EQ(at_server->kind, MessageKind::text);
    EXPECT_EQ(world.client->read_message(soon())->payload, text);
    const auto sent = world.client->stream().statistics().written_bytes - sent_before;
    EXPECT_EQ(sent < size, size >= 1'024) << sent << " of " << size;
  }
}

TEST(WebSocketDeflateTest, NothingIsAgreedOnUnlessBothEndsWantIt) {
  for (const bool client_wants : {true, false}) {
    DeflateWorld world({.deflates = client_wants}, {.deflates = !client_wants});
    EXPECT_FALSE(world.client->deflate());
    EXPECT_FALSE(world.server->deflate());
    const std::string text(5'000, 'x');
    EXPECT_TRUE(world.client->write_message(MessageKind::text, text, soon()));
    EXPECT_EQ(world.server->read_message(soon())->payload, text);
    EXPECT_GT(world.client->stream().statistics().written_bytes, 5'000u);
  }
}

TEST(WebSocketDeflateTest, AnAnswerSaysWhatWasAgreedOn) {
  HttpRequest request{.target = "/",
                      .headers = {{"Host", "server"},
                                  {"Upgrade", "websocket"},
                                  {"Connection", "Upgrade"},
                                  {"Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="},
                                  {"Sec-WebSocket-Version", "13"}}};
  EXPECT_FALSE(answer_websocket(request, {.deflates = true})->deflate);
  request.headers.add("Sec-WebSocket-Extensions", "permessage-deflate; server_max_window_bits=12");
  const auto answer = answer_websocket(request, {.deflates = true});
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->deflate, WebSocketDeflate{.window_bits = 12});
  EXPECT_THAT(answer->text, HasSubstr("\r\nSec-WebSocket-Extensions: permessage-deflate; "
                                      "server_no_context_takeover; client_no_context_takeover; "
                                      "server_max_window_bits=12\r\n\r\n"));
  EXPECT_FALSE(answer_websocket(request)->deflate);
  EXPECT_THAT(answer_websocket(request)->text, Not(HasSubstr("Extensions")));
  request.headers.add("Sec-WebSocket-Extensions", "a;;b");
  const auto refused = answer_websocket(request);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().status, 400u);
}

TEST(WebSocketDeflateTest, AClientRefusesAnAnswerThatItDidNotOffer) {
  for (const std::string_view extensions :
       {"permessage-deflate", "permessage-deflate; server_no_context_takeover, other", "other",
        "permessage-deflate; server_no_context_takeover; client_max_window_bits=9", "a;;b"}) {
    sim::SimulatedNetwork network;
    auto listener = *network.listen({.address = "server", .port = 1});
    auto answering = coroutine::spawn("answer", [&]() -> Result<void> {
      auto stream = listener->accept(soon());
      if (!stream) return stream.error();
      const auto asked = read_text(**stream);
      if (!asked) return asked.error();
      EXPECT_THAT(*asked, HasSubstr("Sec-WebSocket-Extensions: permessage-deflate; server_no_"));
      HttpRequest request{.target = "/",
                          .headers = {{"Upgrade", "websocket"},
                                      {"Connection", "Upgrade"},
                                      {"Sec-WebSocket-Version", "13"}}};
      request.headers.add("Sec-WebSocket-Key",
                          asked->substr(asked->find("Sec-WebSocket-Key: ") + 19, 24));
      std::string text = answer_websocket(request)->text;
      text.insert(text.size() - 2, "Sec-WebSocket-Extensions: " + std::string(extensions) + "\r\n");
      if (auto sent = send_text(**stream, text); !sent) return sent;
      return coroutine::sleep_for(10ms);
    });
    const auto socket = connect_websocket(network, {"server", 1}, "/", soon(), {.deflates = true});
    ASSERT_THAT(socket, fails_with(Code::unavailable)) << extensions;
    EXPECT_THAT(socket.error().message(), HasSubstr("extension"));
    EXPECT_TRUE(answering.join(Deadline::never()));
  }
}

TEST(WebSocketDeflateTest, FragmentsAreInflatedAndAPingBetweenThemIsAnswered) {
  DeflatingServer world;
  EXPECT_TRUE(send_text(*world.peer, masked_frame(0x41, hello_deflated.substr(0, 4))));
  EXPECT_TRUE(send_text(*world.peer, masked_frame(0x89, "ping")));
  EXPECT_TRUE(send_text(*world.peer, masked_frame(0x80, hello_deflated.substr(4))));
  EXPECT_EQ(world.server->read_message(soon())->payload, "Hello");
  EXPECT_EQ(read_text(*world.peer, soon()).value_or(""), bare_frame(0x8a, "ping"));
}

TEST(WebSocketDeflateTest, ASocketMayEndInsideOfAMessage) {
  for (int round = 0; round < 3; ++round) {
    DeflatingServer world;
    EXPECT_TRUE(send_text(*world.peer, masked_frame(0x41, hello_deflated.substr(0, 4))));
    EXPECT_THAT(world.server->read_message(Deadline::after(1s)),
                fails_with(Code::deadline_exceeded));
  }
}

TEST(WebSocketDeflateTest, AViolationIsAnsweredWithItsCode) {
  // 10,000 times the same byte.
  const auto small = detail::deflate_websocket_payload({}, bytes_of(std::string(10'000, 'x')));
  const std::string bomb(text_of(*small));
  struct Case {
    std::string bytes;
    unsigned code;
    Code error;
    bool deflates = true;
  };
  for (const auto& [bytes, code, error, deflates] : {
           Case{masked_frame(0xc1, hello_deflated), 1002, Code::invalid_argument, false},
           Case{masked_frame(0xc9, ""), 1002, Code::invalid_argument},
           Case{masked_frame(0xc2, "\xff\xff\xff"), 1007, Code::invalid_argument},
           Case{masked_frame(0xc2, bomb), 1009, Code::resource_exhausted},
       }) {
    const auto deflate = deflates ? std::optional(WebSocketDeflate{}) : std::nullopt;
    DeflatingServer world({.message_bytes_max = 9'999}, deflate);
    EXPECT_TRUE(send_text(*world.peer, bytes));
    EXPECT_THAT(world.server->read_message(soon()), fails_with(error)) << code;
    const std::string answer = read_text(*world.peer, soon()).value_or("");
    EXPECT_THAT(answer.substr(2), StartsWith(std::string{static_cast<char>(code >> 8),
                                                         static_cast<char>(code & 0xff)}));
  }
}

}  // namespace
}  // namespace corolane::net
