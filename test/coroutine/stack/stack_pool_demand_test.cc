// SPDX-License-Identifier: MIT
// How the stack pool follows demand: which stacks stay warm, and when memory is given back.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "coroutine/scheduler.h"
#include "coroutine/stack/stack_pool.h"
#include "coroutine/sync/event.h"
#include "coroutine/task.h"
#include "coroutine/task_group.h"
#include "coroutine/testing/random.h"
#include "coroutine/testing/sanitizers.h"
#include "coroutine/virtual_time.h"

namespace corolane::coroutine {
namespace {

using namespace std::chrono_literals;
using Guard = StackPool::Guard;

constexpr std::size_t kibibyte = 1024;

// A load that comes and goes, and a loop that calls tend() whenever it is due.
class Load {
 public:
  explicit Load(const StackPool::Options& options) : pool(options) {}
  ~Load() { set(0); }
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;

  // Keeps `count` stacks in use from now on. The oldest are returned first.
  void set(std::size_t count) {
    while (in_use.size() > count) {
      pool.release(in_use.front());
      in_use.pop_front();
    }
    while (in_use.size() < count) {
      auto stack = pool.acquire();
      ASSERT_TRUE(stack);
      *(stack->top - 1) = std::byte{1};
      in_use.push_back(*stack);
    }
  }
  void pass(Duration delay) {
    const TimePoint end = time + delay;
    for (;;) {
      const Deadline next = pool.tend(time);
      if (next > Deadline::at(end)) break;
      EXPECT_GT(next, Deadline::at(time));
      time = next.time();
      ++tend_count;
    }
    time = end;
  }
  std::size_t idle_count() const { return pool.statistics().idle_count; }

