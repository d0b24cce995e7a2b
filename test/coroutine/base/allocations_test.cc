// SPDX-License-Identifier: MIT
// Counts of a thread's allocations.
#include "coroutine/base/allocations.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>

namespace corolane {
namespace {

// Keeps the compiler from optimising unused memory away.
std::unique_ptr<char[]> allocate(std::size_t size_bytes) {
  auto memory = std::make_unique<char[]>(size_bytes);
  asm volatile("" : : "r"(memory.get()) : "memory");
  return memory;
}

class AllocationsTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto before = allocations();
    static_cast<void>(allocate(1));
    if (allocations().count == before.count) GTEST_SKIP() << "operator new is not ours";
  }
};

TEST_F(AllocationsTest, CountsEachAndItsBytes) {
  const auto before = allocations();
  const auto one = allocate(1000);
  const auto other = allocate(24);
  const auto after = allocations();
  EXPECT_EQ(after.count - before.count, 2u);
  EXPECT_EQ(after.bytes - before.bytes, 1024u);
}

TEST_F(AllocationsTest, EachThreadHasItsOwn) {
  std::uint64_t there = 0;
  const auto before = allocations();
  std::thread thread([&] {
    const auto begin = allocations();
    for (int i = 0; i < 10; ++i) static_cast<void>(allocate(100));
    there = allocations().count - begin.count;
  });
  thread.join();
  EXPECT_EQ(there, 10u);
  // The thread object itself allocates.
  EXPECT_LT(allocations().count - before.count, 10u);
}

}  // namespace
}  // namespace corolane
