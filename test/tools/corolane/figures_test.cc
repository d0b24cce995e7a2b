// SPDX-License-Identifier: MIT
// Short figures.
#include "tools/corolane/figures.h"

#include <gtest/gtest.h>

namespace corolane::tools::cli {
namespace {

TEST(FiguresTest, CountsHaveThreeDigits) {
  EXPECT_EQ(count_text(0), "0");
  EXPECT_EQ(count_text(999), "999");
  EXPECT_EQ(count_text(1'230), "1.23k");
  EXPECT_EQ(count_text(17'542), "17.5k");
  EXPECT_EQ(count_text(1'200'000), "1.20M");
  EXPECT_EQ(count_text(0.5), "0.50");
}

TEST(FiguresTest, AValueThatWouldBeRoundedToAThousandUsesTheNextUnit) {
  EXPECT_EQ(count_text(999'499), "999k");
  EXPECT_EQ(count_text(999'700), "1.00M");
  EXPECT_EQ(time_text(999'700), "1.00 ms");
}

TEST(FiguresTest, UnitsFollowTheSize) {
  EXPECT_EQ(bytes_text(512), "512 B");
  EXPECT_EQ(bytes_text(24.0 * 1024 * 1024), "24.0 MiB");
  EXPECT_EQ(time_text(23), "23 ns");
  EXPECT_EQ(time_text(8'900'000), "8.90 ms");
  EXPECT_EQ(time_text(12e9), "12.0 s");
}

TEST(FiguresTest, AnAgeHasItsTwoLargestUnits) {
  EXPECT_EQ(age_text(1.25), "1.2s");
  EXPECT_EQ(age_text(65), "1m 05s");
  EXPECT_EQ(age_text(7'260), "2h 01m");
  EXPECT_EQ(age_text(86'400.0 * 3 + 7'200), "3d 02h");
}

TEST(FiguresTest, AShareIsAPercentage) {
  EXPECT_EQ(percent_text(0), "0.0 %");
  EXPECT_EQ(percent_text(0.4321), "43.2 %");
  EXPECT_EQ(percent_text(1), "100.0 %");
}

}  // namespace
}  // namespace corolane::tools::cli
