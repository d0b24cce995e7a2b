// SPDX-License-Identifier: MIT
#include "rpc/wire/frame.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "coroutine/testing/random.h"

namespace corolane::rpc {
namespace {

using Bytes = std::vector<std::byte>;

Bytes encoded(const FrameHeader& header, std::string_view message = "") {
  Bytes bytes(frame_header_size);
  FrameHeader sized = header;
  sized.payload_size = static_cast<std::uint32_t>(message.size());
  encode(sized, std::span<std::byte, frame_header_size>(bytes));
  for (const char c : message) bytes.push_back(static_cast<std::byte>(c));
  return bytes;
}

TEST(FrameTest, HeaderHasTheBytesOfTheFormat) {
  const FrameHeader header{.payload_size = 0x04030201,
                           .type = FrameType::reply,
                           .code = 5,
                           .maybe_executed = true,
                           .call_id = 0x1817161514131211,
                           .method_id = 0x2827262524232221,
                           .time = 0x34333231,
                           .extension_size = 0x00000041};
  Bytes bytes(frame_header_size);
  encode(header, std::span<std::byte, frame_header_size>(bytes));
  const std::vector<int> expected = {1,    2,    3,    4,    3,    5,    1,    0,
                                     0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18,
                                     0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28,
                                     0x31, 0x32, 0x33, 0x34, 0x41, 0,    0,    0};
  for (std::size_t index = 0; index < expected.size(); ++index) {
    EXPECT_EQ(static_cast<int>(bytes[index]), expected[index]) << "at offset " << index;
  }
  FrameHeader decoded;
  const auto result = decode(std::span<const std::byte, frame_header_size>(bytes), decoded);
  ASSERT_TRUE(result) << result;
  EXPECT_EQ(decoded, header);
}

TEST(FrameTest, FlagsSayWhetherTheCallWasExecuted) {
  for (const auto& [maybe, never, flags] :
       {std::tuple(false, false, 0), std::tuple(true, false, 1), std::tuple(false, true, 2)}) {
    const FrameHeader header{
        .type = FrameType::reply, .maybe_executed = maybe, .not_executed = never};
    const Bytes bytes = encoded(header);
    EXPECT_EQ(static_cast<int>(bytes[6]), flags);
    FrameHeader decoded;
    EXPECT_TRUE(decode(std::span<const std::byte, frame_header_size>(bytes), decoded));
    EXPECT_EQ(decoded, header);
  }
}

TEST(FrameTest, HelloMagicReadsAsTextOnTheWire) {
  const Bytes bytes = encoded({.type = FrameType::hello, .call_id = hello_magic});
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(bytes.data()) + 8, 8), "COROLANE");
}

TEST(FrameTest, AHelloIsKnownByItsTypeAndMagic) {
  const Bytes hello = encoded({.type = FrameType::hello, .call_id = hello_magic}, "payload");
  for (std::size_t size = 0; size <= hello.size(); ++size) {
    EXPECT_EQ(match_hello(std::span(hello).first(size)),
              size < 16 ? net::Match::maybe : net::Match::yes)
        << size;
  }
  Bytes large = hello;
  large[0] = std::byte{0x16};  // 790 bytes: TLS begins with these two.
  large[1] = std::byte{0x03};
  EXPECT_EQ(match_hello(large), net::Match::yes);
  EXPECT_EQ(net::match_tls(large), net::Match::no);
  Bytes tls = hello;
  const auto begin = std::to_array<std::byte>({std::byte{0x16}, std::byte{0x03}, std::byte{0x04}});
  std::ranges::copy(begin, tls.begin());
  EXPECT_EQ(match_hello(tls), net::Match::no) << "no hello is that large";
  EXPECT_EQ(net::match_tls(tls), net::Match::yes);
  EXPECT_EQ(match_hello(encoded({.type = FrameType::ping, .call_id = hello_magic})),
            net::Match::no);
  EXPECT_EQ(match_hello(encoded({.type = FrameType::hello, .call_id = 1})), net::Match::no);
  for (const std::string_view text : {"GET ", "\x16\x03\x01\x02", "POST", "PRI "}) {
    EXPECT_EQ(match_hello(std::as_bytes(std::span(text))), net::Match::no)
        << "four bytes tell " << text;
  }
}

