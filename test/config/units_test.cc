// SPDX-License-Identifier: MIT
// Claims about config/units.h.
#include "config/units.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "coroutine/testing/random.h"

namespace corolane::config {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view duration_hint =
    "; expected a duration, such as 250ms or 1.5h (units: ns, us, ms, s, min, h, d)";
constexpr std::string_view bytes_hint =
    "; expected a byte count, such as 64KiB or 1.5MB (units: B, KiB, MiB, GiB, KB, MB, GB)";

void expect_duration(std::string_view text, Duration expected) {
  const auto parsed = parse_duration(text);
  ASSERT_TRUE(parsed) << parsed;
  EXPECT_EQ(*parsed, expected) << text;
}

void expect_bytes(std::string_view text, std::uint64_t expected) {
  const auto parsed = parse_bytes(text);
  ASSERT_TRUE(parsed) << parsed;
  EXPECT_EQ(parsed->count, expected) << text;
}

template <typename T>
void expect_refused(const Result<T>& parsed, std::string_view message) {
  ASSERT_FALSE(parsed) << message;
  EXPECT_EQ(parsed.error().code(), Code::invalid_argument);
  EXPECT_EQ(parsed.error().message(), message);
}

void expect_bad_duration(std::string_view text, const std::string& complaint) {
  expect_refused(parse_duration(text), complaint + std::string(duration_hint));
}

void expect_bad_bytes(std::string_view text, const std::string& complaint) {
  expect_refused(parse_bytes(text), complaint + std::string(bytes_hint));
}

TEST(UnitsTest, EveryDurationUnitIsRead) {
  expect_duration("7ns", 7ns);
  expect_duration("7us", 7us);
  expect_duration("250ms", 250ms);
  expect_duration("10s", 10s);
  expect_duration("5min", 5min);
  expect_duration("24h", 24h);
  expect_duration("2d", 48h);
}

TEST(UnitsTest, EveryByteUnitIsRead) {
  expect_bytes("64B", 64);
  expect_bytes("64KiB", 64 * 1024);
  expect_bytes("3MiB", 3 * 1024 * 1024);
  expect_bytes("2GiB", std::uint64_t{2} << 30);
  expect_bytes("64KB", 64'000);
  expect_bytes("3MB", 3'000'000);
  expect_bytes("2GB", 2'000'000'000);
}

TEST(UnitsTest, ZeroAloneNeedsNoUnit) {
  expect_duration("0", 0ns);
  expect_duration("0ms", 0ns);
  expect_bytes("0", 0);
  expect_bytes("0KiB", 0);
  expect_bad_duration("10", "read \"10\" without a unit");
  expect_bad_duration("0.5", "read \"0.5\" without a unit");
  expect_bad_bytes("65536", "read \"65536\" without a unit");
}

TEST(UnitsTest, FractionsAreExact) {
  expect_duration("1.5s", 1500ms);
  expect_duration("0.000000001s", 1ns);
  expect_duration("1.500s", 1500ms);
  expect_duration("0.1d", 2h + 24min);
  expect_bytes("1.5KiB", 1536);
  // Exactly one byte, to the last digit.
  expect_bytes("0.000000000931322574615478515625GiB", 1);
}

TEST(UnitsTest, FractionsOfTheSmallestUnitAreRefused) {
  expect_bad_duration("0.3ns", "read \"0.3ns\", not a whole number of nanoseconds");
  expect_bad_duration("0.0000000015s", "read \"0.0000000015s\", not a whole number of nanoseconds");
  expect_bad_bytes("0.1KiB", "read \"0.1KiB\", not a whole number of bytes");
  expect_bad_bytes("1.5B", "read \"1.5B\", not a whole number of bytes");
}

TEST(UnitsTest, LargestValuesAreReadAndLargerOnesRefused) {
  expect_duration("9223372036854775807ns", Duration::max());
  expect_duration("9223372036.854775807s", Duration::max());
  expect_bad_duration("9223372036854775808ns",
                      "read \"9223372036854775808ns\", longer than 292 years");
  expect_bad_duration("9223372036.854775808s",
                      "read \"9223372036.854775808s\", longer than 292 years");
  expect_bad_duration("106752d", "read \"106752d\", longer than 292 years");
  expect_bad_duration("99999999999999999999999ns",
                      "read \"99999999999999999999999ns\", longer than 292 years");
  expect_bytes("18446744073709551615B", std::numeric_limits<std::uint64_t>::max());
  expect_bad_bytes("17179869184GiB", "read \"17179869184GiB\", more than 64 bits can count");
  expect_bad_bytes("18446744073709551615.5KB",
                   "read \"18446744073709551615.5KB\", more than 64 bits can count");
}

TEST(UnitsTest, UnknownUnitsAreNamed) {
  expect_bad_duration("10m", "read \"10m\" with an unknown unit \"m\"");
  expect_bad_duration("10 s", "read \"10 s\" with an unknown unit \" s\"");
  expect_bad_duration("1h30min", "read \"1h30min\" with an unknown unit \"h30min\"");
  expect_bad_bytes("64kb", "read \"64kb\" with an unknown unit \"kb\"");
  expect_bad_bytes("64K", "read \"64K\" with an unknown unit \"K\"");
}

TEST(UnitsTest, TextThatIsNotANumberIsRefused) {
  for (const std::string text : {"", "s", "-5s", "+5s", ".5s", "5.s", "fast", "٣s"}) {
    expect_bad_duration(text, "read \"" + text + "\"");
    expect_bad_bytes(text, "read \"" + text + "\"");
  }
}

TEST(UnitsTest, FormatUsesTheLargestExactUnit) {
  EXPECT_EQ(format_duration(0ns), "0s");
  EXPECT_EQ(format_duration(1500ms), "1500ms");
  EXPECT_EQ(format_duration(90s), "90s");
  EXPECT_EQ(format_duration(24h), "1d");
  EXPECT_EQ(format_duration(-5s), "-5s");
  EXPECT_EQ(format_duration(Duration::min()), "-9223372036854775808ns");
  EXPECT_EQ(format_bytes({0}), "0B");
  EXPECT_EQ(format_bytes(64 * kibibyte), "64KiB");
  EXPECT_EQ(format_bytes({1'024'000}), "1000KiB");
  EXPECT_EQ(format_bytes({3'000'000}), "3MB");
  EXPECT_EQ(format_bytes({1'025}), "1025B");
}

TEST(UnitsTest, FormattedAmountsAreReadBack) {
  test::Random random;
  for (int round = 0; round < 20'000; ++round) {
    // Covers all magnitudes; half are multiples of a power of ten or two.
    std::uint64_t number =
        random.below(std::numeric_limits<std::uint64_t>::max()) >> random.below(64);
    for (auto factors = random.below(16); factors > 0; --factors)
      number *= random.one_in(2) ? 10 : 2;
    const Duration duration(static_cast<Duration::rep>(number >> 1));
    expect_duration(format_duration(duration), duration);
    expect_bytes(format_bytes({number}), number);
  }
}

TEST(UnitsTest, ReadingSurvivesAnyText) {
  test::Random random;
  constexpr std::string_view alphabet = "0123456789..smhdunKMGiB -+e";
  for (int round = 0; round < 20'000; ++round) {
    std::string text;
    for (auto length = random.below(12); length > 0; --length) {
      text += alphabet[random.below(alphabet.size())];
    }
    if (const auto duration = parse_duration(text)) {
      EXPECT_GE(*duration, 0ns) << text;
      expect_duration(format_duration(*duration), *duration);
    }
    if (const auto bytes = parse_bytes(text)) expect_bytes(format_bytes(*bytes), bytes->count);
  }
}

TEST(UnitsDeathTest, MultiplyingBytesBeyondTheirRangeIsABug) {
  static_assert(64 * kibibyte == Bytes{65'536});
  EXPECT_DEATH(static_cast<void>((std::uint64_t{1} << 40) * gibibyte), "fits 64 bits");
}

}  // namespace
}  // namespace corolane::config
