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

// The same in a cluster of more partitions.
TEST(PartitionTest, IsTheSameForEverInALargeCluster) {
  EXPECT_EQ(partition_of("corolane.test.Counter", "a", 16'384), 14'013);
  EXPECT_EQ(partition_of("game.Player", "4711", 16'384), 177);
  EXPECT_EQ(partition_of("game.Player", "4711", 2'048), 177);
  EXPECT_EQ(PartitionHash::of_affinity("player", 1'024)("ann"), 158);
  EXPECT_EQ(PartitionHash::of_affinity("player", 16'384)("ann"), 5'278);
}

TEST(PartitionTest, TheNumberOfPartitionsIsAPowerOfTwo) {
  for (const std::uint64_t count : {1'024, 2'048, 16'384}) EXPECT_TRUE(is_partition_count(count));
  for (const std::uint64_t count : {0, 1, 512, 1'025, 3'072, 32'768}) {
    EXPECT_FALSE(is_partition_count(count)) << count;
  }
}

TEST(PartitionTest, IdsOfAnAffinityCountUpToTheFirstSlash) {
  const auto hash = PartitionHash::of_affinity("player", 16'384);
  EXPECT_EQ(hash("ann/sword"), hash("ann"));
  EXPECT_EQ(hash("ann/bag/3"), hash("ann"));
  EXPECT_EQ(hash("/"), hash(""));
  EXPECT_NE(hash("bob"), hash("ann"));
  EXPECT_NE(PartitionHash::of_affinity("pet", 16'384)("ann"), hash("ann"));
  EXPECT_NE(PartitionHash("player", 16'384)("ann"), hash("ann")) << "a type of that name";
}

TEST(PartitionTest, TypeAndIdDoNotRunTogether) {
  EXPECT_NE(partition_of("ab", "c"), partition_of("a", "bc"));
}

TEST(PartitionTest, SpreadsConsecutiveIds) {
  std::array<int, partition_count_min> counts{};
  for (int i = 0; i < 100 * static_cast<int>(partition_count_min); ++i) {
    ++counts[partition_of("game.Player", std::to_string(i))];
  }
  // With mean 100 and deviation 10, a random spread stays within five deviations.
  EXPECT_GT(std::ranges::min(counts), 50);
  EXPECT_LT(std::ranges::max(counts), 150);
}

}  // namespace
}  // namespace corolane::framework
