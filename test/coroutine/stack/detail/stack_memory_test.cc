// SPDX-License-Identifier: MIT
#include "coroutine/stack/detail/stack_memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>
#include <tuple>
#include <vector>

#include "coroutine/stack/detail/sanitizer.h"
#include "coroutine/testing/matchers.h"

namespace corolane::coroutine::detail {
namespace {

using test::fails_with;

bool kernel_has_guard_install() {
  return StackMemory(StackGuard::automatic).guard() == StackGuard::madvise;
}

bool is_resident(const std::byte* page) {
  unsigned char resident = 0;
  const auto address = reinterpret_cast<std::uintptr_t>(page) & ~(system_page_size_bytes - 1);
  EXPECT_EQ(mincore(reinterpret_cast<void*>(address), system_page_size_bytes, &resident), 0);
  return (resident & 1) != 0;
}

// Some slots of 32 KiB in their own mapping, for a guard and a page size.
class StackMemoryTest : public testing::TestWithParam<std::tuple<StackGuard, std::size_t>> {
 protected:
  StackGuard guard() const { return std::get<StackGuard>(GetParam()); }

  void SetUp() override {
    if (slot_.page_size_bytes < system_page_size_bytes) {
      GTEST_SKIP() << "this system has larger pages";
    }
    if (guard() == StackGuard::madvise && !kernel_has_guard_install()) {
      GTEST_SKIP() << "this kernel has no MADV_GUARD_INSTALL";
    }
    auto begin = memory_.reserve(slot_.size_bytes() * tops_.size());
    ASSERT_TRUE(begin);
    begin_ = *begin;
    for (std::size_t number = 0; number < tops_.size(); ++number) {
      tops_[number] =
          begin_ + (number + 1) * slot_.size_bytes() - number * StackSlot::colour_step_bytes;
    }
  }
  void TearDown() override {
    if (begin_ != nullptr) StackMemory::give_up({begin_, slot_.size_bytes() * tops_.size()});
  }

