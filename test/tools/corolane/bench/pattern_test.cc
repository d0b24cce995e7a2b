// SPDX-License-Identifier: MIT
// Texts that differ from call to call.
#include "tools/corolane/bench/pattern.h"

#include <gtest/gtest.h>

#include "coroutine/testing/matchers.h"

namespace corolane::tools::cli::bench {
namespace {

std::string of(const std::string& text, std::uint64_t number) {
  const auto pattern = Pattern::parse(text);
  return pattern ? pattern->of(number) : pattern.error().message();
}

TEST(PatternTest, NumbersReplaceTheBraces) {
  EXPECT_EQ(of(R"({"id": "p{i}", "room": {i%10}})", 123), R"({"id": "p123", "room": 3})");
  EXPECT_EQ(of("{i}{i}", 7), "77");
}

TEST(PatternTest, OtherBracesAreKept) {
  EXPECT_EQ(of(R"({"a": {}})", 1), R"({"a": {}})");
  EXPECT_TRUE(Pattern::parse("{}")->is_same_for_all());
  EXPECT_FALSE(Pattern::parse("{i}")->is_same_for_all());
}

TEST(PatternTest, APlaceWithoutANumberIsRefused) {
  for (const char* text : {"{i", "{i%}", "{i%0}", "{ix}", "{i%3x}"}) {
    EXPECT_THAT(Pattern::parse(text), test::fails_with(Code::invalid_argument)) << text;
  }
}

TEST(ParseRateTest, ARateIsANumberPerSecond) {
  EXPECT_EQ(*parse_rate("1000/s"), 1'000);
  EXPECT_EQ(*parse_rate("0.5"), 0.5);
  for (const char* text : {"", "/s", "0", "-1", "1e9", "nan", "10/min", "1000/s/s"}) {
    EXPECT_THAT(parse_rate(text), test::fails_with(Code::invalid_argument)) << text;
  }
}

}  // namespace
}  // namespace corolane::tools::cli::bench
