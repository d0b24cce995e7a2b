// SPDX-License-Identifier: MIT
#include "coroutine/stack/stack_pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <barrier>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "coroutine/testing/matchers.h"
#include "coroutine/testing/sanitizers.h"

namespace corolane::coroutine {
namespace {

using namespace std::chrono_literals;
using test::fails_with;
using Guard = StackPool::Guard;

constexpr std::size_t kibibyte = 1024;
const std::size_t guard_size_bytes = StackPool::guard_size_bytes();

class StackPoolTest : public testing::TestWithParam<Guard> {
 protected:
  void SetUp() override {
    if (StackPool().statistics().guard == Guard::mprotect && GetParam() == Guard::madvise) {
      GTEST_SKIP() << "this kernel has no MADV_GUARD_INSTALL";
    }
  }

  StackPool::Options options() const { return {.guard = GetParam()}; }
  // A pool of a few stacks, all of them available to ordinary tasks.
  StackPool::Options options(std::size_t stack_count_max) const {
    return {.stack_count_max = stack_count_max, .control_count = 0, .guard = GetParam()};
  }
};

using StackPoolDeathTest = StackPoolTest;

std::vector<Stack> acquire_all(StackPool& pool, std::size_t count, std::size_t size_bytes) {
  std::vector<Stack> stacks;
  for (std::size_t number = 0; number < count; ++number) {
    auto stack = pool.acquire(size_bytes);
    if (!stack) break;
    stacks.push_back(*stack);
  }
  return stacks;
}

void release_all(StackPool& pool, const std::vector<Stack>& stacks) {
  for (const Stack& stack : stacks) pool.release(stack);
}

std::size_t size_of(const Stack& stack) { return static_cast<std::size_t>(stack.top - stack.base); }

TEST_P(StackPoolTest, UsesTheRequestedGuard) {
  EXPECT_EQ(StackPool(options()).statistics().guard, GetParam());
}

TEST_P(StackPoolTest, AStackIsAtLeastAsLargeAsRequestedAndFullyWritable) {
  StackPool pool(options());
  std::vector<Stack> stacks;
  for (const std::size_t size :
       {0uz, 1uz, 16 * kibibyte, 17 * kibibyte, 64 * kibibyte, 2048 * kibibyte}) {
    for (int neighbour = 0; neighbour < 3; ++neighbour) {
      auto stack = pool.acquire(size);
      ASSERT_TRUE(stack);
      EXPECT_GE(size_of(*stack), size);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(stack->top) % 64, 0u);
      *stack->base = std::byte{1};
      *(stack->top - 1) = std::byte{1};
      stacks.push_back(*stack);
    }
  }
  release_all(pool, stacks);
}

TEST_P(StackPoolTest, StacksInUseDoNotOverlap) {
  StackPool pool(options());
  auto stacks = acquire_all(pool, 200, 16 * kibibyte);
  const auto more = acquire_all(pool, 200, 32 * kibibyte);
  stacks.insert(stacks.end(), more.begin(), more.end());
  std::ranges::sort(stacks, {}, &Stack::base);
  for (std::size_t at = 1; at < stacks.size(); ++at) {
    EXPECT_LE(stacks[at - 1].top + guard_size_bytes, stacks[at].base);
  }
  release_all(pool, stacks);
}

TEST_P(StackPoolTest, TheStackReturnedLastIsHandedOutFirst) {
  StackPool pool(options());
  const auto stacks = acquire_all(pool, 3, 64 * kibibyte);
  release_all(pool, stacks);
  EXPECT_EQ(pool.acquire()->base, stacks[2].base);
  EXPECT_EQ(pool.acquire()->base, stacks[1].base);
  EXPECT_EQ(pool.acquire()->base, stacks[0].base);
  release_all(pool, stacks);
}

TEST_P(StackPoolTest, AStackIsReusedOnlyForItsSizeClass) {
  StackPool pool(options());
  const auto large = acquire_all(pool, 1, 128 * kibibyte);
  release_all(pool, large);
  auto usual = pool.acquire(64 * kibibyte);
  EXPECT_NE(usual->base, large[0].base);
  auto rounded_up = pool.acquire(65 * kibibyte);
  EXPECT_EQ(rounded_up->base, large[0].base);
  pool.release(*usual);
  pool.release(*rounded_up);
}

// The first-level cache selects a set by the 6 address bits above the line offset.
TEST_P(StackPoolTest, TopsOfNeighboursFallIntoDifferentCacheSets) {
  StackPool pool(options());
  const auto stacks = acquire_all(pool, 32, 64 * kibibyte);
  std::set<std::uintptr_t> sets;
  for (const Stack& stack : stacks) {
    sets.insert(reinterpret_cast<std::uintptr_t>(stack.top) / 64 % 64);
  }
  EXPECT_EQ(sets.size(), stacks.size());
  release_all(pool, stacks);
}

TEST_P(StackPoolTest, RefusesAtTheCapAndWorksAgainAfterARelease) {
  StackPool pool(options(3));
  auto stacks = acquire_all(pool, 3, 64 * kibibyte);
  ASSERT_EQ(stacks.size(), 3u);
  EXPECT_THAT(pool.acquire(), fails_with(Code::resource_exhausted));
  EXPECT_THAT(pool.acquire(16 * kibibyte), fails_with(Code::resource_exhausted));
  EXPECT_EQ(pool.statistics().refused_count, 2u);

  pool.release(stacks.back());
  auto again = pool.acquire();
  ASSERT_TRUE(again);
  EXPECT_EQ(again->base, stacks.back().base);
  EXPECT_THAT(pool.acquire(), fails_with(Code::resource_exhausted));
  release_all(pool, stacks);
}

TEST_P(StackPoolTest, ASizeAboveTheLargestIsAnInvalidArgument) {
  StackPool pool(options());
  EXPECT_THAT(pool.acquire(2048 * kibibyte + 1), fails_with(Code::invalid_argument));
  EXPECT_THAT(pool.acquire(SIZE_MAX), fails_with(Code::invalid_argument));
  EXPECT_EQ(pool.statistics().in_use_count, 0u);
}

TEST_P(StackPoolTest, AnIdleStackOfAnotherSizeMakesWayAtTheCap) {
  StackPool pool(options(20));
  for (int round = 0; round < 3; ++round) {
    for (const std::size_t size_bytes : {16 * kibibyte, 64 * kibibyte, 2048 * kibibyte}) {
      const auto stacks = acquire_all(pool, 30, size_bytes);
      ASSERT_EQ(stacks.size(), 20u);
      for (const Stack& stack : stacks) *stack.base = *(stack.top - 1) = std::byte{1};
      release_all(pool, stacks);
      const auto statistics = pool.statistics();
      EXPECT_EQ(statistics.idle_count + statistics.cold_count, 20u);
    }
  }
}

TEST_P(StackPoolTest, ControlWorkHasStacksLeftWhenOrdinaryWorkIsRefused) {
  StackPool pool({.stack_count_max = 1000, .guard = GetParam()});
  auto stacks = acquire_all(pool, 1000, 16 * kibibyte);
  EXPECT_EQ(stacks.size(), 1000u - 64);
  for (int number = 0; number < 64; ++number) {
    auto stack = pool.acquire(256 * kibibyte, StackPool::Purpose::control);
    ASSERT_TRUE(stack);
    stacks.push_back(*stack);
    EXPECT_THAT(pool.acquire(), fails_with(Code::resource_exhausted));
  }
  EXPECT_THAT(pool.acquire(16 * kibibyte, StackPool::Purpose::control),
              fails_with(Code::resource_exhausted));
  release_all(pool, stacks);
}

TEST_P(StackPoolTest, StacksReturnedByControlWorkAreNotForOrdinaryWork) {
  StackPool pool({.stack_count_max = 1000, .guard = GetParam()});
  const auto stacks = acquire_all(pool, 1000, 64 * kibibyte);
  const auto control = pool.acquire(64 * kibibyte, StackPool::Purpose::control);
  ASSERT_TRUE(control);
  pool.release(*control);
  EXPECT_THAT(pool.acquire(), fails_with(Code::resource_exhausted));
  const auto again = pool.acquire(64 * kibibyte, StackPool::Purpose::control);
  EXPECT_EQ(again->base, control->base);
  pool.release(*again);
  release_all(pool, stacks);
}

TEST_P(StackPoolTest, APoolOfAFewKeepsAtMostAnEighthForControlWork) {
  StackPool pool({.stack_count_max = 16, .guard = GetParam()});
  const auto stacks = acquire_all(pool, 16, 64 * kibibyte);
  EXPECT_EQ(stacks.size(), 14u);
  release_all(pool, stacks);
}

TEST_P(StackPoolTest, StatisticsCountEveryStackExactly) {
  StackPool pool(options(1000));
  const auto stacks = acquire_all(pool, 5, 64 * kibibyte);
  pool.release(stacks[4]);
  pool.release(stacks[3]);
  auto statistics = pool.statistics();
  EXPECT_EQ(statistics.in_use_count, 3u);
  EXPECT_EQ(statistics.idle_count, 2u);
  EXPECT_EQ(statistics.in_use_count_peak, 5u);
  EXPECT_EQ(statistics.demand_count, 5u);
  EXPECT_EQ(statistics.count_max, 1000u);
  EXPECT_EQ(statistics.hit_count, 0u);
  EXPECT_EQ(statistics.miss_count, 5u);
  EXPECT_EQ(statistics.trimmed_count, 0u);
  EXPECT_EQ(statistics.refused_count, 0u);
  EXPECT_GE(statistics.mapped_bytes, 5 * (64 * kibibyte + guard_size_bytes));
  EXPECT_GE(statistics.committed_bytes, 5 * 64 * kibibyte);
  EXPECT_LT(statistics.committed_bytes, statistics.mapped_bytes);

  EXPECT_TRUE(pool.acquire());
  const std::size_t mapped_bytes = statistics.mapped_bytes;
  statistics = pool.statistics();
  EXPECT_EQ(statistics.in_use_count, 4u);
  EXPECT_EQ(statistics.idle_count, 1u);
  EXPECT_EQ(statistics.in_use_count_peak, 5u);
  EXPECT_EQ(statistics.hit_count, 1u);
  EXPECT_EQ(statistics.miss_count, 5u);
  EXPECT_EQ(statistics.mapped_bytes, mapped_bytes);
  release_all(pool, {stacks.begin(), stacks.begin() + 4});
}

TEST_P(StackPoolTest, ThePeakCountsAllSizesAtTheSameTime) {
  StackPool pool(options());
  release_all(pool, acquire_all(pool, 10, 16 * kibibyte));
  auto stacks = acquire_all(pool, 4, 64 * kibibyte);
  EXPECT_EQ(pool.statistics().in_use_count_peak, 10u);
  const auto more = acquire_all(pool, 9, 16 * kibibyte);
  EXPECT_EQ(pool.statistics().in_use_count_peak, 13u);
  release_all(pool, stacks);
  release_all(pool, more);
}

TEST_P(StackPoolDeathTest, TheWholeGuardBelowAStackIsAFault) {
  StackPool pool(options());
  const auto stacks = acquire_all(pool, 2, 16 * kibibyte);
  for (const Stack& stack : stacks) {
    EXPECT_DEATH(*(stack.base - 1) = std::byte{1}, "");
    EXPECT_DEATH(*(stack.base - guard_size_bytes) = std::byte{1}, "");
  }
  release_all(pool, stacks);
}

TEST_P(StackPoolDeathTest, TheGuardOfATrimmedStackIsStillThere) {
  StackPool pool(
      {.guard = GetParam(), .idle_bytes_min = 0, .demand_window = 8s, .reserve_percent = 0});
  const auto stacks = acquire_all(pool, 20, 16 * kibibyte);
  release_all(pool, stacks);
  for (TimePoint time{}; time < TimePoint(10s); time += 10ms) pool.tend(time);
  ASSERT_EQ(pool.statistics().trimmed_count, 20u);
  const auto again = acquire_all(pool, 20, 16 * kibibyte);
  for (const Stack& stack : {again.front(), again.back()}) {
    EXPECT_DEATH(*(stack.base - 1) = std::byte{1}, "");
    EXPECT_DEATH(*(stack.base - guard_size_bytes) = std::byte{1}, "");
  }
  release_all(pool, again);
}

TEST_P(StackPoolDeathTest, APoolDestroyedBeforeItsStacksAborts) {
  const auto forget = [this] {
    StackPool pool(options());
    static_cast<void>(pool.acquire());
  };
  EXPECT_DEATH(forget(), "every stack was returned before its pool ends");
}

std::string name_of(const testing::TestParamInfo<Guard>& guard) {
  return guard.param == Guard::madvise ? "Madvise" : "Mprotect";
}
INSTANTIATE_TEST_SUITE_P(Guards, StackPoolTest, testing::Values(Guard::madvise, Guard::mprotect),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Guards, StackPoolDeathTest,
                         testing::Values(Guard::madvise, Guard::mprotect), name_of);

// The error of a pool that uses all of its share. The pool of the tests themselves may be one more.
std::string all_are_in_use(const StackPool::Statistics& statistics) {
  const std::size_t pool_count = statistics.shared_guards.member_count;
  const std::string pools =
      pool_count == 1 ? "" : " each of " + std::to_string(pool_count) + " pools";
  return "all " + std::to_string(statistics.count_max) +
         " coroutine stacks that vm.max_map_count allows" + pools + " are in use";
}

// Each guard splits a mapping in two, and the kernel allows 65,530 mappings by default.
TEST(StackPoolCapTest, MprotectGuardsAsManyStacksAsThePoolPromises) {
  if (test::under_thread_sanitizer) GTEST_SKIP() << "its shadow memory takes mappings as well";
  if (test::under_valgrind()) GTEST_SKIP() << "it gives up at a few thousand mappings";
  StackPool pool({.stack_count_max = SIZE_MAX, .control_count = 0, .guard = Guard::mprotect});
  const std::size_t count_max = pool.statistics().count_max;
  ASSERT_LT(count_max, SIZE_MAX);
  const auto stacks = acquire_all(pool, count_max, 16 * kibibyte);
  EXPECT_EQ(stacks.size(), count_max);
  const auto refused = pool.acquire();
  EXPECT_THAT(refused, fails_with(Code::resource_exhausted));
  EXPECT_EQ(refused.error().message(), all_are_in_use(pool.statistics()));
  release_all(pool, stacks);
}

TEST(StackPoolCapTest, FourPoolsAtOnceShareTheGuardsOfTheProcess) {
  if (test::under_thread_sanitizer) GTEST_SKIP() << "its shadow memory takes mappings as well";
  if (test::under_valgrind()) GTEST_SKIP() << "it gives up at a few thousand mappings";
  constexpr std::size_t pool_count = 4;
  // All exist before one of them grows, and none ends before all have grown.
  std::barrier begun(pool_count);
  std::array<std::size_t, pool_count> acquired_counts = {};
  std::array<StackPool::Statistics, pool_count> statistics;
  std::array<std::string, pool_count> refusals;
  std::vector<std::thread> threads;
  for (std::size_t number = 0; number < pool_count; ++number) {
    threads.emplace_back([&, number] {
      StackPool pool({.control_count = 0, .guard = Guard::mprotect});
      begun.arrive_and_wait();
      const auto stacks = acquire_all(pool, SIZE_MAX, 16 * kibibyte);
      begun.arrive_and_wait();
      acquired_counts[number] = stacks.size();
      statistics[number] = pool.statistics();
      refusals[number] = pool.acquire(16 * kibibyte).error().message();
      begun.arrive_and_wait();
      release_all(pool, stacks);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::size_t number = 0; number < pool_count; ++number) {
    const auto [count_max, taken_count, member_count] = statistics[number].shared_guards;
    const std::size_t share = statistics[number].count_max;
    EXPECT_EQ(acquired_counts[number], share);
    EXPECT_GE(member_count, pool_count);
    // One more where the number of pools does not divide them.
    EXPECT_GE(share, count_max / member_count);
    EXPECT_LE(share, count_max / member_count + 1);
    EXPECT_GE(taken_count, pool_count * (share - 1));
    EXPECT_LE(taken_count, count_max);
    EXPECT_EQ(refusals[number], all_are_in_use(statistics[number]));
  }
}

TEST(StackPoolCapTest, APoolGivesBackWhatItHoldsBeyondItsShareWhenAnotherOneIsMade) {
  if (test::under_thread_sanitizer) GTEST_SKIP() << "its shadow memory takes mappings as well";
  if (test::under_valgrind()) GTEST_SKIP() << "it gives up at a few thousand mappings";
  StackPool first({.control_count = 0, .guard = Guard::mprotect});
  auto stacks = acquire_all(first, SIZE_MAX, 16 * kibibyte);
  EXPECT_EQ(stacks.size(), first.statistics().count_max);
  StackPool second({.control_count = 0, .guard = Guard::mprotect});
  const std::size_t share = first.statistics().count_max;
  EXPECT_LT(share, stacks.size());
  // In use it stays; it is given back step by step after it was released.
  EXPECT_THAT(first.acquire(), fails_with(Code::resource_exhausted));
  release_all(first, stacks);
  for (TimePoint time{}; !first.tend(time).is_never(); time += 2ms) continue;
  EXPECT_EQ(first.statistics().idle_count + first.statistics().cold_count, share);
  const auto others = acquire_all(second, SIZE_MAX, 16 * kibibyte);
  EXPECT_EQ(others.size(), second.statistics().count_max);
  // The first has its share still, also in another size.
  stacks = acquire_all(first, SIZE_MAX, 32 * kibibyte);
  EXPECT_EQ(stacks.size(), share);
  release_all(first, stacks);
  release_all(second, others);
}

std::size_t mapping_count() {
  std::ifstream file("/proc/self/maps");
  std::size_t count = 0;
  for (std::string line; std::getline(file, line);) ++count;
  return count;
}

TEST(StackPoolCapTest, MadviseGuardsTwoHundredThousandStacksInAFewMappings) {
  if (test::under_slow_watch()) GTEST_SKIP() << "it takes a gigabyte without shadow memory";
  StackPool pool;
  if (pool.statistics().guard == Guard::mprotect) {
    GTEST_SKIP() << "this kernel has no MADV_GUARD_INSTALL";
  }
  const std::size_t mapping_count_before = mapping_count();
  const auto stacks = acquire_all(pool, 200'000, 16 * kibibyte);
  EXPECT_EQ(stacks.size(), 200'000u);
  EXPECT_LT(mapping_count(), mapping_count_before + 50);
  release_all(pool, stacks);
}

}  // namespace
}  // namespace corolane::coroutine
