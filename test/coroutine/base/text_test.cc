// SPDX-License-Identifier: MIT
#include "coroutine/base/text.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace corolane {
namespace {

// The suggested candidate; empty when none is near.
std::string meant(std::string_view word, const std::vector<std::string>& candidates) {
  const auto index = nearest(word, candidates);
  return index ? candidates.at(*index) : "";
}

TEST(TextTest, QuotedTextStaysOnOneLine) {
  EXPECT_EQ(quote("plain"), "\"plain\"");
  EXPECT_EQ(quote("a \"b\" \\ c"), R"("a \"b\" \\ c")");
  EXPECT_EQ(quote("one\ntwo\tthree\r"), R"("one\ntwo\tthree\x0d")");
  EXPECT_EQ(quote(std::string_view("\0\x1b\x7f", 3)), R"("\x00\x1b\x7f")");
  EXPECT_EQ(quote("Zürich"), "\"Zürich\"");
}

TEST(TextTest, EscapedTextKeepsItsQuotes) {
  EXPECT_EQ(escaped(""), "");
  EXPECT_EQ(escaped("a \"b\" \\ c"), "a \"b\" \\ c");
  EXPECT_EQ(escaped("a\n\x1b[2J"), "a\\n\\x1b[2J");
}

TEST(TextTest, InvalidUtf8IsEscapedByteByByte) {
  EXPECT_EQ(escaped("a\xff z"), "a\\xff z");
  EXPECT_EQ(escaped("cut \xe2\x82"), "cut \\xe2\\x82");
  EXPECT_EQ(escaped("\xc3\"x"), "\\xc3\"x");
  EXPECT_EQ(quote("\xc3"), R"("\xc3")");
  EXPECT_EQ(escaped("aü€😀"), "aü€😀");
}

// For terminals U+009B begins a command, just as ESC and [ do.
TEST(TextTest, ControlCharactersAboveAsciiAreEscaped) {
  EXPECT_EQ(escaped("\u0080\u009b2J\u009f\u00a0"), "\\x80\\x9b2J\\x9f\u00a0");
}

TEST(TextTest, Utf8EndsWhereABadByteIs) {
  EXPECT_EQ(utf8_length(""), 0u);
  EXPECT_EQ(utf8_length("aü€😀"), 10u);
  EXPECT_EQ(utf8_length("ab\xff"), 2u);
  EXPECT_EQ(utf8_length("ab\xc3"), 2u);            // Cut off.
  EXPECT_EQ(utf8_length("\xc0\xaf"), 0u);          // Overlong.
  EXPECT_EQ(utf8_length("\xe0\x80\xaf"), 0u);      // Overlong.
  EXPECT_EQ(utf8_length("\xed\xa0\x80"), 0u);      // Surrogate.
  EXPECT_EQ(utf8_length("\xf4\x90\x80\x80"), 0u);  // Above U+10FFFF.
  EXPECT_EQ(utf8_length("\xf4\x8f\xbf\xbf"), 4u);  // The last one.
  EXPECT_EQ(utf8_length("\xe2\x82"), 0u);          // Cut off.
}

// Eight bytes of ASCII are taken at a time.
TEST(TextTest, ABadByteOrCharacterIsFoundAtEachPlace) {
  for (std::size_t place = 0; place <= 20; ++place) {
    std::string text(20, 'x');
    text.insert(place, "\xfe");
    EXPECT_EQ(utf8_length(text), place);
    EXPECT_FALSE(is_utf8(text));
    text.replace(place, 1, "\u265e");
    EXPECT_TRUE(is_utf8(text));
    EXPECT_EQ(utf8_length(std::string_view(text).substr(0, place + 2)), place);
  }
}

TEST(TextTest, ACutSplitsNoCharacter) {
  EXPECT_EQ(cut_utf8("K\u00f6nig", 10), "K\u00f6nig");
  EXPECT_EQ(cut_utf8("K\u00f6nig", 3), "K\u00f6");
  EXPECT_EQ(cut_utf8("K\u00f6nig", 2), "K");
  EXPECT_EQ(cut_utf8("\U0001f600\U0001f600", 7), "\U0001f600");
  EXPECT_EQ(cut_utf8("\U0001f600", 0), "");
  EXPECT_EQ(cut_utf8("\xff is not UTF-8", 8), "\xff is not");
}

TEST(TextTest, EachByteThatIsNotUtf8IsReplaced) {
  EXPECT_EQ(to_utf8(""), "");
  EXPECT_EQ(to_utf8("K\u00f6nig"), "K\u00f6nig");
  EXPECT_EQ(to_utf8("a\xff"
                    "b\xc3"),
            "a\ufffdb\ufffd");
  EXPECT_EQ(to_utf8("\xe2\x82!", "?"),
            "?"
            "?!");
}

TEST(TextTest, NearestFindsTypos) {
  const std::vector<std::string> keys = {"clock", "rooms_max", "scratch", "rooms_min", "ip"};
  EXPECT_EQ(meant("rooms_mx", keys), "rooms_max");    // A letter left out.
  EXPECT_EQ(meant("rooms_maxx", keys), "rooms_max");  // A letter doubled.
  EXPECT_EQ(meant("colck", keys), "clock");           // Letters swapped.
  EXPECT_EQ(meant("Rooms-Max", keys), "rooms_max");   // Another style.
  EXPECT_EQ(meant("roomsMin", keys), "rooms_min");
  EXPECT_EQ(meant("ipp", keys), "ip");
}

TEST(TextTest, NearestDoesNotGuess) {
  const std::vector<std::string> keys = {"clock", "rooms_max", "ip"};
  EXPECT_EQ(meant("players", keys), "");
  EXPECT_EQ(meant("", keys), "");
  EXPECT_EQ(meant("to", keys), "");
  EXPECT_EQ(meant(std::string(1'000'000, 'r'), keys), "");
  EXPECT_EQ(meant("clock", {}), "");
}

TEST(TextTest, NearestPrefersTheFirstOfEquals) {
  EXPECT_EQ(meant("rooms_mxx", {"rooms_max", "rooms_mix"}), "rooms_max");
}

}  // namespace
}  // namespace corolane
