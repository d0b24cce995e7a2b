// SPDX-License-Identifier: MIT
// Claims about config/limits.h.
#include "config/limits.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace corolane::config {
namespace {

using namespace std::chrono_literals;
using detail::check_limits;
using detail::describe_limits;
using detail::is_within;

TEST(LimitsTest, BothEndsAreAllowed) {
  EXPECT_TRUE(is_within(1s, between(1s, 24h)));
  EXPECT_TRUE(is_within(24h, between(1s, 24h)));
  EXPECT_FALSE(is_within(999ms, between(1s, 24h)));
  EXPECT_FALSE(is_within(24h + 1ns, between(1s, 24h)));
  EXPECT_TRUE(is_within(64 * kibibyte, at_most(64 * kibibyte)));
  EXPECT_FALSE(is_within(Bytes{65'537}, at_most(64 * kibibyte)));
  EXPECT_TRUE(is_within(0.0, at_least(0.0)));
  EXPECT_TRUE(is_within(-7, Limits<>{}));
}

TEST(LimitsTest, IntegersCompareByValueWhateverTheirTypes) {
  EXPECT_TRUE(is_within(std::numeric_limits<std::uint64_t>::max(), at_least(-1)));
  EXPECT_FALSE(is_within(-1, at_least(0u)));
  EXPECT_FALSE(is_within(std::uint8_t{255}, at_most(100)));
}

TEST(LimitsTest, WhereCallsAFunctionAndReturnsItsError) {
  const auto even = where([](int value) -> Result<void> {
    if (value % 2 == 0) return {};
    return Error(Code::invalid_argument, "an odd number");
  });
  EXPECT_TRUE(check_limits("2", 2, even));
  const auto odd = check_limits("3", 3, even);
  ASSERT_FALSE(odd);
  EXPECT_EQ(odd.error().message(), "an odd number");
  EXPECT_EQ(describe_limits(even), "");
}

TEST(LimitsTest, LimitsAreDescribedWithTheirUnits) {
  EXPECT_EQ(describe_limits(at_least(1)), "at least 1");
  EXPECT_EQ(describe_limits(at_most(64 * kibibyte)), "at most 64KiB");
  EXPECT_EQ(describe_limits(between(250ms, 24h)), "between 250ms and 1d");
  EXPECT_EQ(describe_limits(Limits<>{}), "");
}

}  // namespace
}  // namespace corolane::config
