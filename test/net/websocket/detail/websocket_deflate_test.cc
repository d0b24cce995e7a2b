// SPDX-License-Identifier: MIT
// permessage-deflate as bytes: payloads and frames, whole and in pieces, bombs, and every
// violation.
#include "net/websocket/detail/websocket_deflate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "coroutine/base/text.h"
#include "coroutine/testing/random.h"
#include "net/stream.h"
#include "net/websocket/detail/websocket_codec.h"
#include "test/fixtures/allocated_bytes.h"
#include "test/net/websocket/websocket_frames.h"

namespace corolane::net::detail {
namespace {

using testing::ElementsAre;

// RFC 7692, section 7.2.3.1: "Hello" in one block.
const std::string hello("\xf2\x48\xcd\xc9\xc9\x07\x00", 7);

std::string deflated(std::string_view text, int window_bits = 15) {
  const auto small = deflate_websocket_payload({.window_bits = window_bits}, bytes_of(text));
  return small ? std::string(text_of(*small)) : "not smaller";
}

std::string varied_text(std::size_t size) {
  std::string text;
  for (std::size_t at = 0; text.size() < size; ++at) text += std::to_string(at * at) + ' ';
  return text.substr(0, size);
}

// Decodes the bytes in pieces of that size: "1:hello" is a text, "!1002" a violation.
std::vector<std::string> events_of(std::string_view bytes, std::size_t piece_size,
                                   std::size_t bytes_max, bool expects_mask = false) {
  WebSocketDecoder decoder(expects_mask, {.message_bytes_max = bytes_max, .fragment_count_max = 10},
                           /*inflates=*/true);
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
                       std::string(text_of(event.payload)));
    }
  }
  return events;
}

