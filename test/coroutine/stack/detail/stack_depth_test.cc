// SPDX-License-Identifier: MIT
// Blanks and examines memory in the role of a stack.
#include "coroutine/stack/detail/stack_depth.h"

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
        mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(memory, MAP_FAILED);
    base_ = static_cast<std::byte*>(memory);
    used_ = base_ + size_ - 512;
    for (std::byte* byte = base_; byte < base_ + size_; ++byte) *byte = std::byte{0xA5};
    EXPECT_TRUE(blank_stack(base_, used_));
  }
  ~StackDepthTest() override { munmap(base_, size_); }

  const std::size_t size_ = 100 * page;  // More than one query to the kernel covers.
  std::byte* base_ = nullptr;
  std::byte* used_ = nullptr;
};

TEST_F(StackDepthTest, TheUsedPartIsUnchanged) {
  EXPECT_EQ(*used_, std::byte{0xA5});
  EXPECT_EQ(base_[size_ - 1], std::byte{0xA5});
}

TEST_F(StackDepthTest, TheLowestWrittenWordOfTheTopPageIsFound) {
  used_[-8] = std::byte{1};
  EXPECT_EQ(lowest_use(base_, used_), used_ - 8);
  used_[-800] = std::byte{1};
  EXPECT_EQ(lowest_use(base_, used_), used_ - 800);
}

TEST_F(StackDepthTest, TheLowestWordOfTheLowestPageIsFound) {
  std::byte* const deep = base_ + 70 * page + 1024;
  *deep = std::byte{1};
  deep[page] = std::byte{1};
  EXPECT_EQ(lowest_use(base_, used_), deep);
}

TEST_F(StackDepthTest, TheLastWordIsFound) {
  *base_ = std::byte{1};
  EXPECT_EQ(lowest_use(base_, used_), base_);
}

TEST_F(StackDepthTest, APageThatWasOnlyTouchedCountsAsUsed) {
  *static_cast<volatile std::byte*>(base_ + 3 * page + 100) = std::byte{0};
  EXPECT_EQ(lowest_use(base_, used_), base_ + 3 * page);
}

}  // namespace
}  // namespace corolane::coroutine::detail
