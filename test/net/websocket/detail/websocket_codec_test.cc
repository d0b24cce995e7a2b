// SPDX-License-Identifier: MIT
// Frames of RFC 6455 as bytes, whole and in pieces, and every violation of their rules.
#include "net/websocket/detail/websocket_codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "coroutine/testing/random.h"
#include "net/stream.h"
#include "test/net/websocket/websocket_frames.h"

namespace corolane::net::detail {
namespace {

using testing::ElementsAre;

constexpr WebSocketDecoder::Limits limits{.message_bytes_max = 100'000, .fragment_count_max = 10};

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Decodes the bytes in pieces of that size: "1:hello" is a text, "!1002" a violation.
std::vector<std::string> decode(std::string_view bytes, std::size_t piece_size,
                                bool expects_mask = false) {
  WebSocketDecoder decoder(expects_mask, limits);
  std::vector<std::string> events;
  for (std::string_view rest = bytes; !rest.empty();) {
    const std::string piece(rest.substr(0, piece_size));
    rest.remove_prefix(piece.size());
    decoder.feed(bytes_of(piece));
    for (WebSocketEvent event;;) {
      const auto whole = decoder.next(event);
      if (!whole) {
        events.push_back("!" + std::to_string(whole.error().code));
        return events;
      }
      if (!*whole) break;
      events.push_back(std::to_string(static_cast<int>(event.opcode)) + ":" +
                       text_of(event.payload));
    }
  }
  return events;
}

// The same in one piece and in pieces of every size.
std::vector<std::string> decode_in_pieces(std::string_view bytes, bool expects_mask = false) {
  const auto whole = decode(bytes, bytes.size(), expects_mask);
  for (std::size_t size = 1; size < std::min<std::size_t>(bytes.size(), 300); ++size) {
    EXPECT_EQ(decode(bytes, size, expects_mask), whole) << "in pieces of " << size;
  }
  return whole;
}

TEST(WebSocketCodecTest, DecodesMessages) {
  EXPECT_THAT(decode_in_pieces(bare_frame(0x81, "hello") + bare_frame(0x82, "") +
                               bare_frame(0x82, "binary")),
              ElementsAre("1:hello", "2:", "2:binary"));
}

TEST(WebSocketCodecTest, TheExamplesOfTheStandardAreRead) {
  // RFC 6455, section 5.7.
  EXPECT_THAT(decode_in_pieces("\x81\x05Hello"), ElementsAre("1:Hello"));
  EXPECT_THAT(
      decode_in_pieces(std::string("\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58", 11), true),
      ElementsAre("1:Hello"));
  EXPECT_THAT(decode_in_pieces(std::string("\x01\x03Hel\x80\x02lo", 9)), ElementsAre("1:Hello"));
}

TEST(WebSocketCodecTest, MaskedFramesOfEveryLengthAreUnmasked) {
  for (const std::size_t size :
       {0u, 1u, 7u, 8u, 9u, 125u, 126u, 127u, 1000u, 65'535u, 65'536u, 99'999u}) {
    std::string payload(size, '\0');
    for (std::size_t at = 0; at < size; ++at) payload[at] = static_cast<char>('a' + at % 26);
    const std::string frame = masked_frame(0x82, payload);
    EXPECT_THAT(decode(frame, frame.size(), true), ElementsAre("2:" + payload)) << size;
    EXPECT_THAT(decode(frame, 1'001, true), ElementsAre("2:" + payload)) << size;
  }
}

TEST(WebSocketCodecTest, FragmentsFormOneMessageAndControlFramesMayComeBetween) {
  EXPECT_THAT(
      decode_in_pieces(bare_frame(0x01, "one ") + bare_frame(0x89, "ping") + bare_frame(0x00, "") +
                       bare_frame(0x8a, "") + bare_frame(0x80, "two") + bare_frame(0x82, "next")),
      ElementsAre("9:ping", "10:", "1:one two", "2:next"));
}

TEST(WebSocketCodecTest, EveryBrokenRuleOfFramingIsAProtocolError) {
  for (const std::string& bytes : {
           bare_frame(0xc1, ""),                         // A reserved bit,
           bare_frame(0x83, ""),                         // an unknown opcode,
           bare_frame(0x8b, ""),                         // another one,
           masked_frame(0x81, "x"),                      // a mask that a server must not use,
           bare_frame(0x80, ""),                         // a continuation of nothing,
           bare_frame(0x01, "") + bare_frame(0x81, ""),  // a message within a message,
           bare_frame(0x09, ""),                         // a control frame in fragments,
           bare_frame(0x89, std::string(126, 'x')),      // or a long one,
           std::string("\x82\x7e\x00\x7d", 4),           // lengths that could be shorter,
           std::string("\x82\x7f\0\0\0\0\0\0\xff\xff", 10),
           std::string("\x82\x7f\x80\0\0\0\0\0\0\0", 10),  // or that are negative.
       }) {
    EXPECT_THAT(decode_in_pieces(bytes), ElementsAre("!1002")) << testing::PrintToString(bytes);
  }
  EXPECT_THAT(decode_in_pieces(bare_frame(0x81, "x"), true), ElementsAre("!1002"));
}

TEST(WebSocketCodecTest, MessagesAboveTheLimitsAreRefused) {
  // The header alone decides: no payload is kept.
  EXPECT_THAT(decode(std::string("\x82\x7f\0\0\0\0\0\x01\x86\xa1", 10), 100), ElementsAre("!1009"));
  EXPECT_THAT(decode(bare_frame(0x02, std::string(60'000, 'x')) +
                         bare_frame(0x80, std::string(40'001, 'x')),
                     1'000),
              ElementsAre("!1009"));
  std::string fragments = bare_frame(0x02, "");
  for (int count = 0; count < 10; ++count) fragments += bare_frame(0x00, "");
  EXPECT_THAT(decode_in_pieces(fragments), ElementsAre("!1009"));
}

TEST(WebSocketCodecTest, ATextIsUtf8) {
  EXPECT_THAT(decode_in_pieces(bare_frame(0x81, "K\u00f6nig \u2654 \U0001f3f0")),
              ElementsAre("1:K\u00f6nig \u2654 \U0001f3f0"));
  // A fragment may end inside a character.
  EXPECT_THAT(decode_in_pieces(bare_frame(0x01, "\xe2\x99") + bare_frame(0x80, "\x94")),
              ElementsAre("1:\u2654"));
  for (const char* const wrong :
       {"\xff", "\x80", "\xc0\xaf", "\xe0\x80\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80",
        "\xf0\x80\x80\xaf", "\xe2\x99", "\xc3(", "12345678\xfe", "\xf5\x80\x80\x80", "\xe2(\xa1"}) {
    EXPECT_THAT(decode_in_pieces(bare_frame(0x81, wrong)), ElementsAre("!1007")) << wrong;
    EXPECT_EQ(decode(bare_frame(0x82, wrong), 100).size(), 1u);
  }
}

TEST(WebSocketCodecTest, EncodedFramesAreDecoded) {
  test::Random random;
  for (int round = 0; round < 200; ++round) {
    const std::size_t size = round % 3 == 0 ? random.below(70'000) : random.below(200);
    std::string payload(size, 'x');
    for (char& byte : payload) byte = static_cast<char>(random.below(256));
    WebSocketMask mask;
    for (std::byte& byte : mask) byte = static_cast<std::byte>(random.below(256));
    std::array<std::byte, websocket_header_bytes_max> header;
    const std::size_t header_size =
        encode_websocket_header(WebSocketOpcode::binary, size, &mask, header);
    std::string frame = text_of(std::span(header).first(header_size)) + std::string(size, '\0');
    apply_websocket_mask(bytes_of(payload), mask, 0,
                         reinterpret_cast<std::byte*>(frame.data()) + header_size);
    EXPECT_THAT(decode(frame, 1 + random.below(frame.size()), true), ElementsAre("2:" + payload));
  }
}

TEST(WebSocketCodecTest, CloseFramesCarryACodeAndAReason) {
  const auto read = [](std::string_view payload) {
    const auto said = read_websocket_close(bytes_of(payload));
    return said ? std::to_string(said->code) + said->reason
                : "!" + std::to_string(said.error().code);
  };
  EXPECT_EQ(read(""), "1005");
  EXPECT_EQ(read("\x03\xe8"), "1000");
  EXPECT_EQ(read("\x03\xe9 going away"), "1001 going away");
  EXPECT_EQ(read("\x0f\xa0"), "4000");
  EXPECT_EQ(read("\x03"), "!1002");
  EXPECT_EQ(read("\x03\xed"), "!1002");  // 1005 is never sent,
  EXPECT_EQ(read("\x03\xee"), "!1002");  // nor is 1006,
  EXPECT_EQ(read("\x03\xe7"), "!1002");  // nor is 999.
  EXPECT_EQ(read("\x13\x88"), "!1002");
  EXPECT_EQ(read("\x03\xe8\xff"), "!1007");
}

}  // namespace
}  // namespace corolane::net::detail
