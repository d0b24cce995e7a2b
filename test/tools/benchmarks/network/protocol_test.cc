// SPDX-License-Identifier: MIT
// Every protocol meets replies cut at every byte, and invalid replies.
#include "tools/benchmarks/network/protocol.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <numeric>
#include <string>

#include "coroutine/testing/matchers.h"
#include "net/stream.h"
#include "rpc/wire/frame.h"
#include "tools/benchmarks/floor/epoll_server.h"
#include "tools/benchmarks/network/http_text.h"
#include "tools/benchmarks/network/rpc_requests.h"
#include "tools/benchmarks/network/wire_header.h"

namespace corolane::bench {
namespace {

using test::fails_with;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::array<Slot, 3> slots = {2, 0, 1};

Bytes requests_of(Protocol& protocol) {
  Bytes requests;
  protocol.append_requests(slots, requests);
  return requests;
}

Bytes bytes_of(std::string_view text) {
  const auto bytes = net::bytes_of(text);
  return {bytes.begin(), bytes.end()};
}

// Passes `replies` in two pieces, the first of `cut` bytes; returns the answered slots.
std::vector<Slot> answered_in_pieces(Protocol& protocol, const Bytes& replies, std::size_t cut) {
  Replies taken;
  const std::span all(replies);
  const auto first = protocol.take_replies(all.first(cut), taken);
  EXPECT_TRUE(first) << first;
  if (!first) return taken.answered;
  EXPECT_LE(*first, cut);
  const auto second = protocol.take_replies(all.subspan(*first), taken);
  EXPECT_EQ(second, Result<std::size_t>(replies.size() - *first));
  EXPECT_THAT(taken.refused, IsEmpty());
  return taken.answered;
}

// `reply_to` turns the protocol's requests into replies, in the order of its slots.
void expect_replies_at_any_cut(MakeProtocol make_protocol, auto reply_to) {
  const std::size_t size = reply_to(requests_of(*make_protocol())).size();
  for (std::size_t cut = 0; cut <= size; ++cut) {
    SCOPED_TRACE(cut);
    const auto protocol = make_protocol();
    const Bytes replies = reply_to(requests_of(*protocol));
    ASSERT_THAT(answered_in_pieces(*protocol, replies, cut), ElementsAre(2, 0, 1));
  }
}

Bytes repeated(std::size_t count, std::string_view text) {
  std::string all;
  for (; count > 0; --count) all += text;
  return bytes_of(all);
}

TEST(ProtocolTest, EchoesAreMatchedInTheOrderOfTheRequests) {
  expect_replies_at_any_cut(echo_protocol, [](Bytes requests) { return requests; });
}

TEST(ProtocolTest, AWrongEchoIsAnError) {
  const auto protocol = echo_protocol();
  Bytes replies = requests_of(*protocol);
  replies[echo_bytes - 1] = std::byte{0};
  Replies taken;
  EXPECT_THAT(protocol->take_replies(replies, taken), fails_with(Code::internal));
}

TEST(ProtocolTest, AReplyWithoutARequestIsAnError) {
  const auto protocol = echo_protocol();
  Bytes replies = requests_of(*protocol);
  replies.insert(replies.end(), replies.begin(), replies.end());
  Replies taken;
  EXPECT_THAT(protocol->take_replies(replies, taken), fails_with(Code::internal));
}

TEST(ProtocolTest, HttpRepliesEndWhereTheirLengthSays) {
  const std::string reply = "HTTP/1.1 200 OK\r\nCONTENT-length: 5\r\nServer: x\r\n\r\nhello";
  expect_replies_at_any_cut(http_plain_protocol,
                            [&](const Bytes&) { return repeated(slots.size(), reply); });
}

TEST(ProtocolTest, AnHttpReplyWithoutSuccessIsAnError) {
  const auto protocol = http_json_protocol();
  static_cast<void>(requests_of(*protocol));
  Replies taken;
  const Bytes reply = bytes_of("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
  EXPECT_THAT(protocol->take_replies(reply, taken), fails_with(Code::internal));
}

TEST(ProtocolTest, AnHttpRequestIsOneWholeMessage) {
  for (const MakeProtocol make_protocol : {http_plain_protocol, http_json_protocol}) {
    const Bytes requests = requests_of(*make_protocol());
    const std::string_view text(reinterpret_cast<const char*>(requests.data()), requests.size());
    EXPECT_EQ(http_message_size(text) * slots.size(), requests.size());
    EXPECT_EQ(http_message_size(text.substr(0, http_message_size(text) - 1)), 0);
  }
}

TEST(ProtocolTest, WebSocketFramesAreMaskedOneWayOnly) {
  const std::string frame = std::string("\x82\x40") + std::string(echo_bytes, 'w');
  expect_replies_at_any_cut(websocket_protocol,
                            [&](const Bytes&) { return repeated(slots.size(), frame); });
  const Bytes requests = requests_of(*websocket_protocol());
  ASSERT_EQ(requests.size(), slots.size() * (6 + echo_bytes));
  EXPECT_EQ(requests[1], std::byte{0x80 | echo_bytes});
  for (std::size_t index = 0; index < echo_bytes; ++index) {
    ASSERT_EQ(requests[6 + index] ^ requests[2 + index % 4], std::byte{'w'});
  }
}

TEST(ProtocolTest, WebSocketIsGreetedByTheEndOfTheUpgrade) {
  const auto protocol = websocket_protocol();
  Bytes greeting;
  protocol->append_greeting(greeting);
  EXPECT_FALSE(greeting.empty());
  const Bytes answer = bytes_of("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n");
  const std::span all(answer);
  EXPECT_EQ(protocol->take_greeting(all.first(all.size() - 1)), Result<std::size_t>(0));
  EXPECT_FALSE(protocol->is_greeted());
  EXPECT_EQ(protocol->take_greeting(all), Result<std::size_t>(all.size()));
  EXPECT_TRUE(protocol->is_greeted());
  EXPECT_THAT(protocol->take_greeting(bytes_of("HTTP/1.1 400 Bad Request\r\n\r\n")),
              fails_with(Code::internal));
}

// Turns rpc requests into replies, in the same order.
Bytes rpc_replies_to(Bytes requests) {
  const std::size_t size = requests.size() / slots.size();
  for (std::size_t index = 0; index < slots.size(); ++index) {
    requests[index * size + offsetof(WireHeader, type)] =
        static_cast<std::byte>(rpc::FrameType::reply);
  }
  return requests;
}

TEST(ProtocolTest, RpcRepliesNameTheirSlot) {
  expect_replies_at_any_cut(rpc_echo_protocol, rpc_replies_to);
}

TEST(ProtocolTest, AnRpcReplyWithoutSuccessIsAnError) {
  for (const std::size_t broken :
       {offsetof(WireHeader, type), offsetof(WireHeader, code), sizeof(WireHeader) + 2}) {
    const auto protocol = rpc_echo_protocol();
    Bytes replies = rpc_replies_to(requests_of(*protocol));
    replies[broken] = std::byte{7};
    Replies taken;
    EXPECT_THAT(protocol->take_replies(replies, taken), fails_with(Code::internal));
  }
}

TEST(ProtocolTest, ARefusalForOverloadIsNotAnError) {
  const auto rpc = rpc_echo_protocol();
  Bytes replies = rpc_replies_to(requests_of(*rpc));
  replies[offsetof(WireHeader, code)] = static_cast<std::byte>(Code::resource_exhausted);
  Replies taken;
  EXPECT_TRUE(rpc->take_replies(replies, taken));
  EXPECT_THAT(taken.refused, ElementsAre(2));
  EXPECT_THAT(taken.answered, ElementsAre(0, 1));

  const auto http = http_json_protocol();
  static_cast<void>(requests_of(*http));
  EXPECT_TRUE(http->take_replies(
      bytes_of("HTTP/1.1 429 Too Many Requests\r\nContent-Length: 0\r\n\r\n"), taken));
  EXPECT_THAT(taken.refused, ElementsAre(2, 2));
}

TEST(ProtocolTest, RpcIsGreetedByAHello) {
  const auto protocol = rpc_echo_protocol();
  Bytes hello;
  protocol->append_greeting(hello);
  const std::span all(hello);
  EXPECT_EQ(protocol->take_greeting(all.first(all.size() - 1)), Result<std::size_t>(0));
  EXPECT_FALSE(protocol->is_greeted());
  EXPECT_EQ(protocol->take_greeting(all), Result<std::size_t>(all.size()));
  EXPECT_TRUE(protocol->is_greeted());
  hello[offsetof(WireHeader, type)] = static_cast<std::byte>(rpc::FrameType::bye);
  EXPECT_THAT(protocol->take_greeting(hello), fails_with(Code::internal));
}

TEST(ProtocolTest, TheHeaderInMemoryIsTheHeaderOnTheWire) {
  std::array<std::byte, rpc::frame_header_size> encoded;
  rpc::encode({.payload_size = 1,
               .type = rpc::FrameType::reply,
               .code = 2,
               .maybe_executed = true,
               .call_id = 0x0102030405060708,
               .method_id = 0x1112131415161718,
               .time = 3,
               .extension_size = 1},
              encoded);
  const WireHeader header{.payload_size = 1,
                          .type = static_cast<std::uint8_t>(rpc::FrameType::reply),
                          .code = 2,
                          .flags = 1,
                          .call_id = 0x0102030405060708,
                          .method_id = 0x1112131415161718,
                          .time = 3,
                          .extension_size = 1};
  EXPECT_EQ(std::memcmp(&header, encoded.data(), sizeof header), 0);
}

}  // namespace
}  // namespace corolane::bench
