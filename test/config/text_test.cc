// Claims about config/detail/text.h.
#include "config/detail/text.h"

#include <gtest/gtest.h>

namespace corolane::config::detail {
namespace {

TEST(TextTest, QuotedTextStaysOnOneLine) {
  EXPECT_EQ(quote("plain"), "\"plain\"");
  EXPECT_EQ(quote("a \"b\" \\ c"), R"("a \"b\" \\ c")");
  EXPECT_EQ(quote("one\ntwo\tthree\r"), R"("one\ntwo\tthree\x0d")");
  EXPECT_EQ(quote(std::string_view("\0\x1b\x7f", 3)), R"("\x00\x1b\x7f")");
  EXPECT_EQ(quote("Zürich"), "\"Zürich\"");
}

TEST(TextTest, ExcerptCutsLongTextBetweenCharacters) {
  EXPECT_EQ(excerpt(std::string(60, 'x')), quote(std::string(60, 'x')));
  EXPECT_EQ(excerpt(std::string(61, 'x')), quote(std::string(60, 'x')) + "...");
  EXPECT_EQ(excerpt(std::string(59, 'x') + "üü"), quote(std::string(59, 'x')) + "...");
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

TEST(TextTest, NearestFindsTypos) {
  const std::vector<std::string> keys = {"clock", "rooms_max", "scratch", "rooms_min", "ip"};
  EXPECT_EQ(nearest("rooms_mx", keys), "rooms_max");    // Left out.
  EXPECT_EQ(nearest("rooms_maxx", keys), "rooms_max");  // Doubled.
  EXPECT_EQ(nearest("colck", keys), "clock");           // Swapped.
  EXPECT_EQ(nearest("Rooms-Max", keys), "rooms_max");   // Another style.
  EXPECT_EQ(nearest("roomsMin", keys), "rooms_min");
  EXPECT_EQ(nearest("ipp", keys), "ip");
}

TEST(TextTest, NearestDoesNotGuess) {
  const std::vector<std::string> keys = {"clock", "rooms_max", "ip"};
  EXPECT_EQ(nearest("players", keys), "");
  EXPECT_EQ(nearest("", keys), "");
  EXPECT_EQ(nearest("to", keys), "");
  EXPECT_EQ(nearest(std::string(1'000'000, 'r'), keys), "");
  EXPECT_EQ(nearest("clock", {}), "");
}

TEST(TextTest, NearestPrefersTheFirstOfEquals) {
  EXPECT_EQ(nearest("rooms_mxx", {"rooms_max", "rooms_mix"}), "rooms_max");
}

TEST(TextTest, JoinSeparatesWithCommas) {
  EXPECT_EQ(join({}), "");
  EXPECT_EQ(join({"a"}), "a");
  EXPECT_EQ(join({"a", "b", "c"}), "a, b, c");
}

}  // namespace
}  // namespace corolane::config::detail
