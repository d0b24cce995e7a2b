// SPDX-License-Identifier: MIT
#include "coroutine/detail/spawn_sites.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <source_location>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "coroutine/scheduler.h"
#include "coroutine/task.h"
#include "coroutine/task_group.h"
#include "coroutine/testing/sanitizers.h"
#include "coroutine/virtual_time.h"

namespace corolane::coroutine {
namespace {

using namespace std::chrono_literals;

SpawnSite site_of(const Scheduler& scheduler, std::string_view task_name) {
  for (SpawnSite& site : scheduler.sites()) {
    if (site.task_name == task_name) return std::move(site);
  }
  ADD_FAILURE() << "no site for " << task_name;
  return {};
}

// Runs `main` in a scheduler of its own, which knows only its own sites.
void run(const std::function<void(Scheduler&)>& main, Scheduler::Options options = {}) {
  VirtualTime time;
  Scheduler scheduler(time, std::move(options));
  EXPECT_TRUE(scheduler.run("main", [&] { main(scheduler); }));
}

TEST(SpawnSitesTest, EachSpawnSiteHasARow) {
  run([](Scheduler& scheduler) {
    auto task = spawn("row", [] {});
    const auto line = std::source_location::current().line() - 1;
    EXPECT_EQ(site_of(scheduler, "row").place.line(), line);
    EXPECT_EQ(site_of(scheduler, "row").spawned_count, 1u);
  });
}

TEST(SpawnSitesTest, TasksCountAsAliveUntilTheyEnd) {
  run([](Scheduler& scheduler) {
    TaskGroup group;
    for (int i = 1; i <= 3; ++i)
      EXPECT_TRUE(group.spawn("alive", [i] { return sleep_for(i * 1s); }));
    EXPECT_EQ(site_of(scheduler, "alive").alive_count, 3u);
    EXPECT_TRUE(sleep_for(1500ms));
    EXPECT_EQ(site_of(scheduler, "alive").spawned_count, 3u);
    EXPECT_EQ(site_of(scheduler, "alive").alive_count, 2u);
    EXPECT_TRUE(group.join(Deadline::never()));
    EXPECT_EQ(site_of(scheduler, "alive").alive_count, 0u);
  });
}

TEST(SpawnSitesTest, AlternatingPlacesHaveSeparateRows) {
  run([](Scheduler& scheduler) {
    for (int i = 0; i < 10; ++i) {
      EXPECT_TRUE(spawn("one", [] {}).join(Deadline::never()));
      EXPECT_TRUE(spawn("other", [] {}).join(Deadline::never()));
    }
    EXPECT_EQ(site_of(scheduler, "one").spawned_count, 10u);
    EXPECT_EQ(site_of(scheduler, "other").spawned_count, 10u);
  });
}

// Every instance is a separate place.
template <int which>
std::source_location place() {
  return std::source_location::current();
}

template <int... which>
std::vector<std::source_location> places(std::integer_sequence<int, which...>) {
  return {place<which>()...};
}

// Touches the lowest byte and one in each page above it.
[[gnu::noinline]] void use_stack(std::size_t size_bytes) {
  auto* const frame = static_cast<volatile char*>(__builtin_alloca(size_bytes));
  for (std::size_t i = 0; i < size_bytes; i += 1024) frame[i] = 'x';
}

std::size_t measured_use(std::size_t size_bytes) {
  VirtualTime time;
  Scheduler scheduler(time);
  EXPECT_TRUE(scheduler.run("main", [&] {
    EXPECT_TRUE(spawn("deep", [=] { use_stack(size_bytes); }).join(Deadline::never()));
  }));
  const SpawnSite site = site_of(scheduler, "deep");
  EXPECT_EQ(site.measured_count, 1u);
  EXPECT_LE(site.stack_used_bytes_max, site.stack_size_bytes);
  return site.stack_used_bytes_max;
}

TEST(SpawnSitesTest, TheDeepestUseIsMeasured) {
  const std::size_t small = measured_use(1);
  EXPECT_GT(small, 0u);
  for (const std::size_t size_bytes : {2'000u, 10'000u, 20'000u, 40'000u}) {
    const std::size_t large = measured_use(size_bytes);
    EXPECT_GE(large, size_bytes);
    // The frame is aligned in addition, and a sanitizer puts red zones around it.
    if (!test::under_sanitizer) {
      EXPECT_LE(large, size_bytes + small + 64);
    }
  }
}

TEST(SpawnSitesTest, TheReportedStackSizeIsThatOfItsClass) {
  run([](Scheduler& scheduler) {
    EXPECT_TRUE(spawn("large", [] {}, {.stack_size_bytes = 200'000}).join(Deadline::never()));
    EXPECT_GE(site_of(scheduler, "large").stack_size_bytes, 256u * 1024);
    EXPECT_EQ(site_of(scheduler, "large").stack_size_bytes % (256 * 1024), 0u);
  });
}

TEST(SpawnSitesTest, TheFirstTaskAndThenOnePerIntervalIsMeasured) {
  VirtualTime time;
  Scheduler scheduler(time, {.stack_sample_interval = 10});
  std::vector<std::uint64_t> measured;
  EXPECT_TRUE(scheduler.run("main", [&] {
    for (int i = 0; i < 21; ++i) {
      EXPECT_TRUE(spawn("sampled", [] {}).join(Deadline::never()));
      measured.push_back(site_of(scheduler, "sampled").measured_count);
    }
  }));
  EXPECT_EQ(measured.front(), 1u);
  EXPECT_EQ(measured[9], 1u);
  EXPECT_EQ(measured[10], 2u);
  EXPECT_EQ(measured.back(), 3u);
}

TEST(SpawnSitesTest, OnlyCountsAreKeptWhenMeasuringIsSwitchedOff) {
  VirtualTime time;
  Scheduler scheduler(time, {.stack_sample_interval = 0});
  EXPECT_TRUE(scheduler.run("main", [&] {
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(spawn("counted", [] {}).join(Deadline::never()));
  }));
  EXPECT_EQ(site_of(scheduler, "counted").spawned_count, 3u);
  EXPECT_EQ(site_of(scheduler, "counted").measured_count, 0u);
  EXPECT_EQ(site_of(scheduler, "counted").stack_used_bytes_max, 0u);
}

// Measuring blanks the unused stack, which must not affect the task.
TEST(SpawnSitesTest, AMeasuredTaskIsATaskLikeOthers) {
  VirtualTime time;
  Scheduler scheduler(time, {.stack_sample_interval = 1});
  EXPECT_TRUE(scheduler.run("main", [&] {
    TaskGroup group;
    for (int i = 0; i < 100; ++i) {
      EXPECT_TRUE(group.spawn("one of many", [text = std::to_string(i), i] {
        use_stack(static_cast<std::size_t>(i) * 100 + 1);
        EXPECT_TRUE(sleep_for(i * 1ms));
        EXPECT_EQ(text, std::to_string(i));
      }));
    }
    EXPECT_TRUE(group.join(Deadline::never()));
  }));
  EXPECT_EQ(site_of(scheduler, "one of many").measured_count, 100u);
}

TEST(SpawnSitesTest, PlacesBeyondTheLimitShareTheLastRow) {
  VirtualTime time;
  Scheduler scheduler(time);
  EXPECT_TRUE(scheduler.run("main", [] {
    for (const auto& site : places(std::make_integer_sequence<int, 1'200>())) {
      EXPECT_TRUE(spawn("many", [] {}, {}, site).join(Deadline::never()));
    }
  }));
  const auto sites = scheduler.sites();
  ASSERT_EQ(sites.size(), 1'000u);
  EXPECT_EQ(sites.back().place.line(), 0u);
  std::uint64_t spawned_count = 0;
  for (const SpawnSite& site : sites) spawned_count += site.spawned_count;
  EXPECT_EQ(spawned_count, 1'201u);
}

}  // namespace
}  // namespace corolane::coroutine