TEST(FrameTest, AByeIsAFrameWithCodeAndText) {
  const std::string bytes = bye_frame(Error(Code::failed_precondition, "this port speaks TLS"));
  FrameDecoder decoder(1024);
  decoder.feed(std::as_bytes(std::span(bytes)));
  Frame frame;
  ASSERT_TRUE(decoder.next(frame).value_or(false));
  EXPECT_EQ(frame.header.type, FrameType::bye);
  EXPECT_EQ(frame.header.code, static_cast<std::uint8_t>(Code::failed_precondition));
  EXPECT_EQ(text_of(frame), "this port speaks TLS");
}

TEST(FrameTest, MethodIdIsFnv1a) {
  EXPECT_EQ(method_id(""), 0xcbf29ce484222325u);
  EXPECT_EQ(method_id("a"), 0xaf63dc4c8601ec8cu);
  EXPECT_EQ(method_id("foobar"), 0x85944171f73967e8u);
}

TEST(FrameTest, UnknownTypeIsAnError) {
  for (const int type : {0, 17, 127}) {
    Bytes bytes = encoded({.type = FrameType::request});
    bytes[4] = static_cast<std::byte>(type);
    FrameHeader header;
    const auto result = decode(std::span<const std::byte, frame_header_size>(bytes), header);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code(), Code::invalid_argument);
  }
}

TEST(FrameTest, ExtensionLargerThanPayloadIsAnError) {
  const Bytes bytes = encoded({.type = FrameType::request, .extension_size = 4}, "abc");
  FrameHeader header;
  EXPECT_FALSE(decode(std::span<const std::byte, frame_header_size>(bytes.data(), 32), header));
}

TEST(FrameDecoderTest, UnknownExtensionIsSkipped) {
  const Bytes bytes = encoded({.type = FrameType::request, .extension_size = 3}, "extmessage");
  FrameDecoder decoder(1024);
  decoder.feed(bytes);
  Frame frame;
  ASSERT_TRUE(decoder.next(frame).value());
  EXPECT_EQ(text_of(frame), "message");
}

