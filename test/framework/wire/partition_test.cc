// SPDX-License-Identifier: MIT
#include "framework/wire/partition.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>

namespace corolane::framework {
namespace {

// A change of these values would send calls to the wrong owners.
TEST(PartitionTest, IsTheSameForEver) {
  EXPECT_EQ(partition_of("corolane.test.Counter", "a"), 701);
  EXPECT_EQ(partition_of("corolane.test.Counter", "b"), 132);
  EXPECT_EQ(partition_of("game.Player", "4711"), 177);
  EXPECT_EQ(partition_of("game.Player", ""), 209);
}

TEST(PartitionTest, TypeAndIdDoNotRunTogether) {
  EXPECT_NE(partition_of("ab", "c"), partition_of("a", "bc"));
}

TEST(PartitionTest, SpreadsConsecutiveIds) {
  std::array<int, partition_count> counts{};
  for (int i = 0; i < 100 * static_cast<int>(partition_count); ++i) {
    ++counts[partition_of("game.Player", std::to_string(i))];
  }
  // With mean 100 and deviation 10, a random spread stays within five deviations.
  EXPECT_GT(std::ranges::min(counts), 50);
  EXPECT_LT(std::ranges::max(counts), 150);
}

}  // namespace
}  // namespace corolane::framework