  StackMemory memory_{guard()};
  StackSlot slot_{.stack_size_bytes = 32 * 1024,
                  .page_size_bytes = std::get<std::size_t>(GetParam())};
  std::byte* begin_ = nullptr;
  std::array<std::byte*, 32> tops_{};
};

using StackMemoryDeathTest = StackMemoryTest;

TEST_P(StackMemoryTest, TheTopAloneDeterminesTheSlot) {
  for (std::size_t number = 0; number < tops_.size(); ++number) {
    std::byte* const begin = begin_ + number * slot_.size_bytes();
    EXPECT_EQ(slot_.begin(tops_[number]), begin);
    EXPECT_EQ(slot_.base(tops_[number]), begin + slot_.guard_size_bytes());
    EXPECT_EQ(StackSlot::end(tops_[number]), begin + slot_.size_bytes());
    EXPECT_GE(tops_[number] - slot_.base(tops_[number]), 32 * 1024);
  }
}

TEST_P(StackMemoryTest, AnExistingGuardMayBeInstalledAgain) {
  EXPECT_TRUE(memory_.install_guards(tops_, slot_));
  EXPECT_TRUE(memory_.install_guards(tops_, slot_));
}

TEST_P(StackMemoryTest, WithoutAGuardTheSlotIsPlainMemoryAgain) {
  if (guard() == StackGuard::madvise) GTEST_SKIP() << "its guards stay: they cost nothing";
  ASSERT_TRUE(memory_.install_guards(tops_, slot_));
  for (std::byte* top : tops_) {
    memory_.remove_guard(top, slot_);
    *slot_.begin(top) = std::byte{1};
  }
}

TEST_P(StackMemoryTest, OnlyTheTopPageIsFetchedAhead) {
  ASSERT_TRUE(memory_.install_guards(tops_, slot_));
  if (!memory_.populate(tops_, slot_)) GTEST_SKIP() << "this kernel has no batches";
  for (std::byte* top : tops_) {
    EXPECT_TRUE(is_resident(top - 1));
    EXPECT_FALSE(is_resident(top - 1 - slot_.page_size_bytes));
    EXPECT_EQ(*(top - 1), std::byte{0});
  }
}

TEST_P(StackMemoryTest, ASingleStackIsNotFetchedAhead) {
  EXPECT_FALSE(memory_.populate(StackTops(tops_).first(1), slot_));
  EXPECT_FALSE(memory_.populate({}, slot_));
  EXPECT_FALSE(is_resident(tops_[0] - 1));
}

TEST_P(StackMemoryTest, DiscardedStacksHoldNothing) {
  ASSERT_TRUE(memory_.install_guards(tops_, slot_));
  for (std::byte* top : tops_) std::fill(slot_.base(top), top, std::byte{1});
  // More than one batch holds.
  std::vector<std::byte*> discarded(tops_.begin() + 1, tops_.end());
  for (int round = 0; round < 3; ++round) {
    discarded.insert(discarded.end(), tops_.begin() + 1, tops_.end());
  }
  ASSERT_GT(discarded.size(), StackMemory::batch_size_max);
  memory_.discard(discarded, slot_);
  for (std::byte* top : StackTops(tops_).subspan(1)) {
    for (std::byte* page = slot_.base(top); page < top; page += system_page_size_bytes) {
      EXPECT_FALSE(is_resident(page));
    }
    EXPECT_EQ(std::count(slot_.base(top), top, std::byte{0}), top - slot_.base(top));
  }
  EXPECT_EQ(std::count(slot_.base(tops_[0]), tops_[0], std::byte{1}),
            tops_[0] - slot_.base(tops_[0]));
}

TEST_P(StackMemoryDeathTest, GuardsSurviveADiscard) {
  ASSERT_TRUE(memory_.install_guards(tops_, slot_));
  memory_.discard(tops_, slot_);
  for (std::byte* top : {tops_.front(), tops_.back()}) {
    EXPECT_DEATH(*slot_.begin(top) = std::byte{1}, "");
    EXPECT_DEATH(*(slot_.base(top) - 1) = std::byte{1}, "");
    *slot_.base(top) = std::byte{1};
  }
}

std::string name_of(const testing::TestParamInfo<std::tuple<StackGuard, std::size_t>>& parameters) {
  const auto [guard, page_size_bytes] = parameters.param;
  return (guard == StackGuard::madvise ? "MadviseWithPagesOf" : "MprotectWithPagesOf") +
         std::to_string(page_size_bytes);
}
const auto guards = testing::Combine(testing::Values(StackGuard::madvise, StackGuard::mprotect),
                                     testing::Values<std::size_t>(4 * 1024, 16 * 1024, 64 * 1024));
INSTANTIATE_TEST_SUITE_P(Guards, StackMemoryTest, guards, name_of);
INSTANTIATE_TEST_SUITE_P(Guards, StackMemoryDeathTest, guards, name_of);

TEST(StackSlotTest, AGuardAndAStackAreWholePagesOfEverySize) {
  for (const std::size_t page : {4096u, 16384u, 65536u}) {
    for (std::size_t size = 16 * 1024; size <= 2 * 1024 * 1024; size *= 2) {
      const StackSlot slot{.stack_size_bytes = size, .page_size_bytes = page};
      EXPECT_EQ(slot.guard_size_bytes() % page, 0u) << page;
      EXPECT_EQ(slot.body_size_bytes() % page, 0u) << page << " " << size;
      EXPECT_GE(slot.guard_size_bytes(), StackSlot::guard_size_bytes_min);
      EXPECT_GE(slot.body_size_bytes(), size + StackSlot::colour_room_bytes);
      // Not more than it takes.
      EXPECT_LT(slot.size_bytes(),
                StackSlot::guard_size_bytes_min + size + StackSlot::colour_room_bytes + 2 * page);
    }
  }
}

TEST(StackMemoryLimitTest, TooMuchAddressSpaceIsRefused) {
  const StackMemory memory(StackGuard::automatic);
  EXPECT_THAT(memory.reserve(std::size_t{1} << 62), fails_with(Code::resource_exhausted));
}

#if defined(COROLANE_ASAN)
TEST(StackMemoryLimitTest, ReleasedMemoryKeepsNoPoisonOfFrames) {
  constexpr std::size_t size_bytes = 1024 * 1024;
  const StackMemory memory(StackGuard::automatic);
  auto begin = memory.reserve(size_bytes);
  ASSERT_TRUE(begin) << begin;
  __asan_poison_memory_region(*begin + size_bytes / 2, 64);
  StackMemory::give_up({*begin, size_bytes});
  EXPECT_EQ(__asan_address_is_poisoned(*begin + size_bytes / 2), 0);
}
#endif

TEST(StackMemoryLimitTest, TwoMappingsPerGuardStayBelowTheLimitOfTheProcess) {
  std::ifstream file("/proc/sys/vm/max_map_count");
  std::size_t mapping_count_max = 0;
  ASSERT_TRUE(file >> mapping_count_max);
  const std::size_t count_max = StackMemory(StackGuard::mprotect).guard_count_max();
  EXPECT_LT(count_max, mapping_count_max / 2);
  EXPECT_GT(count_max, mapping_count_max / 4);
}

TEST(StackMemoryLimitTest, GuardsThatSplitNoMappingAreNotLimited) {
  if (!kernel_has_guard_install()) GTEST_SKIP() << "this kernel has no MADV_GUARD_INSTALL";
  EXPECT_EQ(StackMemory(StackGuard::madvise).guard_count_max(), SIZE_MAX);
}

}  // namespace
}  // namespace corolane::coroutine::detail