TEST(FrameDecoderTest, UnknownTypeThatMayBeSkippedIsSkippedWhateverItSays) {
  for (const int type : {128, 255}) {
    // Above the limit, and with an extension that means something else there.
    Bytes flow = encoded({.type = static_cast<FrameType>(type), .extension_size = 7'000},
                         std::string(5'000, 'x'));
    const Bytes next = encoded({.type = FrameType::request, .call_id = 5}, "message");
    flow.insert(flow.end(), next.begin(), next.end());
    for (const std::size_t piece : {std::size_t{1}, std::size_t{31}, flow.size()}) {
      FrameDecoder decoder(1024);
      std::vector<std::string> messages;
      for (std::size_t at = 0; at < flow.size(); at += piece) {
        decoder.feed(std::span(flow).subspan(at, std::min(piece, flow.size() - at)));
        for (Frame frame; decoder.next(frame).value();) messages.emplace_back(text_of(frame));
      }
      EXPECT_EQ(messages, std::vector<std::string>{"message"}) << type << " in pieces of " << piece;
    }
  }
}

TEST(FrameDecoderTest, FrameOfACallAboveTheLimitIsToldByItsHeaderAndSkipped) {
  for (const FrameType type : {FrameType::request, FrameType::reply, FrameType::item}) {
    Bytes flow =
        encoded({.type = type, .call_id = 3, .extension_size = 4}, std::string(1'025, 'x'));
    const Bytes next = encoded({.type = FrameType::request, .call_id = 4}, std::string(1'024, 'y'));
    flow.insert(flow.end(), next.begin(), next.end());
    FrameDecoder decoder(1024);
    decoder.feed(std::span(flow).first(frame_header_size));
    Frame frame;
    ASSERT_TRUE(decoder.next(frame).value());
    EXPECT_TRUE(frame.is_too_large);
    EXPECT_EQ(frame.header.call_id, 3u);
    EXPECT_EQ(frame.header.payload_size, 1'025u);
    EXPECT_TRUE(frame.message.empty() && frame.extension.empty());
    EXPECT_FALSE(decoder.next(frame).value());
    EXPECT_TRUE(decoder.has_unfinished());
    decoder.feed(std::span(flow).subspan(frame_header_size));
    ASSERT_TRUE(decoder.next(frame).value());
    EXPECT_FALSE(frame.is_too_large);
    EXPECT_EQ(frame.header.call_id, 4u);
    EXPECT_EQ(frame.message.size(), 1'024u);
    EXPECT_FALSE(decoder.next(frame).value());
    EXPECT_FALSE(decoder.has_unfinished());
  }
}

TEST(FrameDecoderTest, OtherFrameAboveTheLimitIsRefusedByItsHeaderAlone) {
  FrameHeader header{.payload_size = 1u << 31, .type = FrameType::hello};
  Bytes bytes(frame_header_size);
  encode(header, std::span<std::byte, frame_header_size>(bytes));
  FrameDecoder decoder(1024);
  decoder.feed(bytes);
  Frame frame;
  const auto more = decoder.next(frame);
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().code(), Code::resource_exhausted);
}

TEST(FrameDecoderTest, FramesInOnePieceComeOneAfterTheOther) {
  Bytes bytes = encoded({.type = FrameType::request, .call_id = 1}, "first");
  const Bytes second = encoded({.type = FrameType::cancel, .call_id = 2});
  bytes.insert(bytes.end(), second.begin(), second.end());
  FrameDecoder decoder(1024);
  decoder.feed(bytes);
  Frame frame;
  ASSERT_TRUE(decoder.next(frame).value());
  EXPECT_EQ(text_of(frame), "first");
  ASSERT_TRUE(decoder.next(frame).value());
  EXPECT_EQ(frame.header.call_id, 2u);
  EXPECT_FALSE(decoder.next(frame).value());
}

TEST(FrameDecoderTest, AnySplitGivesTheSameFrames) {
  test::Random random;
  for (int round = 0; round < 200; ++round) {
    std::vector<std::string> messages;
    Bytes flow;
    for (int count = static_cast<int>(random.below(8)); count >= 0; --count) {
      messages.emplace_back(random.below(300), static_cast<char>('a' + count));
      if (random.below(4) == 0) {
        const Bytes skipped =
            encoded({.type = FrameType{200}}, std::string(random.below(300), 's'));
        flow.insert(flow.end(), skipped.begin(), skipped.end());
      }
      const Bytes bytes =
          encoded({.type = FrameType::request, .call_id = messages.size()}, messages.back());
      flow.insert(flow.end(), bytes.begin(), bytes.end());
    }
    FrameDecoder decoder(1024);
    std::size_t seen = 0;
    const std::size_t piece_max = 1 + random.below(200);
    for (std::size_t begin = 0; begin < flow.size();) {
      const std::size_t size =
          std::min<std::size_t>(1 + random.below(piece_max), flow.size() - begin);
      decoder.feed(std::span(flow).subspan(begin, size));
      begin += size;
      for (Frame frame; decoder.next(frame).value();) {
        ASSERT_LT(seen, messages.size());
        EXPECT_EQ(text_of(frame), messages[seen]);
        EXPECT_EQ(frame.header.call_id, ++seen);
      }
    }
    EXPECT_EQ(seen, messages.size());
  }
}

}  // namespace
}  // namespace corolane::rpc
