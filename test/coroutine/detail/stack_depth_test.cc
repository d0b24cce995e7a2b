// Blanks and looks at memory that stands for a stack.
#include "coroutine/detail/stack_depth.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

namespace corolane::coroutine::detail {
namespace {

const auto page = static_cast<std::size_t>(getpagesize());

class StackDepthTest : public testing::Test {
 protected:
  StackDepthTest() {
    void* const memory =
        mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(memory, MAP_FAILED);
    base = static_cast<std::byte*>(memory);
    used = base + size - 512;
    for (std::byte* byte = base; byte < base + size; ++byte) *byte = std::byte{0xA5};
    EXPECT_TRUE(blank_stack(base, used));
  }
  ~StackDepthTest() override { munmap(base, size); }

  const std::size_t size = 100 * page;  // More than is asked of the kernel at once.
  std::byte* base = nullptr;
  std::byte* used = nullptr;
};

TEST_F(StackDepthTest, WhatIsInUseIsLeftAsItIs) {
  EXPECT_EQ(*used, std::byte{0xA5});
  EXPECT_EQ(base[size - 1], std::byte{0xA5});
}

TEST_F(StackDepthTest, InTheTopPageTheLowestWordThatWasWrittenIsFound) {
  used[-8] = std::byte{1};
  EXPECT_EQ(lowest_use(base, used), used - 8);
  used[-800] = std::byte{1};
  EXPECT_EQ(lowest_use(base, used), used - 800);
}

TEST_F(StackDepthTest, BelowItTheLowestWordOfTheLowestPageIsFound) {
  std::byte* const deep = base + 70 * page + 1024;
  *deep = std::byte{1};
  deep[page] = std::byte{1};
  EXPECT_EQ(lowest_use(base, used), deep);
}

TEST_F(StackDepthTest, TheLastWordIsFound) {
  *base = std::byte{1};
  EXPECT_EQ(lowest_use(base, used), base);
}

TEST_F(StackDepthTest, APageThatWasOnlyTouchedCountsAsUsed) {
  *static_cast<volatile std::byte*>(base + 3 * page + 100) = std::byte{0};
  EXPECT_EQ(lowest_use(base, used), base + 3 * page);
}

}  // namespace
}  // namespace corolane::coroutine::detail
