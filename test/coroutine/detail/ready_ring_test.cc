// SPDX-License-Identifier: MIT
#include "coroutine/detail/ready_ring.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <vector>

namespace corolane::coroutine::detail {
namespace {

using testing::ElementsAre;

TEST(ReadyRingTest, ShowsItsEntriesWithoutRemovingThem) {
  std::array<int, 3> owners{};
  ReadyRing ring;
  for (int& owner : owners) ring.push(&owner, nullptr);
  ring.pop();

  std::vector<const void*> seen;
  ring.for_each([&](const ReadyRing::Entry& entry) { seen.push_back(entry.owner); });
  EXPECT_THAT(seen, ElementsAre(&owners[1], &owners[2]));
  EXPECT_EQ(ring.size(), 2u);
}

TEST(ReadyRingTest, ShowsItsEntriesInOrderWhenTheyWrapAround) {
  std::vector<int> owners(1500);
  ReadyRing ring;
  for (std::size_t i = 0; i < 1000; ++i) ring.push(&owners[i], nullptr);
  for (std::size_t i = 0; i < 900; ++i) ring.pop();
  for (std::size_t i = 1000; i < 1500; ++i) ring.push(&owners[i], nullptr);

  std::size_t next = 900;
  ring.for_each([&](const ReadyRing::Entry& entry) { EXPECT_EQ(entry.owner, &owners[next++]); });
  EXPECT_EQ(next, 1500u);
}

TEST(ReadyRingTest, KeepsTheOrderAfterItHasShrunk) {
  std::vector<int> owners(100'000);
  ReadyRing ring;
  for (int round = 0; round < 3; ++round) {
    ring.reserve(owners.size());
    for (int& owner : owners) ring.push(&owner, nullptr);
    for (int& owner : owners) EXPECT_EQ(ring.pop().owner, &owner);
    ring.fit(10);
    for (std::size_t i = 0; i < 1000; ++i) ring.push(&owners[i], nullptr);
    for (std::size_t i = 0; i < 1000; ++i) EXPECT_EQ(ring.pop().owner, &owners[i]);
    ring.fit(10);
  }
}

TEST(ReadyRingTest, KeepsItsEntriesWhenItShrinks) {
  std::vector<int> owners(5'000);
  ReadyRing ring;
  ring.reserve(100'000);
  for (std::size_t i = 0; i < 3'000; ++i) ring.push(&owners[i], nullptr);
  for (std::size_t i = 0; i < 2'500; ++i) ring.pop();
  for (std::size_t i = 3'000; i < 5'000; ++i) ring.push(&owners[i], nullptr);
  ring.fit(2'500);
  for (std::size_t i = 2'500; i < 5'000; ++i) ASSERT_EQ(ring.pop().owner, &owners[i]);
  EXPECT_TRUE(ring.empty());
}

TEST(ReadyRingDeathTest, AFitThatWouldLoseEntriesIsRefused) {
  std::array<int, 3> owners{};
  ReadyRing ring;
  for (int& owner : owners) ring.push(&owner, nullptr);
  EXPECT_DEATH(ring.fit(2), "a ready ring keeps what it holds");
}

}  // namespace
}  // namespace corolane::coroutine::detail
