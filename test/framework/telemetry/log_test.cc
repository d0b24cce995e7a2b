// SPDX-License-Identifier: MIT
#include "framework/telemetry/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace corolane::framework {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::MatchesRegex;

class LogTest : public testing::Test {
 protected:
  Log make(LogLevel level) {
    return Log(level, [this](std::string_view line) { lines_.emplace_back(line); });
  }

  // The rest of the only line, after time and level.
  std::string text() const {
    constexpr std::size_t text_begin = std::string_view("2026-02-01T12:00:00.123Z info    ").size();
    return lines_.size() == 1 ? lines_.front().substr(text_begin) : "not one line";
  }

  std::vector<std::string> lines_;
};

TEST_F(LogTest, ALineHasTimeInUtcLevelAndMessage) {
  make(LogLevel::info).info("listening");
  EXPECT_THAT(lines_, ElementsAre(MatchesRegex(
                          R"(20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z )"
                          "info    listening")));
}

TEST_F(LogTest, MessagesOfAllLevelsLineUp) {
  Log log = make(LogLevel::debug);
  log.debug("one");
  log.info("one");
  log.warning("one");
  log.error("one");
  EXPECT_THAT(lines_, ElementsAre(MatchesRegex(".* debug   one"), MatchesRegex(".* info    one"),
                                  MatchesRegex(".* warning one"), MatchesRegex(".* error   one")));
}

TEST_F(LogTest, WritesNothingBelowItsLevel) {
  Log log = make(LogLevel::warning);
  log.debug("one");
  log.info("two");
  EXPECT_THAT(lines_, IsEmpty());
  log.error("three");
  EXPECT_EQ(lines_.size(), 1);
}

TEST_F(LogTest, FieldsFollowTheMessageInOrder) {
  make(LogLevel::info).info("closed", {{"peer", "127.0.0.1:80"}, {"calls", 17}, {"share", 0.5}});
  EXPECT_EQ(text(), "closed peer=127.0.0.1:80 calls=17 share=0.5");
}

TEST_F(LogTest, IntegersKeepTheirWholeRange) {
  make(LogLevel::info)
      .info("range", {{"low", std::numeric_limits<std::int64_t>::min()},
                      {"high", std::numeric_limits<std::uint64_t>::max()}});
  EXPECT_EQ(text(), "range low=-9223372036854775808 high=18446744073709551615");
}

TEST_F(LogTest, DurationsHaveTheUnitThatReadsBest) {
  make(LogLevel::info)
      .info("took", {{"a", 5s},
                     {"b", 12'345'678ns},
                     {"c", 1500us},
                     {"d", 7ns},
                     {"e", 0s},
                     {"f", -250ms},
                     {"g", 3725s},
                     {"h", 100s}});
  EXPECT_EQ(text(), "took a=5s b=12.346ms c=1.5ms d=7ns e=0s f=-250ms g=3725s h=100s");
}

TEST_F(LogTest, ValuesThatCouldBeMisreadAreQuoted) {
  make(LogLevel::info)
      .info("odd", {{"empty", ""},
                    {"space", "a b"},
                    {"quote", "a\"b"},
                    {"sign", "a=b"},
                    {"slash", "a\\b"},
                    {"word", "caf\u00e9"}});
  EXPECT_EQ(text(),
            "odd empty=\"\" space=\"a b\" quote=\"a\\\"b\" sign=\"a=b\" "
            "slash=\"a\\\\b\" word=caf\u00e9");
}

TEST_F(LogTest, NoTextBreaksALine) {
  make(LogLevel::info).info("two\nlines", {{"value", "x\r\n\x1b[31mred"}});
  EXPECT_EQ(text(), "two\\nlines value=\"x\\x0d\\n\\x1b[31mred\"");
}

TEST_F(LogTest, ALineIsUtf8) {
  make(LogLevel::info).info("cut", {{"value", "caf\xc3"}});
  EXPECT_EQ(text(), "cut value=\"caf\\xc3\"");
}

TEST_F(LogTest, PercentSignsAndBracesAreText) {
  make(LogLevel::info).info("100 % {} %v", {{"format", "{:d}"}});
  EXPECT_EQ(text(), "100 % {} %v format={:d}");
}

TEST(LogToStderrTest, IsTheDefault) {
  testing::internal::CaptureStderr();
  Log log(LogLevel::info);
  log.info("here");
  EXPECT_THAT(testing::internal::GetCapturedStderr(), testing::EndsWith(" info    here\n"));
}

}  // namespace
}  // namespace corolane::framework