  StackPool pool;
  TimePoint time{100h};
  std::deque<Stack> in_use;
  int tend_count = 0;
};

constexpr std::size_t floor_count = 64;  // 4 MiB of stacks of 64 KiB.

class StackPoolSwingTest : public testing::TestWithParam<std::size_t> {};

TEST_P(StackPoolSwingTest, ASwingingLoadIsServedWarmAfterItsFirstPeriod) {
  for (const Duration period : {10ms, 300ms, 1000ms, 4000ms}) {
    Load load({});
    for (int number = 0; number < 50; ++number) {
      const auto before = load.pool.statistics();
      load.set(1000);
      load.pass(period / 2);
      load.set(GetParam());
      load.pass(period / 2);
      const auto after = load.pool.statistics();
      if (number == 0) continue;
      EXPECT_EQ(after.miss_count, before.miss_count);
      EXPECT_EQ(after.hit_count, before.hit_count + 1000 - GetParam());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Upwards, StackPoolSwingTest, testing::Values(0, 100, 400, 500));

TEST(StackPoolDemandTest, TasksOneAtATimeAreServedByOneStack) {
  for (const std::size_t size_bytes : {16 * kibibyte, 64 * kibibyte, 2048 * kibibyte}) {
    StackPool pool;
    TimePoint time{100h};
    for (int number = 0; number < 1000; ++number) {
      auto stack = pool.acquire(size_bytes);
      ASSERT_TRUE(stack);
      pool.release(*stack);
      pool.tend(time += 1s);
    }
    EXPECT_EQ(pool.statistics().miss_count, 1u);
    EXPECT_EQ(pool.statistics().hit_count, 999u);
  }
}

TEST(StackPoolDemandTest, AReleaseGivesNoMemoryBackHoweverLateItIs) {
  Load load({});
  load.set(1000);
  load.pass(1h);
  load.set(0);
  EXPECT_EQ(load.idle_count(), 1000u);
  EXPECT_EQ(load.pool.statistics().trimmed_count, 0u);
}

TEST(StackPoolDemandTest, ABurstIsRememberedInFullForHalfTheWindowAndFades) {
  Load load({});
  for (int round = 0; round < 2; ++round) {
    load.set(1000);
    load.set(0);
    load.pass(5s);
    EXPECT_EQ(load.idle_count(), 1000u);
    load.pass(1500ms);
    EXPECT_EQ(load.idle_count(), 550u);  // Half, plus the reserve.
    load.pass(8500ms);
    EXPECT_EQ(load.idle_count(), floor_count);
  }
}

std::size_t resident_bytes(const Stack& stack) {
  const auto end = (reinterpret_cast<std::uintptr_t>(stack.top) + 4095) & ~std::uintptr_t{4095};
  const std::size_t size_bytes = end - reinterpret_cast<std::uintptr_t>(stack.base);
  std::vector<unsigned char> pages(size_bytes / 4096);
  EXPECT_EQ(mincore(stack.base, size_bytes, pages.data()), 0);
  return 4096 * static_cast<std::size_t>(
                    std::ranges::count_if(pages, [](unsigned char page) { return page & 1; }));
}

TEST(StackPoolDemandTest, FifteenSecondsAfterABurstOnlyTheFloorIsResident) {
  Load load({});
  load.set(10'000);
  const std::vector<Stack> stacks(load.in_use.begin(), load.in_use.end());
  const auto resident = [&] {
    std::size_t sum = 0;
    for (const Stack& stack : stacks) sum += resident_bytes(stack);
    return sum;
  };
  EXPECT_EQ(resident(), 10'000u * 4096);
  load.set(0);
  load.pass(15s);
  EXPECT_EQ(load.idle_count(), floor_count);
  EXPECT_LE(resident(), floor_count * 4096 * 11 / 10);
}

TEST(StackPoolDemandTest, TheColdestGoFirst) {
  Load load({});
  load.set(500);
  const std::vector<Stack> stacks(load.in_use.begin(), load.in_use.end());
  load.set(0);
  load.pass(15s);
  ASSERT_EQ(load.idle_count(), floor_count);
  for (std::size_t number = 0; number < stacks.size(); ++number) {
    EXPECT_EQ(resident_bytes(stacks[number]) > 0, number >= stacks.size() - floor_count);
  }
}

TEST(StackPoolDemandTest, MemoryGoesBackInSmallStepsWithAPauseBetween) {
  Load load({.trim_count_max = 10, .trim_interval = 5ms});
  load.set(1000);
  load.set(0);
  int step_count = 0;
  for (Deadline next = Deadline::at(load.time); !next.is_never(); load.time = next.time()) {
    const std::size_t idle_count = load.idle_count();
    next = load.pool.tend(load.time);
    EXPECT_LE(idle_count - load.idle_count(), 10u);
    EXPECT_GE(next, Deadline::at(load.time + 5ms));
    if (load.idle_count() < idle_count) ++step_count;
  }
  EXPECT_EQ(load.idle_count(), floor_count);
  EXPECT_GE(step_count, 90);
}

TEST(StackPoolDemandTest, ATrimmedStackThatIsHandedOutAgainIsAMiss) {
  Load load({.idle_bytes_min = 0});
  load.set(100);
  load.set(0);
  load.pass(15s);
  EXPECT_EQ(load.pool.statistics().trimmed_count, 100u);
  EXPECT_EQ(load.pool.statistics().idle_count, 0u);
  EXPECT_GE(load.pool.statistics().cold_count, 100u);
  const std::size_t mapped_bytes = load.pool.statistics().mapped_bytes;
  load.set(100);
  EXPECT_EQ(load.pool.statistics().miss_count, 200u);
  EXPECT_EQ(load.pool.statistics().hit_count, 0u);
  EXPECT_EQ(load.pool.statistics().mapped_bytes, mapped_bytes);
}

TEST(StackPoolDemandTest, TheReserveServesAPeakThatIsALittleHigher) {
  const auto misses = [](std::size_t reserve_percent) {
    Load load({.reserve_percent = reserve_percent});
    load.set(1000);
    load.set(0);
    for (int second = 0; second < 60; ++second) {
      load.pass(1s);
      load.set(920);
      load.set(0);
    }
    load.set(1000);
    return load.pool.statistics().miss_count - 1000;
  };
  EXPECT_EQ(misses(10), 0u);
  EXPECT_EQ(misses(0), 80u);
}

TEST(StackPoolDemandTest, StacksInUseCountAsDemandForEver) {
  Load load({.idle_bytes_min = 0});
  load.set(1000);
  load.pass(1h);
  load.set(990);
  load.pass(1h);
  EXPECT_EQ(load.idle_count(), 10u);  // Within the reserve.
  load.set(0);
  load.pass(1h);
  EXPECT_EQ(load.idle_count(), 0u);
}

TEST(StackPoolDemandTest, ComesToRestUntilTheNextBurst) {
  Load load({});
  for (int round = 1; round <= 3; ++round) {
    load.set(1000);
    load.set(0);
    load.pass(1h);
    EXPECT_EQ(load.idle_count(), floor_count);
    EXPECT_EQ(load.pool.tend(load.time), Deadline::never());
    // A step for each bucket of the window, and one for each 64 stacks.
    EXPECT_LE(load.tend_count, round * (8 + 5 + (1000 + 63) / 64));
  }
}

TEST(StackPoolDemandTest, APoolThatWasNotUsedIsAtRest) {
  StackPool pool;
  EXPECT_EQ(pool.tend(TimePoint(100h)), Deadline::never());
  const auto stack = pool.acquire();
  ASSERT_TRUE(stack);
  EXPECT_EQ(pool.tend(TimePoint(100h)), Deadline::never());
  pool.release(*stack);
  EXPECT_EQ(pool.tend(TimePoint(100h)), Deadline::never());
}

// Counts an EventSource's waits during the upkeep.
struct CountingTime : VirtualTime {
  bool wait(Deadline deadline) override {
    ++wait_count;
    return VirtualTime::wait(deadline);
  }
  int wait_count = 0;
};

TEST(StackPoolUpkeepTest, TheLoopGivesMemoryBackWhileItIsIdleAndThenSleeps) {
  CountingTime time;
  Scheduler scheduler(time);
  const auto ran = scheduler.run("main", [&] {
    {
      TaskGroup burst;
      for (int number = 0; number < 1000; ++number) ASSERT_TRUE(burst.spawn("burst", [] {}));
      ASSERT_TRUE(burst.join(Deadline::never()));
    }
    const TimePoint start = now();
    EXPECT_GE(scheduler.stacks().statistics().idle_count, 1000u);
    EXPECT_TRUE(sleep_for(15s));
    EXPECT_EQ(now() - start, 15s);
    EXPECT_LE(scheduler.stacks().statistics().idle_count, 2 * floor_count);
    const int wait_count = time.wait_count;
    EXPECT_TRUE(sleep_for(1ms));
    EXPECT_LE(time.wait_count, wait_count + 3);
  });
  EXPECT_TRUE(ran);
}

TEST(StackPoolUpkeepTest, TheLoopGivesNothingBackWhileThereIsWork) {
  VirtualTime time;
  Scheduler scheduler(time, {.stacks = {.idle_bytes_min = 0, .demand_window = 8ns}});
  const auto ran = scheduler.run("main", [&] {
    {
      TaskGroup burst;
      for (int number = 0; number < 100; ++number) ASSERT_TRUE(burst.spawn("burst", [] {}));
      ASSERT_TRUE(burst.join(Deadline::never()));
    }
    for (int turn = 0; turn < 10'000; ++turn) EXPECT_TRUE(yield());
    EXPECT_EQ(scheduler.stacks().statistics().trimmed_count, 0u);
    EXPECT_TRUE(sleep_for(1s));
    EXPECT_EQ(scheduler.stacks().statistics().trimmed_count, 100u);
  });
  EXPECT_TRUE(ran);
}

TEST(StackPoolUpkeepDeathTest, ADeadlockIsFoundOnceThePoolIsAtRest) {
  const auto deadlock = [] {
    VirtualTime time;
    Scheduler scheduler(time);
    static_cast<void>(scheduler.run("main", [] {
      {
        TaskGroup burst;
        for (int number = 0; number < 1000; ++number) {
          static_cast<void>(burst.spawn("burst", [] {}));
        }
        static_cast<void>(burst.join(Deadline::never()));
      }
      Event holiday("a holiday");
      static_cast<void>(holiday.wait(Deadline::never()));
    }));
  };
  EXPECT_DEATH(deadlock(), "deadlock");
}

// Compares the pool with a model that knows the stacks in use, the order in which the others were
// returned, and their contents: a hit is the one returned last with its contents, a miss is zero.
class StackPoolModelTest : public testing::TestWithParam<Guard> {
 protected:
  struct InUse {
    Stack stack;
    std::uint64_t number;
  };

  static std::uint64_t& mark(const Stack& stack) {
    return *reinterpret_cast<std::uint64_t*>(stack.top - 64);
  }

  void acquire() {
    const std::size_t size_class = random_.below(3);
    const bool control = random_.one_in(8);
    const auto before = pool_.statistics();
    const auto stack =
        pool_.acquire((16 * kibibyte) << (2 * size_class),
                      control ? StackPool::Purpose::control : StackPool::Purpose::ordinary);
    ASSERT_EQ(stack.has_value(), in_use_.size() < (control ? count_max : count_max - 64));
    if (!stack) return;
    const auto after = pool_.statistics();
    auto& returned = returned_[size_class];
    if (after.hit_count > before.hit_count) {
      ASSERT_FALSE(returned.empty());
      ASSERT_EQ(stack->base, returned.back().stack.base);
      ASSERT_EQ(mark(*stack), returned.back().number);
      returned.pop_back();
    } else {
      ASSERT_EQ(after.miss_count, before.miss_count + 1);
      ASSERT_EQ(mark(*stack), 0u);
      returned.clear();
    }
    *(stack->base + random_.below(16 * kibibyte)) = std::byte{0xff};
    mark(*stack) = ++last_number_;
    in_use_.push_back({*stack, last_number_});
  }
  void release() {
    if (in_use_.empty()) return;
    std::swap(in_use_[random_.below(in_use_.size())], in_use_.back());
    const InUse returned = in_use_.back();
    in_use_.pop_back();
    ASSERT_EQ(mark(returned.stack), returned.number);
    returned_[returned.stack.size_class / 2].push_back(returned);
    pool_.release(returned.stack);
  }
  void tend() {
    const auto before = pool_.statistics();
    time_ += random_.up_to(300ms);
    const Deadline next = pool_.tend(time_);
    EXPECT_GT(next, Deadline::at(time_));
    const auto after = pool_.statistics();
    ASSERT_LE(after.trimmed_count, before.trimmed_count + 16);
    ASSERT_EQ(after.idle_count + after.trimmed_count, before.idle_count + before.trimmed_count);
    ASSERT_EQ(after.in_use_count, in_use_.size());
    ASSERT_LE(after.in_use_count + after.idle_count + after.cold_count, count_max);
  }

  static constexpr std::size_t count_max = 1000;

  test::Random random_;
  StackPool pool_{{.stack_count_max = count_max,
                   .guard = GetParam(),
                   .idle_bytes_min = 128 * kibibyte,
                   .trim_count_max = 16}};
  TimePoint time_{100h};
  std::vector<InUse> in_use_;
  std::array<std::vector<InUse>, 3> returned_;
  std::uint64_t last_number_ = 0;
};

TEST_P(StackPoolModelTest, AHitIsWarmMemoryAndAMissIsNot) {
  if (StackPool().statistics().guard == Guard::mprotect && GetParam() == Guard::madvise) {
    GTEST_SKIP() << "this kernel has no MADV_GUARD_INSTALL";
  }
  const int step_count = test::under_slow_watch() ? 100'000 : 1'000'000;
  bool grows = true;
  for (int step = 0; step < step_count && !HasFatalFailure(); ++step) {
    if (random_.one_in(1000)) grows = !grows;
    if (random_.one_in(50)) {
      tend();
    } else if (random_.below(3) < (grows ? 2 : 1)) {
      acquire();
    } else {
      release();
    }
  }
  const auto statistics = pool_.statistics();
  EXPECT_GT(statistics.hit_count, statistics.miss_count);
  EXPECT_GT(statistics.trimmed_count, 0u);
  EXPECT_GT(statistics.refused_count, 0u);
  for (const InUse& used : in_use_) pool_.release(used.stack);
}

INSTANTIATE_TEST_SUITE_P(Guards, StackPoolModelTest,
                         testing::Values(Guard::madvise, Guard::mprotect),
                         [](const testing::TestParamInfo<Guard>& guard) -> std::string {
                           return guard.param == Guard::madvise ? "Madvise" : "Mprotect";
                         });

}  // namespace
}  // namespace corolane::coroutine
