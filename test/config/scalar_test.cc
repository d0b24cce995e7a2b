// SPDX-License-Identifier: MIT
// Claims about config/detail/scalar.h.
#include "config/detail/scalar.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

#include "test/config/sample_config.h"

namespace corolane::config::detail {
namespace {

using namespace std::chrono_literals;

template <typename T>
void expect_read(std::string_view text, const T& expected) {
  const auto parsed = ScalarTraits<T>::parse(text);
  ASSERT_TRUE(parsed) << parsed;
  EXPECT_EQ(*parsed, expected);
}

template <typename T>
void expect_refused(std::string_view text, std::string_view message) {
  const auto parsed = ScalarTraits<T>::parse(text);
  ASSERT_FALSE(parsed) << text;
  EXPECT_EQ(parsed.error().message(), message);
}

TEST(ScalarTest, IntegersAreReadInTheFullRangeOfTheirType) {
  expect_read<std::uint8_t>("255", 255);
  expect_read<std::int8_t>("-128", -128);
  expect_read<std::uint64_t>("18446744073709551615", std::numeric_limits<std::uint64_t>::max());
  expect_read<std::int64_t>("-9223372036854775808", std::numeric_limits<std::int64_t>::min());
  expect_refused<std::uint8_t>("256",
                               "read \"256\"; expected a whole number from 0 to 255, such as 42");
  expect_refused<std::int8_t>(
      "-129", "read \"-129\"; expected a whole number from -128 to 127, such as 42");
  expect_refused<std::uint16_t>("-1",
                                "read \"-1\"; expected a whole number from 0 to 65535, such as 42");
}

TEST(ScalarTest, IntegersAreDecimalDigitsOnly) {
  for (const std::string text : {"", " 5", "5 ", "+5", "0x10", "1e3", "5.0", "10'000", "five"}) {
    expect_refused<int>(text, "read \"" + text +
                                  "\"; expected a whole number from -2147483648 to "
                                  "2147483647, such as 42");
  }
}

TEST(ScalarTest, BoolsAreTrueOrFalse) {
  expect_read("true", true);
  expect_read("false", false);
  for (const std::string text : {"", "True", "yes", "on", "1"}) {
    expect_refused<bool>(text, "read \"" + text + "\"; expected true or false");
  }
}

TEST(ScalarTest, DoublesAreFinite) {
  expect_read("0.5", 0.5);
  expect_read("-1e3", -1000.0);
  expect_read("3", 3.0);
  for (const std::string text : {"", "nan", "inf", "-inf", "1e999", "1,5", "0.5x"}) {
    expect_refused<double>(text, "read \"" + text + "\"; expected a number, such as 0.5");
  }
}

TEST(ScalarTest, CoarseDurationsTakeWholeUnits) {
  expect_read("90s", std::chrono::seconds(90));
  expect_read("120s", std::chrono::minutes(2));
  expect_refused<std::chrono::seconds>("250ms", "read \"250ms\"; expected a multiple of 1s");
  expect_refused<std::chrono::hours>("90min", "read \"90min\"; expected a multiple of 1h");
}

TEST(ScalarTest, ChoicesAreReadByName) {
  using sample::LogLevel;
  expect_read("error", LogLevel::error);
  expect_refused<LogLevel>(
      "eror", "read \"eror\"; expected one of debug, info, error; did you mean \"error\"?");
  expect_refused<LogLevel>("7", "read \"7\"; expected one of debug, info, error");
}

TEST(ScalarTest, FormattedScalarsAreReadBack) {
  const auto round_trip = [](auto value) {
    using Traits = ScalarTraits<decltype(value)>;
    const auto parsed = Traits::parse(Traits::format(value));
    ASSERT_TRUE(parsed) << parsed;
    EXPECT_EQ(*parsed, value);
  };
  round_trip(true);
  round_trip(0.1);
  round_trip(-1.7976931348623157e308);
  round_trip(std::numeric_limits<std::int64_t>::min());
  round_trip(std::chrono::hours(36));
  round_trip(1536 * kibibyte);
}

TEST(ScalarTest, TextAndNamesArePrintedInQuotes) {
  EXPECT_EQ(ScalarTraits<std::string>::format("null"), "\"null\"");
  EXPECT_EQ(ScalarTraits<sample::LogLevel>::format(sample::LogLevel::debug), "\"debug\"");
}

TEST(ScalarDeathTest, PrintingAValueThatCannotBeReadBackIsABug) {
  EXPECT_DEATH(ScalarTraits<std::chrono::hours>::format(std::chrono::hours::max()), "292 years");
  EXPECT_DEATH(ScalarTraits<sample::LogLevel>::format(static_cast<sample::LogLevel>(7)),
               "one of the choices");
}

}  // namespace
}  // namespace corolane::config::detail