// The same in one piece and in pieces of every size.
std::vector<std::string> inflate_in_pieces(std::string_view bytes, bool expects_mask = false) {
  const auto whole = events_of(bytes, bytes.size(), 100'000, expects_mask);
  for (std::size_t size = 1; size < std::min<std::size_t>(bytes.size(), 300); ++size) {
    EXPECT_EQ(events_of(bytes, size, 100'000, expects_mask), whole) << "in pieces of " << size;
  }
  return whole;
}

TEST(WebSocketDeflateCodecTest, TheExamplesOfTheStandardAreRead) {
  // RFC 7692, section 7.2.3: one block, two fragments, no compression, a final block, two blocks.
  EXPECT_THAT(inflate_in_pieces(bare_frame(0xc1, hello)), ElementsAre("1:Hello"));
  EXPECT_THAT(
      inflate_in_pieces(bare_frame(0x41, hello.substr(0, 3)) + bare_frame(0x80, hello.substr(3))),
      ElementsAre("1:Hello"));
  EXPECT_THAT(inflate_in_pieces(bare_frame(
                  0xc1, std::string("\x00\x05\x00\xfa\xff\x48\x65\x6c\x6c\x6f\x00", 11))),
              ElementsAre("1:Hello"));
  EXPECT_THAT(
      inflate_in_pieces(bare_frame(0xc1, std::string("\xf3\x48\xcd\xc9\xc9\x07\x00\x00", 8))),
      ElementsAre("1:Hello"));
  EXPECT_THAT(inflate_in_pieces(bare_frame(
                  0xc1, std::string("\xf2\x48\x05\x00\x00\x00\xff\xff\xca\xc9\xc9\x07\x00", 13))),
              ElementsAre("1:Hello"));
  EXPECT_THAT(inflate_in_pieces(bare_frame(0xc2, std::string(1, '\0'))), ElementsAre("2:"));
}

TEST(WebSocketDeflateCodecTest, ABlockThatIsMarkedAsTheLastMayBeFollowedByOthersOrByNothing) {
  const std::string last("\xf3\x48\xcd\xc9\xc9\x07\x00", 7);
  EXPECT_THAT(inflate_in_pieces(bare_frame(0xc1, last)), ElementsAre("1:Hello"));
  EXPECT_THAT(inflate_in_pieces(bare_frame(0xc1, last + last)), ElementsAre("1:HelloHello"));
  EXPECT_THAT(inflate_in_pieces(bare_frame(0xc1, last + hello)), ElementsAre("1:HelloHello"));
}

TEST(WebSocketDeflateCodecTest, MessagesAreIndependentAndMayBeSentAsTheyAre) {
  const std::string text = varied_text(3'000);
  const std::string small = deflated(text);
  EXPECT_LT(small.size(), text.size());
  EXPECT_THAT(inflate_in_pieces(masked_frame(0xc2, small) + masked_frame(0x81, "plain") +
                                    masked_frame(0x01, "pla") + masked_frame(0x89, "") +
                                    masked_frame(0x80, "in") + masked_frame(0xc2, small),
                                true),
              ElementsAre("2:" + text, "1:plain", "9:", "1:plain", "2:" + text));
}

TEST(WebSocketDeflateCodecTest, FragmentsOfTwoConnectionsDoNotMix) {
  const std::string one = varied_text(5'000);
  const std::string two = std::string(70'000, 'x') + one;
  WebSocketEvent event;
  std::vector<std::pair<std::unique_ptr<WebSocketDecoder>, std::string>> peers;
  for (const std::string& text : {one, two}) {
    const std::string small = deflated(text);
    peers.emplace_back(
        std::make_unique<WebSocketDecoder>(
            false, WebSocketDecoder::Limits{.message_bytes_max = 100'000, .fragment_count_max = 10},
            true),
        bare_frame(0x42, small.substr(0, small.size() / 2)) +
            bare_frame(0x80, small.substr(small.size() / 2)));
  }
  std::vector<std::string> received;
  for (std::size_t at = 0; at < peers[1].second.size(); ++at) {
    for (auto& [decoder, frames] : peers) {
      if (at >= frames.size()) continue;
      decoder->feed(bytes_of(std::string_view(frames).substr(at, 1)));
      const auto whole = decoder->next(event);
      ASSERT_TRUE(whole);
      if (*whole) received.emplace_back(text_of(event.payload));
    }
  }
  std::ranges::sort(received, {}, &std::string::size);
  EXPECT_EQ(received, (std::vector<std::string>{one, two}));
}

TEST(WebSocketDeflateCodecTest, EveryWindowAndSizeIsReadBack) {
  test::Random random;
  for (int window_bits = 9; window_bits <= 15; ++window_bits) {
    for (const std::size_t size : {100u, 500u, 70'000u}) {
      const std::string text = varied_text(size);
      const std::string frame = masked_frame(0xc2, deflated(text, window_bits));
      EXPECT_LT(frame.size(), text.size());
      EXPECT_THAT(events_of(frame, 1 + random.below(frame.size()), size, true),
                  ElementsAre("2:" + text));
    }
  }
}

TEST(WebSocketDeflateCodecTest, APayloadThatWouldNotBecomeSmallerIsLeftAsItIs) {
  test::Random random;
  std::string noise(5'000, 'x');
  for (char& byte : noise) byte = static_cast<char>(random.below(256));
  EXPECT_EQ(deflated(noise), "not smaller");
  EXPECT_EQ(deflated(""), "not smaller");
  EXPECT_EQ(deflated("x"), "not smaller");
  EXPECT_LT(deflated(std::string(100, 'x')).size(), 10u);
}

TEST(WebSocketDeflateCodecTest, TheBitOfDeflateBelongsToTheFirstFrameOfADataMessage) {
  for (const std::string& bytes : {
           bare_frame(0xc9, ""),                                 // A control frame,
           bare_frame(0xc8, ""),                                 // another one,
           bare_frame(0x41, hello) + bare_frame(0xc0, ""),       // a continuation,
           bare_frame(0x01, "plain") + bare_frame(0xc0, hello),  // of a message as it is;
           bare_frame(0xa1, ""),                                 // and no other bit is defined,
           bare_frame(0xd1, ""),
           bare_frame(0xf1, hello),
           bare_frame(0xc3, ""),
       }) {
    EXPECT_THAT(inflate_in_pieces(bytes), ElementsAre("!1002")) << testing::PrintToString(bytes);
  }
}

TEST(WebSocketDeflateCodecTest, DataThatDoesNotInflateIsRefused) {
  const std::string small = deflated(varied_text(1'000));
  for (const std::string& payload : {
           std::string(),
           std::string("\xff\xff\xff"),                   // A type of blocks that does not exist,
           small.substr(0, small.size() / 2),             // data that is cut off,
           hello.substr(0, 5),                            // or nearly whole,
           std::string("\xf2\x48\x05\x82", 4),            // a reference to before the message,
           std::string("\x00\x05\x00\x00\x00Hello", 10),  // a size that is not repeated.
       }) {
    EXPECT_THAT(inflate_in_pieces(bare_frame(0xc2, payload)), ElementsAre("!1007"))
        << testing::PrintToString(payload);
  }
  // After each of them the thread's state works.
  EXPECT_THAT(inflate_in_pieces(bare_frame(0xc1, hello)), ElementsAre("1:Hello"));
}

TEST(WebSocketDeflateCodecTest, ATextIsUtf8OnceItIsInflated) {
  const std::string wrong = deflated(std::string(50, '\xff'));
  EXPECT_THAT(inflate_in_pieces(bare_frame(0xc1, wrong)), ElementsAre("!1007"));
  EXPECT_EQ(inflate_in_pieces(bare_frame(0xc2, wrong)).size(), 1u);
  const std::string king = "K\u00f6nig \u2654 \U0001f3f0 K\u00f6nig \u2654 \U0001f3f0";
  EXPECT_THAT(inflate_in_pieces(bare_frame(0xc1, deflated(king))), ElementsAre("1:" + king));
}

TEST(WebSocketDeflateCodecTest, ABombIsRefusedAndTakesNoMoreMemoryThanTheLimit) {
  constexpr std::size_t limit = 1024 * 1024;
  const std::string bomb = deflated(std::string(64 * limit, 'x'));
  ASSERT_LT(bomb.size(), limit / 2);
  for (const std::size_t piece : {std::size_t{100}, bomb.size()}) {
    auto inflation = WebSocketInflation::lend();
    const std::size_t before = test::allocated_bytes();
    auto outcome = WebSocketInflation::Outcome::good;
    for (std::size_t at = 0; outcome == WebSocketInflation::Outcome::good; at += piece) {
      outcome =
          inflation->put(bytes_of(bomb).subspan(at, std::min(piece, bomb.size() - at)), limit);
    }
    EXPECT_EQ(outcome, WebSocketInflation::Outcome::too_long);
    EXPECT_EQ(inflation->content().size(), limit + 1);
    EXPECT_LE(test::allocated_bytes() - before, limit + 64 * 1024);
  }
  EXPECT_THAT(events_of(bare_frame(0xc2, bomb), bomb.size(), limit), ElementsAre("!1009"));
  EXPECT_THAT(events_of(bare_frame(0x42, bomb), 1'000, limit), ElementsAre("!1009"));
}

TEST(WebSocketDeflateCodecTest, TheLimitIsExact) {
  const std::string small = bare_frame(0xc2, deflated(std::string(5'000, 'x')));
  EXPECT_EQ(events_of(small, small.size(), 5'000).at(0).size(), 5'002u);
  EXPECT_THAT(events_of(small, small.size(), 4'999), ElementsAre("!1009"));
  EXPECT_THAT(events_of(small, 1, 4'999), ElementsAre("!1009"));
}

TEST(WebSocketDeflateCodecTest, EmptyBlocksWithoutEndAreRefused) {
  std::string empty_blocks;
  for (int count = 0; count < 1'000; ++count) empty_blocks += std::string("\0\0\0\xff\xff", 5);
  EXPECT_THAT(events_of(bare_frame(0x42, empty_blocks), 100, 1'000), ElementsAre("!1009"));
  const std::string half = empty_blocks.substr(0, 2'500);
  EXPECT_THAT(events_of(bare_frame(0x42, half) + bare_frame(0x00, half), 100, 1'000),
              ElementsAre("!1009"));
  EXPECT_THAT(
      events_of(bare_frame(0x42, half) + bare_frame(0x80, std::string(1, '\0')), 100, 1'000),
      ElementsAre("2:"));
}

}  // namespace
}  // namespace corolane::net::detail
