// SPDX-License-Identifier: MIT
// Blocks that threads keep for the next object of a type.
#include "coroutine/base/thread_cache.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "coroutine/base/allocations.h"

namespace corolane {
namespace {

struct Parcel {
  std::size_t number = 0;
};

std::shared_ptr<Parcel> make_parcel(std::size_t number = 0) {
  return std::allocate_shared<Parcel>(ThreadCached<Parcel>(), number);
}

std::uint64_t allocations_of_a_parcel() {
  const auto before = allocations();
  static_cast<void>(make_parcel());
  return allocations().count - before.count;
}

class ThreadCacheTest : public testing::Test {
 protected:
  void SetUp() override {
    static_cast<void>(make_parcel());
    if (allocations().count == 0) GTEST_SKIP() << "operator new is not ours";
  }
};

TEST_F(ThreadCacheTest, TheNextObjectHasTheMemoryOfTheLast) {
  EXPECT_EQ(allocations_of_a_parcel(), 0u);
}

TEST_F(ThreadCacheTest, ManyObjectsAtOnceAreDistinct) {
  std::vector<std::shared_ptr<Parcel>> parcels;
  for (int round = 0; round < 3; ++round) {
    for (std::size_t i = 0; i < 1'000; ++i) parcels.push_back(make_parcel(i));
    for (std::size_t i = 0; i < 1'000; ++i) ASSERT_EQ(parcels[i]->number, i);
    parcels.clear();
  }
}

TEST_F(ThreadCacheTest, AThreadKeepsABoundedNumberOfBlocks) {
  std::vector<std::shared_ptr<Parcel>> parcels(10'000);
  for (auto& parcel : parcels) parcel = make_parcel();
  parcels.clear();
  const auto before = allocations();
  for (std::size_t i = 0; i < 10'000; ++i) parcels.push_back(make_parcel());
  EXPECT_GT(allocations().count - before.count, 9'000u);
}

TEST_F(ThreadCacheTest, ABlockStaysOnTheThreadThatReleasesIt) {
  auto parcel = make_parcel();
  std::uint64_t there = 1;
  std::thread([&] {
    parcel.reset();
    there = allocations_of_a_parcel();
  }).join();
  EXPECT_EQ(there, 0u);
}

TEST_F(ThreadCacheTest, ObjectsMayBeReleasedWhenTheirThreadHasDestroyedItsList) {
  struct Last {
    std::shared_ptr<Parcel> parcel;
    ~Last() {
      parcel.reset();
      parcel = make_parcel(17);
      EXPECT_EQ(parcel->number, 17u);
    }
  };
  std::thread([] {
    // Begins before the list, so it ends after it.
    static thread_local Last last;
    last.parcel = make_parcel();
  }).join();
}

}  // namespace
}  // namespace corolane
